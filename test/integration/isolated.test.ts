import { temporal as proto } from '@temporalio/proto';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import { textOf } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { logOf, replaysOf } from '../support/server-logs';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, testServer, text } from '../support/test-bed';

let held: Gate | undefined;

async function answer({ instructions, messages }: GenerateRequest): Promise<GenerateAnswer> {
  const who = /^You are (\w+)\./.exec(instructions)?.[1] ?? '';
  const first = !messages.some(({ role }) => role === 'assistant');
  if (who === 'fails') throw Object.assign(new Error('out of order'), { isRetryable: false });
  if (who === 'guide' && first) return calls({ name: 'asks', input: { request: 'Ask.' } });
  if (who === 'pays' && first) return calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
  if (who === 'answers') await held?.pass();
  return text(`I am ${who}.`);
}

describe('isolated agents on a real server', () => {
  let bed: TestBed;
  let temporal: Temporal;
  /** The deadline passes while other tests run. */
  let late: Run;
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(answer);
    late = await bed.client.start('pair', 'Go.', { deadline: '15s' });
  });
  afterEach(() => {
    held?.open();
    held = undefined;
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const waiting = async (agent: string): Promise<{ readonly run: Run; readonly ids: readonly string[] }> => {
    const run = await bed.client.start(agent, 'Go.');
    expect((await run.outcome()).status).toBe('waiting');
    return { run, ids: (await run.interrupts()).map(({ id }) => id) };
  };
  const waitingAll = async (agent: string, count: number): ReturnType<typeof waiting> => {
    const { run } = await waiting(agent);
    await eventually(async () => expect(await run.interrupts()).toHaveLength(count));
    return { run, ids: (await run.interrupts()).map(({ id }) => id) };
  };
  const child = (run: Run, place: string): Run => bed.client.run(`${run.id}~${place}`);

  it('replay, and so does the run that they are part of', async () => {
    const { run, ids } = await waiting('refunds');
    await temporal.goOnAsNew(`${run.id}~each.pays`);
    await run.approve(ids[0] ?? '');
    await run.result();
    const cancelled = await waiting('pair');
    await child(cancelled.run, 'asks').cancel();
    await cancelled.run.result().catch(() => undefined);
    const { run: spent } = await waitingAll('spent', 2);
    await child(spent, 'spends').cancel();
    await child(spent, 'spends').outcome();
    await spent.cancel();
    await spent.outcome();
    const recorded = [run.id, `${run.id}~each.pays`, cancelled.run.id, `${cancelled.run.id}~asks`];
    recorded.push(spent.id, `${spent.id}~spends`, `${spent.id}~stubborn`);
    expect(await replaysOf(recorded)).toEqual([]);
  });

  it('leave less than 1.4 KB each in the history of their run, a hundred of them, and workflow tasks as many as a host takes', async () => {
    const run = await bed.client.start('crowd', 'Go.');
    const outcome = await run.outcome();
    expect(outcome.status).toBe('completed');
    const { events } = await temporal.handle(run.id).fetchHistory();
    // The run's start and end contain the answers, not the agents. How many answers come in one workflow task is the host's matter.
    const own = (events ?? []).slice(1, -1).filter(({ attributes }) => attributes?.startsWith('workflowTask') !== true);
    const bytes = own.reduce((sum, event) => sum + proto.api.history.v1.HistoryEvent.encode(event).finish().length, 0);
    expect(own.length).toBeGreaterThan(400);
    expect(bytes / 100).toBeLessThan(1400);
    const { output } = outcome as { output: Record<string, string> };
    expect(Object.keys(output)).toHaveLength(100);
    expect(output['w42']).toBe('I am w42.');
    expect(await child(run, 'w42').outcome()).toMatchObject({ status: 'completed', output: 'I am w42.' });
    expect((await child(run, 'w42').transcript()).map(textOf)).toEqual(['Go.', 'I am w42.']);
    expect(await run.usage()).toEqual({ inputTokens: 1000, outputTokens: 500 });
  });

  it.each([
    ['fatReturns', 'payload-too-large', 'session values', 'returns'],
    ['fatThrows', 'hook-failed', 'out of order', 'throws'],
    ['ratherFatThrows', 'hook-failed', 'out of order', 'throwsToo'],
  ])('end also where they have set more than a server takes: %s', async (agent, code, message, name) => {
    const run = await bed.client.start(agent, 'Go.');
    const error = { code, message: expect.stringContaining(message) as string };
    expect(await run.outcome()).toMatchObject({ status: 'failed', error });
    expect(await child(run, name).outcome()).toMatchObject({ status: 'failed', error });
  });

  it('do not begin where what their run has set does not fit into their start', async () => {
    const run = await bed.client.start('fatStart', 'Go.');
    const error = { code: 'payload-too-large', message: expect.stringContaining('The input of the start of the agent "late"') as string };
    expect(await run.outcome()).toMatchObject({ status: 'failed', error });
  });

  it('are answered in the run that somebody started, which the one interrupt list shows', async () => {
    const { run, ids } = await waiting('pair');
    expect(ids).toEqual([expect.stringMatching(/^pair\.asks\./)]);
    await eventually(async () => {
      const open = (await bed.client.interrupts({ limit: 1000 })).interrupts.filter(({ runId }) => runId.startsWith(run.id));
      expect(open.map(({ runId, interrupt }) => [runId, interrupt.id])).toEqual([[run.id, ids[0]]]);
    });
    await run.resume(ids[0] ?? '', 'yes', { by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { asks: 'I am asks.', answers: 'I am answers.' } });
    const answered = (await logOf(child(run, 'asks'))).filter(({ type }) => type === 'interrupt-end');
    expect(answered).toMatchObject([{ reason: 'answer', answer: 'yes', by: 'ada' }]);
  });

  it('take one of two answers that come at the same moment, from two clients or in both runs, and both logs have that one', async () => {
    const other = await connect({ server: testServer(), taskQueue: bed.taskQueue });
    const answersOf = async (run: Run): Promise<readonly unknown[]> =>
      (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [event.answer] : []));
    for (const place of ['', '~asks', '~asks']) {
      // The other agent keeps the run open for the second answer.
      held = gate();
      const { run, ids } = await waiting('pair');
      const there = other.run(`${run.id}${place}`);
      const [id] = place === '' ? ids : (await there.interrupts()).map((interrupt) => interrupt.id);
      const settled = await Promise.allSettled([run.resume(ids[0] ?? '', 'one'), there.resume(id ?? '', 'two')]);
      const refused = settled.filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([{ reason: { code: 'interrupt-answered' } }]);
      held.open();
      expect(await run.outcome()).toMatchObject({ status: 'completed' });
      const taken = settled[0].status === 'fulfilled' ? 'one' : 'two';
      expect([await answersOf(run), await answersOf(child(run, 'asks'))]).toEqual([[taken], [taken]]);
    }
    await other.close();
  });

  it('reach the run that somebody started through those between', async () => {
    const { run, ids } = await waiting('deep');
    expect(ids).toEqual([expect.stringMatching(/^deep\.inner\.asks\./)]);
    await temporal.goOnAsNew(`${run.id}~inner~asks`);
    expect((await run.interrupts()).map(({ id }) => id)).toEqual(ids);
    await run.resume(ids[0] ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { inner: { asks: 'I am asks.' } } });
  });

  it('go on as new by themselves, while the run that they are part of waits for them to do so', async () => {
    const { run, ids } = await waiting('refunds');
    const before = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.goOnAsNew(`${run.id}~each.pays`);
    expect(await temporal.executionOf(run.id)).toBe(before);
    await run.approve(ids[0] ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'I am after.' });
    expect(await temporal.executionOf(run.id)).not.toBe(before);
    expect(await run.usage()).toEqual({ inputTokens: 30, outputTokens: 15 });
  });

  it('are cancelled alone, or terminated: only their lane fails', async () => {
    const { run } = await waiting('pair');
    await child(run, 'asks').cancel();
    await expect(run.result()).rejects.toMatchObject({
      code: 'child-cancelled',
      message: expect.stringContaining("'asks'") as string,
    });
    expect(await child(run, 'answers').outcome()).toMatchObject({ status: 'completed' });
    const other = await waiting('guide');
    await child(other.run, 'asks@1').terminate();
    expect(await other.run.result()).toBe('I am guide.');
  });

  it('are cancelled with the run that they are part of, which waits for them', async () => {
    held = gate();
    const run = await bed.client.start('pair', 'Go.');
    await held.reached;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(await child(run, 'asks').outcome()).toEqual({ status: 'cancelled' });
    expect(await child(run, 'answers').outcome()).toEqual({ status: 'cancelled' });
  });

  it('stand in no list of runs, but in that of the run that they are part of', async () => {
    const { run } = await waiting('pair');
    await eventually(async () => {
      const listed = (await bed.client.list({ parent: run.id })).runs.map(({ id, agent, parent }) => [id, agent, parent]);
      expect(listed.sort()).toEqual([
        [`${run.id}~answers`, 'answers', run.id],
        [`${run.id}~asks`, 'asks', run.id],
      ]);
    });
    expect((await bed.client.list({ limit: 1000 })).runs.filter(({ id }) => id.startsWith(`${run.id}~`))).toEqual([]);
  });

  it('hear of a cancel of their run also when they have gone on as new', async () => {
    const { run } = await waiting('pair');
    await temporal.goOnAsNew(`${run.id}~asks`);
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(await child(run, 'asks').outcome()).toEqual({ status: 'cancelled' });
    expect(await replaysOf([run.id, `${run.id}~asks`])).toEqual([]);
  });

  it('say how their questions ended also where they end with them', async () => {
    const run = await bed.client.start('tooLate', 'Go.');
    await run.result().catch(() => undefined);
    const ends = (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));
    expect(ends.sort()).toEqual([
      ['deadline', null],
      ['deadline', 'nobody'],
    ]);
    expect(await replaysOf([run.id, `${run.id}~ends`, `${run.id}~fails`])).toEqual([]);
  });

  it('are asked to stop when the deadline of the run that they are part of has passed', async () => {
    await expect(late.result()).rejects.toMatchObject({ code: 'run-timed-out' });
    expect((await logOf(late)).map(({ type }) => type)).toContain('interrupt-start');
    expect(await child(late, 'asks').outcome()).toEqual({ status: 'cancelled' });
    expect(await child(late, 'answers').outcome()).toMatchObject({ status: 'completed', output: 'I am answers.' });
  });
});
