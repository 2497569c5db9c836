import type { Connection } from '@temporalio/client';
import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { fixtureTools } from '../fixtures/tools';
import { logOf } from '../support/server-logs';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import { calls, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const options = { tools: fixtureTools };

interface Left {
  readonly taskQueue: string;
  readonly asked: readonly { readonly run: Run; readonly interrupt: Interrupt }[];
}

let temporal: Temporal;
let client: HoldfastClient;
beforeAll(async () => {
  [temporal, client] = await Promise.all([openTemporal(), connect({ server: testServer() })]);
});
afterAll(async () => {
  await client.close();
  await temporal.close();
});

async function left(agent: 'signed' | 'staged', count = 1): Promise<Left> {
  const bed = await startTestBed(refundThenDone, options);
  const { taskQueue } = bed;
  const asked = await Promise.all(
    Array.from({ length: count }, async (_, position) => {
      const run = client.run((await bed.client.start(agent, `run ${position}`, { by: 'ada' })).id);
      const outcome = await run.outcome();
      if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
      return { run, interrupt: outcome.interrupts[0] as Interrupt };
    }),
  );
  await bed.close();
  return { taskQueue, asked };
}
const leftOne = async (agent: 'signed' | 'staged'): Promise<Left & Left['asked'][number]> => {
  const all = await left(agent);
  return { ...all, ...(all.asked[0] as Left['asked'][number]) };
};

const code = (refused: Promise<unknown>): Promise<unknown> =>
  refused.then(
    () => 'was taken',
    (error: unknown) => codeOf(error) ?? error,
  );

// Together and on a separate queue, because each waits for a missing worker.

it.concurrent(
  'an answer is refused at once when it is for other arguments, of somebody who is not asked, or of another shape',
  async () => {
    const {
      run: { id },
      interrupt,
    } = await leftOne('signed');
    const own = await connect({ server: testServer() });
    const run = own.run(id);
    const { workflowService } = (own as unknown as { parts: { connection: { connection: Connection } } }).parts.connection.connection;
    const sent = [jest.spyOn(workflowService, 'updateWorkflowExecution'), jest.spyOn(workflowService, 'signalWorkflowExecution')];
    expect(await code(run.approve(interrupt.id, { by: 'ada', inputHash: 'stale' }))).toBe('answer-stale');
    expect(await code(run.approve(interrupt.id, { by: 'eve' }))).toBe('answer-forbidden');
    expect(await code(run.reject(interrupt.id))).toBe('answer-forbidden');
    expect(await code(run.resume(interrupt.id, 'yes', { by: 'ada' }))).toBe('answer-invalid');
    for (const one of sent) expect(one).not.toHaveBeenCalled();
    await own.close();
    const { history } = await temporal.connection.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: `default/${run.id}` },
    });
    expect(history?.events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(false);
  },
);

it.concurrent('an answer is refused when one waits already, and the first one counts when a worker comes', async () => {
  const { run, interrupt, taskQueue } = await leftOne('signed');
  await run.approve(interrupt.id, { by: 'ada' });
  expect(await run.interrupts()).toEqual([]);
  expect(await code(run.reject(interrupt.id, 'no', { by: 'bob' }))).toBe('interrupt-answered');
  const bed = await startTestBed(refundThenDone, { ...options, taskQueue });
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  await bed.close();
  expect((await logOf(run)).filter(({ type }) => type === 'interrupt-end')).toMatchObject([{ by: 'ada' }]);
});

it.concurrent('an answer is taken although a signal waits that answers nothing', async () => {
  const { run, interrupt } = await leftOne('signed');
  const handle = temporal.handle(run.id);
  await handle.signal(names.answerSignal, { interruptId: interrupt.id, answer: { type: 'approve' }, by: 'eve' });
  await handle.signal(names.answerSignal, 'garbage');
  await handle.signal(names.answerSignal);
  expect((await run.interrupts()).map(({ id }) => id)).toEqual([interrupt.id]);
  expect(await code(run.approve(interrupt.id, { by: 'bob' }))).toBe('was taken');
  expect(await code(run.approve(interrupt.id, { by: 'bob' }))).toBe('interrupt-answered');
});

it.concurrent('a question goes to others, and reminds, as if a worker had been there', async () => {
  const { run: staged, interrupt: first, taskQueue } = await leftOne('staged');
  const mona = { by: 'mona', roles: ['manager'] };
  await temporal
    .handle(staged.id)
    .signal(names.answerSignal, { interruptId: first.id, answer: { type: 'approve' }, at: Date.now(), ...mona });
  expect(await code(staged.approve(first.id, { by: 'ada' }))).toBe('answer-forbidden');
  await eventually(async () => expect(await code(staged.approve(first.id, mona))).toMatch(/was taken|interrupt-answered/));
  const bed = await startTestBed(refundThenDone, { ...options, taskQueue });
  await eventually(async () => expect((await staged.interrupts()).map(({ id }) => id)).not.toEqual([first.id]));
  await staged.outcome();
  const [second] = (await staged.interrupts()) as [Interrupt];
  expect(second).toMatchObject({ notBy: ['ada', 'mona'], policy: { stage: { number: 2 }, given: [{ by: 'mona' }] } });
  await staged.approve(second.id, { by: 'bob' });
  expect(await staged.outcome()).toMatchObject({ status: 'completed' });
  await bed.close();
  const types = (await logOf(staged)).map(({ type }) => type).filter((type) => /^(interrupt|resume)/.test(type));
  expect(types.filter((type) => type !== 'interrupt-remind')).toEqual([
    'interrupt-start',
    'resume-ignored',
    'interrupt-escalate',
    'interrupt-end',
    'interrupt-start',
    'interrupt-end',
  ]);
  expect(types.slice(0, types.indexOf('interrupt-escalate')).filter((type) => type === 'interrupt-remind')).toHaveLength(1);
});

/** Takes a workflow task as a worker does, then never responds. */
const takeTask = async (taskQueue: string): Promise<string> => {
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

it.concurrent(
  'an answer and a cancel are seen by everybody once they were taken, also while a task is with a worker that dies',
  async () => {
    const { taskQueue, asked } = await left('signed', 2);
    const [answered, cancelled] = asked as [Left['asked'][number], Left['asked'][number]];
    const lost = new Set([answered, cancelled].map(({ run }) => `default/${run.id}`));
    // Signals during a task enter the history only when the task ends or times out.
    for (const { run } of [answered, cancelled]) await temporal.handle(run.id).signal(names.answerSignal);
    while (lost.size > 0) lost.delete(await takeTask(taskQueue));
    await Promise.all([
      answered.run
        .approve(answered.interrupt.id, { by: 'ada' })
        .then(async () => expect((await answered.run.view()).status).toBe('running')),
      cancelled.run.cancel().then(async () => expect((await cancelled.run.view()).status).toBe('running')),
    ]);
  },
);
