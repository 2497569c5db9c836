import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/run';
import type { RunReader } from '../../client/reading/run-reader';
import { codeOf } from '../../contract/errors';
import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';

/** A client that hears of no update in time, whatever became of it. */
async function impatientClient(taskQueue: string, meanwhile: (send: () => Promise<unknown>) => Promise<unknown>): Promise<HoldfastClient> {
  const client = await connect({ server: testServer(), taskQueue });
  const { reader } = client as unknown as { readonly reader: RunReader };
  reader.withDeadline = async (_, send) => {
    await meanwhile(send);
    throw new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded');
  };
  return client;
}

describe('an answer of which nothing was heard in time', () => {
  let bed: TestBed;
  let temporal: Temporal;
  beforeAll(async () => {
    temporal = await openTemporal();
    const refund = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
    const [once, twice] = [script(refund, text('Done.')), script(refund, refund, text('Done.'))];
    bed = await startTestBed((request) => (textOf(request.messages[0] as Message) === 'twice' ? twice : once)(request));
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const waiting = async (input = 'once'): Promise<{ readonly run: Run; readonly id: string }> => {
    const run = await bed.client.start('guarded', input);
    await run.outcome();
    return { run, id: (await run.interrupts())[0]?.id ?? '' };
  };
  const code = (answering: Promise<void>): Promise<unknown> => answering.then(() => 'was taken', codeOf);

  it('was taken when the run took it, also when the run has ended since', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(bed.taskQueue, async (send) => {
      await send();
      await run.result();
    });
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('was taken when the run has gone on as new since', async () => {
    const { run, id } = await waiting('twice');
    const client = await impatientClient(bed.taskQueue, async (send) => {
      await send();
      await run.outcome();
      const before = await temporal.executionOf(run.id);
      await temporal.handle(run.id).signal(names.continueAsNewSignal);
      await temporal.untilAnotherExecution(run.id, before);
    });
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
  });

  it('was not taken when somebody else was quicker', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(bed.taskQueue, () => run.reject(id));
    expect(await code(client.run(run.id).approve(id))).toBe('interrupt-answered');
    await client.close();
  });

  it('was not taken when the run accepted it, and another answer made its question void', async () => {
    const away = await startTestBed(script(text('Done.')));
    const run = await away.client.start('chooses', 'Go.');
    await eventually(async () => expect(await run.interrupts()).toHaveLength(2));
    const [left, right] = (await run.interrupts()).map(({ id }) => id);
    await away.worker.shutdown();
    await temporal.handle(run.id).signal(names.resumeSignal, { interruptId: left, answer: 'yes' });
    let again: TestBed | undefined;
    const client = await impatientClient(away.taskQueue, async (send) => {
      const sent = send().catch(() => undefined);
      again = await startTestBed(script(text('Done.')), { taskQueue: away.taskQueue });
      await sent;
    });
    expect(await code(client.run(run.id).resume(right ?? '', 'yes'))).toBe('interrupt-withdrawn');
    await Promise.all([client.close(), away.client.close(), again?.close()]);
  });

  it('is left for the run when nobody took it', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(bed.taskQueue, async () => undefined);
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });
});
