import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Conversation } from '../../client/conversation';
import type { Run } from '../../client/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { StoredMessage } from '../../contract/messages/messages';
import { policy } from '../../middleware/index';
import { oddTools } from '../fixtures/odd-tools';
import { approvedIn, decideBatch, ofTwo, payingTool, randomBatch, resultsIn, wordsOf } from '../support/batches';
import type { Answerer } from '../support/test-bed';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import { calls, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const options = { tools: oddTools };

describe('while no worker runs', () => {
  let temporal: Temporal;
  let client: HoldfastClient;
  let taskQueue: string;
  const runs: Run[] = [];
  let staged: Run;
  beforeAll(async () => {
    temporal = await openTemporal();
    const bed = await startTestBed(refundThenDone, options);
    taskQueue = bed.taskQueue;
    client = await connect({ server: testServer(), taskQueue });
    for (let count = 0; count < 5; count++) runs.push(await client.start('signed', `run ${count}`));
    for (const run of runs) await run.outcome({ timeout: '30s' });
    staged = await client.start('staged', 'run in stages', { by: 'ada' });
    const outcome = await staged.outcome({ timeout: '30s' });
    await bed.close();
    if (outcome.status !== 'waiting') throw new Error(JSON.stringify(outcome));
    // Too early: the question goes to managers ten seconds after it was asked.
    const early = { interruptId: outcome.interrupts[0]?.id ?? '', answer: { type: 'approve' }, by: 'mona', roles: ['manager'] };
    await temporal.handle(staged.id).signal(names.resumeSignal, early);
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

  it('a question goes to others, and reminds, as if a worker had been there', async () => {
    const [first] = (await staged.interrupts()) as [Interrupt];
    const mona = { by: 'mona', roles: ['manager'] };
    expect(await code(staged.approve(first.id, { by: 'ada' }))).toBe('answer-forbidden');
    await eventually(async () => expect(await code(staged.approve(first.id, mona))).toMatch(/was taken|interrupt-answered/), 40_000);
    const bed = await startTestBed(refundThenDone, { ...options, taskQueue });
    await eventually(async () => expect((await staged.interrupts()).map(({ id }) => id)).not.toEqual([first.id]));
    await staged.outcome({ timeout: '30s' });
    const [second] = (await staged.interrupts()) as [Interrupt];
    expect(second).toMatchObject({ notBy: ['ada', 'mona'], policy: { stage: { number: 2 }, given: [{ by: 'mona' }] } });
    await staged.approve(second.id, { by: 'bob' });
    expect(await staged.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
    await bed.close();
    const events = [];
    for await (const event of staged.events({ deltas: false })) events.push(event);
    expect(events.filter(({ type }) => /^(interrupt|resume)/.test(type)).map(({ type }) => type)).toEqual([
      'interrupt-start',
      'resume-ignored',
      'interrupt-remind',
      'interrupt-escalate',
      'interrupt-end',
      'interrupt-start',
      'interrupt-end',
    ]);
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

describe('a policy of the configuration', () => {
  const of = (...users: readonly string[]): object =>
    policy({ name: 'refunds', tools: ['refund'], stages: users.map((user) => ({ by: { users: [user] } })) });
  const [one, two, three] = [of('ada'), of('ada', 'bob'), of('ada', 'bob', 'cleo')];

  it('is applied to runs that wait: at once where a worker runs, else when one comes, and once', async () => {
    const first = await startTestBed(refundThenDone, { ...options, policies: { refunds: one } });
    const { taskQueue, client } = first;
    const run = await client.start('configured', 'Refund', { tags: [taskQueue] });
    await run.outcome({ timeout: '30s' });
    const mine = { tag: taskQueue };
    const outcomes = async (policy: object, more: object = {}): Promise<readonly string[]> => {
      const page = await client.applyPolicy(policy, { ...mine, ...more });
      return page.outcomes.map(({ outcome, added }) => `${outcome} ${added.flatMap(({ by }) => by.users ?? []).join()}`);
    };
    await eventually(async () => expect(await outcomes(two, { dryRun: true })).toEqual(['asked bob']));
    expect(await run.interrupts()).toMatchObject([{ policy: { stage: { of: 1 } } }]);
    await first.worker.takeOver({ tools: oddTools, policies: { refunds: two } });
    expect(await outcomes(two, { by: 'olga' })).toEqual(['asked bob']);
    await eventually(async () => expect(await run.interrupts()).toMatchObject([{ by: ['ada'], policy: { stage: { of: 2 } } }]));
    expect(await outcomes(two)).toEqual(['unchanged ']);
    await first.worker.shutdown();
    expect(await outcomes(three)).toEqual(['left cleo']);
    const again = await startTestBed(refundThenDone, { ...options, taskQueue, policies: { refunds: three } });
    for (const by of ['ada', 'bob', 'cleo']) {
      await eventually(async () => expect(await run.interrupts()).toMatchObject([{ by: [by], policy: { stage: { of: 3 } } }]));
      await run.approve((await run.interrupts())[0]?.id ?? '', { by });
    }
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
    const ends: unknown[] = [];
    for await (const event of run.events({ deltas: false })) if (event.type === 'interrupt-end') ends.push([event.by ?? '', event.answer]);
    expect(ends).toMatchObject([
      ['olga', { type: 'apply-policy' }],
      ['', { type: 'apply-policy' }],
      ...['ada', 'bob', 'cleo'].map((by) => [by, { type: 'approve' }]),
    ]);
    await again.close();
    await client.close();
  });

  it('reminds and expires as if a worker had been there', async () => {
    const hurried = policy({ name: 'refunds', tools: ['refund'], stages: [{ by: { users: ['ada'] }, remind: ['1s'], expires: '4s' }] });
    const given = { ...options, policies: { refunds: hurried } };
    const first = await startTestBed(refundThenDone, given);
    const { taskQueue, client } = first;
    const run = await client.start('configured', 'Refund');
    await run.outcome({ timeout: '30s' });
    const [question] = (await run.interrupts()) as [Interrupt];
    await first.worker.shutdown();
    await eventually(
      async () => expect(codeOf(await run.approve(question.id, { by: 'eve' }).catch((error: unknown) => error))).toBe('interrupt-expired'),
      40_000,
    );
    const again = await startTestBed(refundThenDone, { ...given, taskQueue });
    expect(await run.result()).toBe('Done.');
    const events = [];
    for await (const event of run.events({ deltas: false })) if ('interruptId' in event) events.push(event);
    const { deadline = 0 } = question;
    expect(events).toMatchObject([
      { type: 'interrupt-remind', at: deadline - 3000 },
      { type: 'interrupt-end', reason: 'deadline', policy: { name: 'refunds' } },
    ]);
    expect(JSON.stringify(await run.transcript())).toContain('Nobody decided in time.');
    await again.close();
    await client.close();
  });

  it('that the worker does not have fails the run at its start', async () => {
    const bed = await startTestBed(refundThenDone, {
      ...options,
      policies: { refund: policy({ name: 'refund', tools: ['refund'], stages: [{}] }) },
    });
    const run = await bed.client.start('configured', 'Refund');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'failed', error: { code: 'policy-unknown' } });
    await bed.close();
  });
});

it('a batch with mixed decisions runs exactly the approved calls, and gives one result for each', async () => {
  const seeds = Array.from({ length: 4 }, (_, position) => `${Math.floor(Math.random() * 1e9)}/${position}`);
  const paid: string[] = [];
  const answer: Answerer = ({ messages }) => {
    const seed = textOf(messages.find(({ role }) => role === 'user') as StoredMessage);
    return messages.length > 1 ? text('Done.') : calls(...randomBatch(seed).calls);
  };
  const bed = await startTestBed(answer, { tools: { ...oddTools, refund: payingTool(paid) }, policies: { refunds: ofTwo } });
  const transcripts = await Promise.all(
    seeds.map(async (seed) => {
      const run = await bed.client.start('configured', seed, { by: 'sue' });
      await decideBatch(run, randomBatch(seed));
      expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
      return run.transcript();
    }),
  );
  expect([seeds, [...paid].sort()]).toEqual([seeds, seeds.flatMap((seed) => approvedIn(randomBatch(seed))).sort()]);
  for (const [position, seed] of seeds.entries()) {
    const outputs = resultsIn(transcripts[position] ?? []).map(({ output }) => JSON.stringify(output));
    expect([seed, outputs]).toEqual([seed, wordsOf(randomBatch(seed)).map((word) => expect.stringContaining(word))]);
  }
  await bed.close();
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

describe('a conversation', () => {
  const answer = () => ({ parts: [{ type: 'text' as const, text: 'Yes.' }] });
  const saidIn = async (chat: Conversation, limit = 100, before?: number): Promise<readonly string[]> => {
    const page = await chat.transcript({ limit, ...(before === undefined ? {} : { before }) });
    return page.messages.map(({ turn, message }) => `${turn} ${textOf(message)}`);
  };

  it('is one over every continue-as-new, and its pages reach into all of them', async () => {
    const bed = await startTestBed(answer);
    const temporal = await openTemporal();
    const chat = bed.client.conversation('plain', `chain-${bed.taskQueue}`);
    for (let turn = 1; turn <= 3; turn++) {
      expect(await chat.send(`Question ${turn}?`, { id: `q${turn}` })).toEqual({ id: `q${turn}`, turn });
      await chat.turn(turn);
      const before = await temporal.executionOf(chat.id);
      await temporal.handle(chat.id).signal(names.continueAsNewSignal);
      await temporal.untilAnotherExecution(chat.id, before);
    }
    expect(await chat.send('Question 1?', { id: 'q1' })).toEqual({ id: 'q1', turn: 1 });
    expect((await bed.client.run(chat.id).view()).status).toBe('idle');
    expect(await saidIn(chat)).toEqual(['1 Question 1?', '1 Yes.', '2 Question 2?', '2 Yes.', '3 Question 3?', '3 Yes.']);
    const { before } = await chat.transcript({ limit: 3 });
    expect(await saidIn(chat, 3, before)).toEqual(['1 Question 1?', '1 Yes.', '2 Question 2?']);
    const other = bed.client.conversation('short', chat.id);
    await expect(other.send('Hi')).rejects.toMatchObject({ code: 'run-id-in-use' });
    const nobody = bed.client.conversation('nobody', `nobody-${bed.taskQueue}`);
    await expect(nobody.send('Hi')).rejects.toMatchObject({ code: 'agent-unknown' });
    await bed.client.run(nobody.id).outcome({ timeout: '30s' });
    expect((await nobody.view()).ended).toMatchObject({ reason: 'failed', error: { code: 'agent-unknown' } });
    const run = await bed.client.start('plain', 'Hi');
    await expect(bed.client.conversation('plain', run.id).send('Hi')).rejects.toMatchObject({ code: 'not-a-conversation' });
    await temporal.close();
    await bed.close();
  });

  it('takes messages while no worker is there, each once, and ends for being idle when one comes', async () => {
    const bed = await startTestBed(answer);
    const chat = bed.client.conversation('plain', `alone-${bed.taskQueue}`, { idle: '1s' });
    await bed.worker.shutdown();
    const stranger = bed.client.conversation('short', chat.id);
    // Those of one client go one after another, each with five seconds for a worker.
    const left = await Promise.all([
      chat.send('Hello?', { id: 'a' }),
      stranger.send('Hello?', { id: 'b' }),
      bed.client.conversation('plain', chat.id).send('Hello?', { id: 'a' }),
    ]);
    expect(left).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'a' }]);
    expect((await chat.queue())[0]).toMatchObject({ id: 'a', mode: 'after-turn' });
    const again = await startTestBed(answer, { taskQueue: bed.taskQueue });
    expect(await bed.client.run(chat.id).outcome({ timeout: '30s' })).toBeDefined();
    expect(await bed.client.run(chat.id).result()).toEqual({ turns: 1, reason: 'idle' });
    expect(await saidIn(chat)).toEqual(['1 Hello?', '1 Yes.']);
    const ignored: unknown[] = [];
    for await (const event of bed.client.run(chat.id).events({ deltas: false })) if (event.type === 'message-ignored') ignored.push(event);
    expect(ignored).toMatchObject([{ id: 'b', code: 'run-id-in-use' }]);
    await expect(chat.send('Still there?')).rejects.toMatchObject({ code: 'conversation-ended' });
    await again.close();
    await bed.client.close();
  });
});
