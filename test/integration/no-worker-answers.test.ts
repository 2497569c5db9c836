import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { oddTools } from '../fixtures/odd-tools';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { calls, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const options = { tools: oddTools };

describe('while no worker runs', () => {
  let temporal: Temporal;
  let client: HoldfastClient;
  let taskQueue: string;
  const runs: Run[] = [];
  beforeAll(async () => {
    temporal = await openTemporal();
    const bed = await startTestBed(refundThenDone, options);
    taskQueue = bed.taskQueue;
    client = await connect({ server: testServer(), taskQueue });
    for (let count = 0; count < 5; count++) runs.push(await client.start('signed', `run ${count}`));
    for (const run of runs) await run.outcome({ timeout: '30s' });
    await bed.close();
  });
  afterAll(async () => {
    await client.close();
    await temporal.close();
  });

  const code = (refused: Promise<unknown>): Promise<unknown> =>
    refused.then(
      () => 'was taken',
      (error: unknown) => codeOf(error) ?? error,
    );
  const waiting = async (position: number): Promise<{ run: Run; interrupt: Interrupt }> => {
    const run = runs[position] as Run;
    return { run, interrupt: (await run.interrupts())[0] as Interrupt };
  };

  it('an answer is refused at once when it is for other arguments, of somebody who is not asked, or of another shape', async () => {
    const { run, interrupt } = await waiting(0);
    const began = Date.now();
    expect(await code(run.approve(interrupt.id, { by: 'ada', inputHash: 'stale' }))).toBe('answer-stale');
    expect(await code(run.approve(interrupt.id, { by: 'eve' }))).toBe('answer-forbidden');
    expect(await code(run.reject(interrupt.id))).toBe('answer-forbidden');
    expect(await code(run.resume(interrupt.id, 'yes', { by: 'ada' }))).toBe('answer-invalid');
    expect(Date.now() - began).toBeLessThan(4000);
    const { history } = await temporal.connection.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: `default/${run.id}` },
    });
    expect(history?.events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(false);
  });

  it('an answer is refused when one waits already, and the first one counts when a worker comes', async () => {
    const { run, interrupt } = await waiting(1);
    await run.approve(interrupt.id, { by: 'ada' });
    expect(await run.interrupts()).toEqual([]);
    expect(await code(run.reject(interrupt.id, 'no', { by: 'bob' }))).toBe('interrupt-answered');
    const bed = await startTestBed(refundThenDone, { ...options, taskQueue });
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
    await bed.close();
    const events = [];
    for await (const event of run.events({ deltas: false })) events.push(event);
    expect(events.filter(({ type }) => type === 'interrupt-end')).toMatchObject([{ by: 'ada' }]);
  });

  it('an answer is taken although a signal waits that answers nothing', async () => {
    const { run, interrupt } = await waiting(2);
    const handle = temporal.handle(run.id);
    await handle.signal(names.resumeSignal, { interruptId: interrupt.id, answer: { type: 'approve' }, by: 'eve' });
    await handle.signal(names.resumeSignal, 'garbage');
    await handle.signal(names.resumeSignal);
    expect((await run.interrupts()).map(({ id }) => id)).toEqual([interrupt.id]);
    expect(await code(run.approve(interrupt.id, { by: 'bob' }))).toBe('was taken');
    expect(await code(run.approve(interrupt.id, { by: 'bob' }))).toBe('interrupt-answered');
  });

  /** Takes a workflow task as a worker does that is never heard of again. */
  const takeTask = async (): Promise<string> => {
    const { connection } = temporal;
    const task = await connection.withDeadline(Date.now() + 30_000, () =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: taskQueue },
        identity: 'dies',
        deploymentOptions: {
          deploymentName: taskQueue,
          buildId: fixtureBundle().buildId,
          workerVersioningMode: temporalProtocol.api.enums.v1.WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED,
        },
      }),
    );
    return task.workflowExecution?.workflowId ?? '';
  };

  it('an answer and a cancel are seen by everybody once they were taken, also while a task is with a worker that dies', async () => {
    const [answered, cancelled] = [await waiting(3), await waiting(4)];
    const lost = new Set([answered, cancelled].map(({ run }) => `default/${run.id}`));
    // What comes while a task is with a worker stands in no history until the task is done, or its time is up.
    for (const { run } of [answered, cancelled]) await temporal.handle(run.id).signal(names.resumeSignal);
    while (lost.size > 0) lost.delete(await takeTask());
    await Promise.all([
      answered.run
        .approve(answered.interrupt.id, { by: 'ada' })
        .then(async () => expect((await answered.run.view()).status).toBe('running')),
      cancelled.run.cancel().then(async () => expect((await cancelled.run.view()).status).toBe('running')),
    ]);
  });
});

it('an answer that comes in two ways counts once and leaves no trace of the second, also over a continue-as-new', async () => {
  const both = calls({ name: 'refund', input: { orderId: '42', amount: 80 } }, { name: 'refund', input: { orderId: '43', amount: 90 } });
  const bed = await startTestBed(script(both, text('Done.')), options);
  const temporal = await openTemporal();
  const run = await bed.client.start('signed', 'hello');
  const outcome = await run.outcome({ timeout: '30s' });
  if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
  const [first, second] = outcome.interrupts as [Interrupt, Interrupt];
  const answer = { interruptId: first.id, answer: { type: 'approve' }, by: 'ada' };
  await temporal.handle(run.id).executeUpdate(names.resumeUpdate, { args: [{ ...answer, delivery: 'one' }] });
  await temporal.handle(run.id).signal(names.resumeSignal, { ...answer, delivery: 'one' });
  const execution = await temporal.executionOf(run.id);
  await temporal.handle(run.id).signal(names.continueAsNewSignal);
  await temporal.untilAnotherExecution(run.id, execution);
  await temporal.handle(run.id).signal(names.resumeSignal, { ...answer, delivery: 'one' });
  await temporal.handle(run.id).signal(names.resumeSignal, { ...answer, delivery: 'another' });
  await run.approve(second.id, { by: 'ada' });
  expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
  const events = [];
  for await (const event of run.events({ deltas: false })) events.push(event);
  expect(events.filter(({ type }) => type === 'resume-ignored')).toHaveLength(1);
  await temporal.close();
  await bed.close();
});
