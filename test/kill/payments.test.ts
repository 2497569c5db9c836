import type { CancelOptions } from '../../client/runs/cancel';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { logOf } from '../support/server-logs';
import { openTemporal } from '../support/temporal';
import { testServer } from '../support/test-bed';
import type { Child } from './child';
import { killAll, spawnProgram } from './child';
import type { PaymentCall, PaymentScript, PaymentSettings } from './payment-process';
import type { HeldRequest, HoldPoint, PaymentServer, Receipt } from './payment-server';
import { startPaymentServer } from './payment-server';
import { programSettings } from './program-settings';

interface Plan {
  readonly script: PaymentScript;
  readonly held?: Readonly<Record<string, HoldPoint>>;
}

const pay = (amount: number, id = 'call'): PaymentCall => ({ id, tool: 'pay', amount });
const refund = (amount: number, id = 'call'): PaymentCall => ({ id, tool: 'refund', amount });

const moments = [
  { when: 'before the request is sent', sent: false, paid: false },
  { when: 'before the payment counts', sent: true, paid: false },
  { when: 'before the answer comes', sent: true, paid: true },
  { when: 'before the result is reported', sent: true, paid: true },
] as const;

const momentPlans = (call: PaymentCall): readonly Plan[] => [
  { script: [[{ ...call, hold: 'before' }]] },
  { script: [[call]], held: { [`t1/${call.tool}.0`]: 'uncounted' } },
  { script: [[call]], held: { [`t1/${call.tool}.0`]: 'counted' } },
  { script: [[{ ...call, hold: 'after' }]] },
];

const again = [[pay(1, 'same')], [pay(2, 'same')]];
const plans: Readonly<Record<string, Plan>> = {
  ...Object.fromEntries(momentPlans(pay(7)).map((plan, position) => [`pay ${moments[position]?.when}`, plan])),
  ...Object.fromEntries(momentPlans(refund(7)).map((plan, position) => [`refund ${moments[position]?.when}`, plan])),
  'asked in vain': { script: [[pay(7)]], held: { 't1/pay.0': 'counted' } },
  'killed while asked': { script: [[pay(7)]], held: { 't1/pay.0': 'counted' } },
  late: { script: [[pay(7)]], held: { 't1/pay.0': 'late' } },
  'killed twice': { script: [[pay(7)]], held: { 't1/pay.0': 'uncounted' } },
  'in doubt twice': { script: [[refund(7)]], held: { 't1/refund.0': 'uncounted' } },
  twins: {
    script: [[pay(1, 'same'), pay(2, 'same')], [pay(3, 'same')]],
    held: { 't1/pay.0': 'counted', 't1/pay.1': 'uncounted' },
  },
  'twins in doubt': {
    script: [[refund(1, 'same'), refund(2, 'same')], [refund(3, 'same')]],
    held: { 't1/refund.0': 'uncounted', 't1/refund.1': 'counted' },
  },
  'again, paid': { script: again, held: { 't2/pay.0': 'counted' } },
  'again, unpaid': { script: again, held: { 't2/pay.0': 'uncounted' } },
  reset: { script: again, held: { 't2/pay.0': 'counted' } },
  'cancelled pay': { script: [[pay(7)]], held: { 't1/pay.0': 'counted' } },
  'cancelled pay, unpaid': { script: [[pay(7)]], held: { 't1/pay.0': 'uncounted' } },
  'cancelled refund': { script: [[refund(7)]], held: { 't1/refund.0': 'counted' } },
  'cancelled at leisure': { script: [[pay(7)]], held: { 't1/pay.0': 'counted' } },
};
const names = Object.keys(plans);

const taskQueue = `payments-${process.pid}`;
const idOf = (name: string): string => `${taskQueue}-${name.replace(/\W+/g, '-')}`;
const keyOf = (name: string, call: string): string => `default/${idOf(name)}/plain/${call}`;

let server: PaymentServer;
let client: HoldfastClient;
let runs: ReadonlyMap<string, Run>;
let late: HeldRequest;
let paidBefore: readonly Receipt[];
let doubtsBefore: ReadonlyMap<string, readonly Interrupt[]>;

const runOf = (name: string): Run => runs.get(name) as Run;

function callsIn(name: string, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => (key.includes(keyOf(name, '')) ? [key.replace(keyOf(name, ''), '')] : []));
}

const requestsOf = (name: string): readonly string[] => callsIn(name, server.requests);

function paymentsOf(name: string, receipts: readonly Receipt[] = server.receipts): Readonly<Record<string, number>> {
  return Object.fromEntries(receipts.flatMap(({ key, amount }) => callsIn(name, [key]).map((call) => [call, amount])));
}

const receiptOf = (name: string, call: string): Receipt | undefined => server.receipts.find(({ key }) => key === keyOf(name, call));

async function resultsOf(name: string): Promise<readonly unknown[]> {
  const messages = await runOf(name).transcript();
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));
}

async function untilCompleted(name: string): Promise<void> {
  expect(await runOf(name).outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
}

async function doubtsOf(name: string, count: number): Promise<readonly Interrupt[]> {
  const doubts: Interrupt[] = [];
  for await (const event of runOf(name).events({ deltas: false })) {
    if (event.type === 'interrupt-start') doubts.push(event.interrupt);
    if (doubts.length === count) return doubts;
  }
  throw new Error(`The run "${name}" ended with ${doubts.length} doubts.`);
}

function amountIn(doubt: Interrupt | undefined): number {
  return doubt?.kind === 'in-doubt' ? (doubt.info as { input: { amount: number } }).input.amount : 0;
}

beforeAll(async () => {
  server = await startPaymentServer();
  client = await connect({ server: testServer(), taskQueue });
  const settings = { ...programSettings(taskQueue), payments: server.url };
  const spawn = (holds: boolean): Child => spawnProgram('payment-process', { ...settings, holds } satisfies PaymentSettings);

  const first = spawn(true);
  await first.line('ready');
  const held: HeldRequest[] = [];
  for (const name of names)
    for (const [call, point] of Object.entries(plans[name]?.held ?? {})) {
      const request = server.hold(keyOf(name, call), point);
      held.push(request);
      if (point === 'late') late = request;
    }
  const started = names.map(async (name) => {
    const { script = [] } = plans[name] ?? {};
    const run = await client.start('plain', JSON.stringify(script), { id: idOf(name) });
    const inside = script.flat().flatMap(({ hold }) => hold ?? []);
    await Promise.all(inside.map((point) => first.line(`${point} ${run.id}`)));
    return [name, run] as const;
  });
  runs = new Map(await Promise.all(started));
  await Promise.all(held.map(({ reached }) => reached));
  const cancelled = names.filter((name) => name.startsWith('cancelled'));
  const options: CancelOptions = { reason: 'wrong customer', by: 'ada' };
  await Promise.all(cancelled.map((name) => runOf(name).cancel(/leisure/.test(name) ? { ...options, mode: 'after-tools' } : options)));
  await first.murder();
  await Promise.all(held.map(({ gone }) => gone));
  paidBefore = [...server.receipts];

  server.breakOff(keyOf('asked in vain', 't1/pay.0'));
  const heldAgain = [
    server.hold(keyOf('killed while asked', 't1/pay.0'), 'asked'),
    server.hold(keyOf('killed twice', 't1/pay.0'), 'counted'),
    server.hold(keyOf('in doubt twice', 't1/refund.0'), 'uncounted'),
  ];
  const second = spawn(false);
  const [doubt] = await doubtsOf('in doubt twice', 1);
  await runOf('in doubt twice').resume(doubt?.id ?? '', { happened: false });
  const inDoubt = names.filter((name) => name.startsWith('refund') || name === 'twins in doubt');
  const doubts = inDoubt.map(async (name) => [name, await doubtsOf(name, name === 'twins in doubt' ? 2 : 1)] as const);
  doubtsBefore = new Map(await Promise.all(doubts));
  await Promise.all(names.filter((name) => /^(pay|late|twins$|again|reset|asked)/.test(name)).map(untilCompleted));
  await Promise.all(heldAgain.map(({ reached }) => reached));
  await second.murder();
  await Promise.all(heldAgain.map(({ gone }) => gone));

  await spawn(false).line('ready');
});

afterAll(async () => {
  killAll();
  await client.close();
  await server.close();
});

describe('a payment that can be asked about, whose worker is killed', () => {
  it.each(moments)('is made once when that is $when', async ({ when, sent, paid }) => {
    const name = `pay ${when}`;
    await untilCompleted(name);
    expect(paymentsOf(name, paidBefore)).toEqual(paid ? { 't1/pay.0': 7 } : {});
    expect(requestsOf(name)).toEqual([...(sent ? ['POST t1/pay.0'] : []), 'GET t1/pay.0', ...(paid ? [] : ['POST t1/pay.0'])]);
    expect(paymentsOf(name)).toEqual({ 't1/pay.0': 7 });
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/pay.0')]);
  });

  it('is made once when the request of the lost worker counts only after that of the next one', async () => {
    await untilCompleted('late');
    expect(paymentsOf('late', paidBefore)).toEqual({});
    expect(requestsOf('late')).toEqual(['POST t1/pay.0', 'GET t1/pay.0', 'POST t1/pay.0']);
    late.open();
    expect(await resultsOf('late')).toEqual([receiptOf('late', 't1/pay.0')]);
    expect(paymentsOf('late')).toEqual({ 't1/pay.0': 7 });
  });

  it.each([
    ['the worker is killed that asks', 'killed while asked'],
    ['nobody answers the first time', 'asked in vain'],
  ])('is asked about again when %s', async (_, name) => {
    await untilCompleted(name);
    expect(requestsOf(name)).toEqual(['POST t1/pay.0', 'GET t1/pay.0', 'GET t1/pay.0']);
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/pay.0')]);
  });

  it('is asked about again when the worker is killed that made it after all', async () => {
    await untilCompleted('killed twice');
    expect(requestsOf('killed twice')).toEqual(['POST t1/pay.0', 'GET t1/pay.0', 'POST t1/pay.0', 'GET t1/pay.0']);
    expect(paymentsOf('killed twice', paidBefore)).toEqual({});
    expect(await resultsOf('killed twice')).toEqual([receiptOf('killed twice', 't1/pay.0')]);
  });
});

describe('a payment that nobody can be asked about, whose worker is killed', () => {
  it.each(moments)('is made once when that is $when and a human says what happened', async ({ when, sent, paid }) => {
    const name = `refund ${when}`;
    const interrupts = await runOf(name).interrupts();
    expect(interrupts).toMatchObject([{ kind: 'in-doubt', info: { tool: 'refund', callId: 'call', input: { amount: 7 } } }]);
    expect(interrupts).toEqual(doubtsBefore.get(name));
    await runOf(name).resume(interrupts[0]?.id ?? '', paid ? { happened: true, result: 'It was paid.' } : { happened: false });
    await untilCompleted(name);
    expect(paymentsOf(name, paidBefore)).toEqual(paid ? { 't1/refund.0': 7 } : {});
    expect(requestsOf(name)).toEqual([...(sent ? ['POST t1/refund.0'] : []), ...(paid ? [] : ['POST t1/refund.0'])]);
    expect(paymentsOf(name)).toEqual({ 't1/refund.0': 7 });
    expect(await resultsOf(name)).toEqual([paid ? 'It was paid.' : receiptOf(name, 't1/refund.0')]);
  });

  it('is in doubt again when the worker is killed that makes it after all', async () => {
    const name = 'in doubt twice';
    const [before, now] = await doubtsOf(name, 2);
    expect(now?.id).not.toBe(before?.id);
    expect(await runOf(name).interrupts()).toEqual([now]);
    await runOf(name).resume(now?.id ?? '', { happened: false });
    await untilCompleted(name);
    expect(requestsOf(name)).toEqual(['POST t1/refund.0', 'POST t1/refund.0', 'POST t1/refund.0']);
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/refund.0')]);
  });
});

describe('payments to which the model gave the same call id', () => {
  it('are kept apart by their keys, in one message and in the next', async () => {
    await untilCompleted('twins');
    expect(paymentsOf('twins', paidBefore)).toEqual({ 't1/pay.0': 1 });
    expect([...requestsOf('twins')].sort()).toEqual([
      ...['GET t1/pay.0', 'GET t1/pay.1'],
      ...['POST t1/pay.0', 'POST t1/pay.1', 'POST t1/pay.1', 'POST t2/pay.0'],
    ]);
    expect(paymentsOf('twins')).toEqual({ 't1/pay.0': 1, 't1/pay.1': 2, 't2/pay.0': 3 });
    expect(await resultsOf('twins')).toEqual(['t1/pay.0', 't1/pay.1', 't2/pay.0'].map((call) => receiptOf('twins', call)));
  });

  it('are doubts of their own', async () => {
    const name = 'twins in doubt';
    const doubts = await runOf(name).interrupts();
    expect(doubts.map(amountIn).sort()).toEqual([1, 2]);
    expect(doubts.map(({ id }) => id).sort()).toEqual((doubtsBefore.get(name) ?? []).map(({ id }) => id).sort());
    expect(new Set(doubts.map(({ id }) => id)).size).toBe(2);
    for (const doubt of doubts)
      await runOf(name).resume(doubt.id, amountIn(doubt) === 2 ? { happened: true, result: 'It was paid.' } : { happened: false });
    await untilCompleted(name);
    expect(paymentsOf(name, paidBefore)).toEqual({ 't1/refund.1': 2 });
    expect(requestsOf(name).slice(-2)).toEqual(['POST t1/refund.0', 'POST t2/refund.0']);
    expect(requestsOf(name)).toHaveLength(4);
    expect(paymentsOf(name)).toEqual({ 't1/refund.0': 1, 't1/refund.1': 2, 't2/refund.0': 3 });
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/refund.0'), 'It was paid.', receiptOf(name, 't2/refund.0')]);
  });

  it.each([
    ['again, paid', { 't1/pay.0': 1, 't2/pay.0': 2 }, ['POST t1/pay.0', 'POST t2/pay.0', 'GET t2/pay.0']],
    ['again, unpaid', { 't1/pay.0': 1 }, ['POST t1/pay.0', 'POST t2/pay.0', 'GET t2/pay.0', 'POST t2/pay.0']],
  ])('are not taken for each other when one is asked about (%s)', async (name, before, requests) => {
    await untilCompleted(name);
    expect(paymentsOf(name, paidBefore)).toEqual(before);
    expect(requestsOf(name)).toEqual(requests);
    expect(paymentsOf(name)).toEqual({ 't1/pay.0': 1, 't2/pay.0': 2 });
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/pay.0'), receiptOf(name, 't2/pay.0')]);
  });

  it('have the same keys when an operator resets the run, so that no money goes again', async () => {
    const name = 'reset';
    const [receipts, results, requests] = [paymentsOf(name), await resultsOf(name), requestsOf(name)];
    const temporal = await openTemporal();
    const { events } = await temporal.handle(idOf(name)).fetchHistory();
    const models = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: call }) =>
      call?.activityType?.name === 'callModel' ? [call] : [],
    );
    await temporal.connection.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: `default/${idOf(name)}`, runId: await temporal.executionOf(idOf(name)) },
      reason: 'test',
      requestId: `reset-${idOf(name)}`,
      workflowTaskFinishEventId: models[1]?.workflowTaskCompletedEventId ?? null,
    });
    await temporal.close();
    await untilCompleted(name);
    expect(requestsOf(name)).toEqual([...requests, 'POST t2/pay.0']);
    expect(paymentsOf(name)).toEqual(receipts);
    expect(await resultsOf(name)).toEqual(results);
  });
});

describe('a payment of a run that is cancelled while it is made, and whose worker is killed', () => {
  async function cancelledLog(name: string): Promise<readonly RunEvent[]> {
    expect(await runOf(name).outcome()).toEqual({ status: 'cancelled' });
    const log = await logOf(runOf(name));
    expect(log.at(-1)).toMatchObject({ type: 'run-end', reason: 'wrong customer', by: 'ada' });
    return log;
  }
  const posted = (name: string): number => requestsOf(name).filter((request) => request.startsWith('POST')).length;

  it.each(['cancelled pay', 'cancelled at leisure'])(
    'has its end in the log, and is not made again when the run goes on (%s)',
    async (name) => {
      const log = await cancelledLog(name);
      expect(log).toContainEqual(expect.objectContaining({ type: 'tool-reconcile', said: 'happened' }));
      expect(log.filter(({ type }) => type === 'tool-end')).toHaveLength(1);
      expect(paymentsOf(name)).toEqual({ 't1/pay.0': 7 });
      await runOf(name).resume();
      await untilCompleted(name);
      expect(posted(name)).toBe(1);
      expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/pay.0')]);
    },
  );

  it('is made when the run goes on, when it was not made before', async () => {
    const name = 'cancelled pay, unpaid';
    const log = await cancelledLog(name);
    expect(log).toContainEqual(expect.objectContaining({ type: 'tool-reconcile', said: 'not-happened' }));
    expect(paymentsOf(name)).toEqual({});
    await runOf(name).resume();
    await untilCompleted(name);
    expect(paymentsOf(name)).toEqual({ 't1/pay.0': 7 });
    expect(await resultsOf(name)).toEqual([receiptOf(name, 't1/pay.0')]);
  });

  it('is in doubt in the log when nobody can be asked, and a human is asked when the run goes on', async () => {
    const name = 'cancelled refund';
    const log = await cancelledLog(name);
    const [doubt] = log.flatMap((event) => (event.type === 'interrupt-start' ? [event.interrupt] : []));
    const info = { key: keyOf(name, 't1/refund.0'), attempts: 1, reconcile: { said: 'nothing' } };
    expect(doubt).toMatchObject({ kind: 'in-doubt', info });
    expect(paymentsOf(name)).toEqual({ 't1/refund.0': 7 });
    await runOf(name).resume();
    expect(await runOf(name).outcome()).toMatchObject({ status: 'waiting', interrupts: [{ id: doubt?.id }] });
    await runOf(name).resume(doubt?.id ?? '', { happened: true, result: 'It was paid.' });
    await untilCompleted(name);
    expect(posted(name)).toBe(1);
  });
});
