import { Client, Connection } from '@temporalio/client';
import type { GenerateAnswer } from '../../activities/models/models';
import { connect } from '../../client/connect';
import type { StartOptions } from '../../client/connect';
import type { Outcome } from '../../client/reading/outcome';
import type { Run } from '../../client/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, Part } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { fixtureTools } from '../fixtures/tools';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, testServer, text } from '../support/test-bed';

type Calls = readonly { tool: string; input: Json }[];

/** The first message says what the model calls, all at once, or which garbage it answers. */
function answer(messages: readonly { role: string; parts: readonly Part[] }[]): GenerateAnswer {
  const [first] = messages;
  const said = textOf(first as Parameters<typeof textOf>[0]);
  if (said === 'null') return null as unknown as GenerateAnswer;
  if (said === 'no parts') return {} as GenerateAnswer;
  if (said === 'odd parts') return { parts: ['text'] } as unknown as GenerateAnswer;
  if (said === 'not json') return { parts: [{ type: 'text', text: 1n }] } as unknown as GenerateAnswer;
  if (said === 'large') return text('x'.repeat(1_500_000));
  if (said === 'twice' && messages.filter(({ role }) => role === 'tool').length > 0)
    return calls({ name: 'refund', input: { orderId: '43', amount: 81 } });
  if (messages.some(({ role }) => role === 'tool')) return text('Done.');
  if (!said.startsWith('[')) return said === 'refund' ? calls({ name: 'refund', input: { orderId: '42', amount: 80 } }) : text('Done.');
  return calls(...(JSON.parse(said) as Calls).map(({ tool, input }) => ({ name: tool, input })));
}

const refund = { tool: 'refund', input: { orderId: '42', amount: 80 } };
const done = { status: 'completed', text: 'Done.' };

describe('input that nobody should send', () => {
  let bed: TestBed;
  let hooked: TestBed;
  beforeAll(async () => {
    const options = { tools: fixtureTools, environment: {} };
    bed = await startTestBed(({ messages }) => answer(messages), options);
    hooked = await startTestBed(({ messages }) => answer(messages), {
      ...options,
    });
  });
  afterAll(async () => {
    await bed.close();
    await hooked.close();
  });

  const code = (refused: Promise<unknown>): Promise<unknown> =>
    refused.then(
      () => 'was taken',
      (error: unknown) => codeOf(error) ?? error,
    );
  const end = (run: Run): Promise<Outcome<unknown>> => run.outcome();
  const outcomeOf = async (agent: string, input: string, options?: StartOptions, at = bed): Promise<Outcome<unknown>> =>
    end(await at.client.start(agent, input, options));
  const waiting = async (agent: string, toolCalls: Calls, at = bed): Promise<{ run: Run; interrupts: readonly Interrupt[] }> => {
    const run = await at.client.start(agent, JSON.stringify(toolCalls));
    const outcome = await end(run);
    if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
    return { run, interrupts: outcome.interrupts };
  };
  const idOf = (interrupts: readonly Interrupt[], position = 0): string => interrupts[position]?.id ?? '';

  describe('at the start', () => {
    it.concurrent('fails a run of an unknown agent and names those that there are', async () => {
      expect(await outcomeOf('nobody', 'hello')).toMatchObject({
        status: 'failed',
        error: { code: 'agent-unknown', message: expect.stringContaining('guarded') },
      });
    });

    it.concurrent('fails a run with an unknown model', async () => {
      expect(await outcomeOf('plain', 'hello', { model: 'nope/model' })).toMatchObject({
        status: 'failed',
        error: { code: 'model-unknown' },
      });
    });

    it.concurrent('fails a run whose model has no key on the worker, and names the variable', async () => {
      expect(await outcomeOf('plain', 'hello', { model: 'openai/gpt-x' })).toMatchObject({
        status: 'failed',
        error: { code: 'model-key-missing', message: expect.stringContaining('OPENAI_API_KEY') },
      });
    });

    it.concurrent.each(['', ' ', '../up', 'a/b', '.hidden', 'x'.repeat(201), 'ümlaut', 'new\nline'])('refuses the id %j', async (id) => {
      expect(await code(bed.client.start('plain', 'hello', { id }))).toBe('run-id-invalid');
      expect(await code(Promise.resolve().then(() => bed.client.run(id).view()))).toBe('run-id-invalid');
    });

    it.concurrent('refuses 5 MB of input before anything starts', async () => {
      expect(await code(bed.client.start('plain', 'x'.repeat(5 * 1024 * 1024), { id: 'five-megabytes' }))).toBe('input-too-large');
      expect(await code(bed.client.run('five-megabytes').view())).toBe('run-unknown');
    });

    it.concurrent('refuses an id that is in use with another input or agent', async () => {
      const id = `in-use-${process.pid}`;
      await bed.client.start('plain', 'hello', { id });
      expect(await code(bed.client.start('plain', 'goodbye', { id }))).toBe('run-id-in-use');
      expect(await code(bed.client.start('short', 'hello', { id }))).toBe('run-id-in-use');
    });

    it.concurrent('gives the same run for the same id, agent and input, while it is open and after it has ended', async () => {
      const id = `same-${process.pid}`;
      const first = await bed.client.start('guarded', JSON.stringify([refund]), { id });
      const outcome = await end(first);
      const second = await bed.client.start('guarded', JSON.stringify([refund]), { id });
      expect([first.isNew, second.isNew]).toEqual([true, false]);
      expect(await second.view()).toMatchObject({ status: 'waiting' });
      await second.reject(outcome.status === 'waiting' ? idOf(outcome.interrupts) : '');
      expect(await end(second)).toMatchObject(done);
      const third = await bed.client.start('guarded', JSON.stringify([refund]), { id });
      expect(third.isNew).toBe(false);
      expect(await end(third)).toMatchObject(done);
    });

    it.concurrent('tells that there is no server', async () => {
      expect(await code(connect({ address: '127.0.0.1:9' }))).toBe('server-unreachable');
    });
  });

  describe('in an answer', () => {
    it.concurrent('refuses a second answer to the same interrupt', async () => {
      const { run, interrupts } = await waiting('guarded', [refund, refund]);
      await run.approve(idOf(interrupts));
      expect(await code(run.reject(idOf(interrupts)))).toBe('interrupt-answered');
      await run.reject(idOf(interrupts, 1));
      expect(await end(run)).toMatchObject(done);
      expect(JSON.stringify(await run.transcript())).toContain('"paid":80');
    });

    it.concurrent('refuses an answer of somebody who is not asked', async () => {
      const { run, interrupts } = await waiting('signed', [refund], hooked);
      expect(await code(run.approve(idOf(interrupts), { by: 'eve' }))).toBe('answer-forbidden');
      expect(await code(run.approve(idOf(interrupts)))).toBe('answer-forbidden');
      await run.approve(idOf(interrupts), { by: 'bob' });
      expect(await end(run)).toMatchObject(done);
    });

    it.concurrent('goes on when signals bring garbage', async () => {
      const { run, interrupts } = await waiting('guarded', [refund]);
      const connection = await Connection.connect({ address: testServer().address });
      const handle = new Client({ connection }).workflow.getHandle(`default/${run.id}`);
      for (const garbage of [
        null,
        undefined,
        5,
        'text',
        [],
        {},
        { interruptId: 5 },
        { interruptId: idOf(interrupts) },
        { interruptId: null, answer: 1n.toString() },
      ])
        await handle.signal('answer', garbage);
      await handle.signal('answer');
      await handle.signal('no such signal', 1);
      expect(await run.view()).toMatchObject({ status: expect.stringMatching(/waiting|running/) });
      await run.approve(idOf(interrupts));
      expect(await end(run)).toMatchObject(done);
      await connection.close();
    });

    it.concurrent('goes on when signals bring what nobody can read', async () => {
      const { run, interrupts } = await waiting('guarded', [refund]);
      const connection = await Connection.connect({ address: testServer().address });
      const plain = { encoding: Buffer.from('json/plain') };
      for (const [metadata, data] of [
        [plain, '{"interruptId":'],
        [plain, undefined],
        [plain, `{"interruptId":"${idOf(interrupts)}","answer":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
        [{ encoding: Buffer.from('json/unheard-of') }, '{}'],
        [{}, '{}'],
        [undefined, undefined],
      ] as const)
        for (const signalName of ['answer', 'continue-as-new', 'unknown'])
          await connection.workflowService.signalWorkflowExecution({
            namespace: 'default',
            workflowExecution: { workflowId: `default/${run.id}` },
            signalName,
            input: { payloads: [{ ...(metadata && { metadata }), ...(data && { data: Buffer.from(data) }) }] },
          });
      await run.approve(idOf(interrupts));
      expect(await end(run)).toMatchObject(done);
      await connection.close();
    });

    it.concurrent('goes on, and is read, when signals of 1.5 MB come in', async () => {
      const { run, interrupts } = await waiting('guarded', [refund]);
      const connection = await Connection.connect({ address: testServer().address });
      const handle = new Client({ connection }).workflow.getHandle(`default/${run.id}`);
      for (let count = 0; count < 6; count++) await handle.signal('answer', { interruptId: 'x'.repeat(1_500_000), answer: 1 });
      expect(await run.view()).toMatchObject({ interrupts: [{ id: idOf(interrupts) }] });
      await run.approve(idOf(interrupts));
      expect(await end(run)).toMatchObject(done);
      await connection.close();
    });
  });

  describe('from a tool', () => {
    it.concurrent('takes ten parallel calls with 400 KB of input each', async () => {
      const run = await hooked.client.start(
        'inflates',
        JSON.stringify(Array.from({ length: 10 }, () => ({ tool: 'length', input: { text: '' } }))),
      );
      expect(await end(run)).toMatchObject(done);
      expect((await run.transcript()).slice(2, -1).map(({ parts }) => parts[0])).toEqual(
        Array.from({ length: 10 }, (): unknown => expect.objectContaining({ output: 400_000 })),
      );
    });
  });

  describe('from a model', () => {
    it.concurrent.each(['null', 'no parts', 'odd parts', 'not json'])('fails the run when it is no message: %s', async (garbage) => {
      expect(await outcomeOf('plain', garbage)).toMatchObject({ status: 'failed', error: { code: 'model-response-invalid' } });
    });

    it.concurrent('fails the run when it is 1.5 MB', async () => {
      expect(await outcomeOf('plain', 'large')).toMatchObject({ status: 'failed', error: { code: 'model-response-too-large' } });
    });
  });

  describe('from a hook', () => {
    const hooks = [
      'beforeAgent',
      'beforeModelRewriteState',
      'afterModelRewriteState',
      'wrapModel',
      'wrapToolCall',
      'afterToolCalls',
      'afterAgent',
    ];

    it.concurrent.each(hooks)('fails the run and names the hook that threw: %s', async (hook) => {
      for (const how of ['error', 'string', 'null', 'object']) {
        const input = JSON.stringify([{ tool: 'echo', input: { text: 'x' } }]);
        expect(await outcomeOf('breaks', input, { values: { hook, how } }, hooked)).toMatchObject({
          status: 'failed',
          error: { code: 'hook-failed', message: expect.stringContaining(`${hook} of middleware "breaking"`) },
        });
      }
    });

    it.concurrent('fails the run when an interrupt shows too much', async () => {
      expect(await outcomeOf('asksMuch', 'hello', { values: { size: 600_000 } }, hooked)).toMatchObject({
        status: 'failed',
        error: { code: 'payload-too-large' },
      });
    });
  });
});
