import type { WorkflowHandle } from '@temporalio/client';
import type { GenerateAnswer } from '../../activities/models/language-model';
import type { StartOptions } from '../../client/runs/start-input';
import type { Outcome } from '../../client/reading/outcome';
import type { Part } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { sharedBed } from '../support/shared-bed';
import { calls, text } from '../support/test-bed';

/** The first message names the garbage. Default: a request for a refund. */
function answer(messages: readonly { role: string; parts: readonly Part[] }[]): GenerateAnswer {
  const [first] = messages;
  const said = textOf(first as Parameters<typeof textOf>[0]);
  if (said === 'null') return null as unknown as GenerateAnswer;
  if (said === 'no parts') return {} as GenerateAnswer;
  if (said === 'odd parts') return { parts: ['text'] } as unknown as GenerateAnswer;
  if (said === 'not json') return { parts: [{ type: 'text', text: 1n }] } as unknown as GenerateAnswer;
  if (said === 'large') return text('x'.repeat(1_500_000));
  return messages.some(({ role }) => role === 'tool') ? text('Done.') : calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
}

describe('input that nobody should send', () => {
  const bed = sharedBed({ environment: {} });
  const model = bed.scripted(({ messages }) => answer(messages));

  const outcomeOf = async (agent: string, input: string, options?: StartOptions): Promise<Outcome<unknown>> =>
    (await model.start(agent, input, options)).outcome();

  describe('to a run that waits for an answer', () => {
    const plain = { encoding: Buffer.from('json/plain') };
    const raw = async (
      { workflowId }: WorkflowHandle,
      signalName: string,
      metadata: Record<string, Buffer> | undefined,
      data?: string,
    ): Promise<void> => {
      const payload = { ...(metadata && { metadata }), ...(data && { data: Buffer.from(data) }) };
      const sent = { namespace: 'default', workflowExecution: { workflowId }, signalName, input: { payloads: [payload] } };
      await bed.temporal.connection.workflowService.signalWorkflowExecution(sent);
    };

    it.concurrent.each<[string, (handle: WorkflowHandle, id: string) => Promise<void>]>([
      [
        'bring garbage',
        async (handle, interruptId) => {
          const objects = [{ interruptId: 5 }, { interruptId }, { interruptId: null, answer: 1n.toString() }];
          for (const garbage of [null, undefined, 5, 'text', [], {}, ...objects]) await handle.signal('answer', garbage);
          await handle.signal('answer');
          await handle.signal('no such signal', 1);
        },
      ],
      [
        'bring what nobody can read',
        async (handle, id) => {
          for (const signalName of ['answer', 'continue-as-new', 'unknown']) {
            await raw(handle, signalName, plain, '{"interruptId":');
            await raw(handle, signalName, plain);
            await raw(handle, signalName, plain, `{"interruptId":"${id}","answer":${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
            await raw(handle, signalName, { encoding: Buffer.from('json/unheard-of') }, '{}');
            await raw(handle, signalName, {}, '{}');
            await raw(handle, signalName, undefined);
          }
        },
      ],
      [
        'bring 1.5 MB each',
        async (handle) => {
          for (let count = 0; count < 6; count++) await handle.signal('answer', { interruptId: 'x'.repeat(1_500_000), answer: 1 });
        },
      ],
    ])('takes nothing from it, and the run is read and goes on, when signals %s', async (_, send) => {
      const run = await model.start('guarded', 'Refund.');
      expect((await run.outcome()).status).toBe('waiting');
      const [{ id = '' } = {}] = await run.interrupts();
      await send(bed.temporal.handle(run.id), id);
      expect(await run.view()).toMatchObject({ status: expect.stringMatching(/waiting|running/), interrupts: [{ id }] });
      await run.approve(id);
      expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    });
  });

  it.concurrent.each(['null', 'no parts', 'odd parts', 'not json'])('of a model that is no message fails the run: %s', async (garbage) => {
    expect(await outcomeOf('plain', garbage)).toMatchObject({ status: 'failed', error: { code: 'model-response-invalid' } });
  });

  it.concurrent('of a model that is 1.5 MB fails the run', async () => {
    expect(await outcomeOf('plain', 'large')).toMatchObject({ status: 'failed', error: { code: 'model-response-too-large' } });
  });

  it.concurrent('of a hook whose interrupt shows too much fails the run', async () => {
    expect(await outcomeOf('asksMuch', 'hello', { values: { size: 600_000 } })).toMatchObject({
      status: 'failed',
      error: { code: 'payload-too-large' },
    });
  });
});
