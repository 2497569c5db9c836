import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { replayHistories, scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedStep, TestRunOptions } from 'holdfast/testing';
import { clerk } from './agents';
import type { Ticket } from './jobs';
import { openOutside } from './stand-ins/outside';
import type { Outside } from './stand-ins/outside';
import { tools } from './tools';

let bank: Outside;
before(async () => {
  bank = await openOutside();
  process.env['SHOP_URL'] = bank.url;
});
after(() => bank.close());
let paidBefore = 0;
beforeEach(() => void (paidBefore = bank.payments.length));
const paid = () => bank.payments.slice(paidBefore).map(({ kind, order, amount }) => ({ kind, order, amount }));

const ticket = (order: string, wish: Ticket['wish'] = 'refund'): Ticket => ({
  ticket: `t-${order}`,
  order,
  wish,
  text: 'It arrived broken.',
});
const of = (order: string): Pick<TestRunOptions<never>, 'values'> => ({ values: { customer: `customer-${order}` } });
const calls = (name: string, input: Record<string, string | number> = {}): ScriptedStep => ({ toolCalls: [{ name, input }] });
const settles = (order: string, amount: number): readonly ScriptedStep[] => [
  { toolCalls: [calls('findOrder', { order }), calls('findCustomer')].flatMap((step) => ('toolCalls' in step ? step.toolCalls : [])) },
  calls('refund', { order, amount }),
  calls('closeTicket', { ticket: `t-${order}`, result: 'refund given' }),
  { text: 'Closed.' },
];

test('a small refund is paid at once', async () => {
  const model = scriptedModel(settles('42', 12));
  const run = await testRun(clerk, { input: ticket('42'), ...of('42'), model, tools });
  assert.equal(await run.result(), 'Closed.');
  assert.deepEqual(paid(), [{ kind: 'refund', order: '42', amount: 12 }]);
  model.assertComplete();
});

test('a large refund waits for a person, and is not paid when nobody decides for three days', async () => {
  const run = await testRun(clerk, { input: ticket('25'), ...of('25'), model: scriptedModel(settles('25', 480)), tools });
  const [question] = await run.interrupts();
  assert.ok(question?.kind === 'approval' && question.tool === 'refund');
  await run.advance('3d');
  assert.equal(await run.result(), 'Closed.');
  assert.deepEqual(paid(), []);
});

test('a large refund is paid when a person approves it', async () => {
  const run = await testRun(clerk, { input: ticket('25'), ...of('25'), model: scriptedModel(settles('25', 480)), tools });
  const [question] = await run.interrupts();
  await run.approve(question?.id ?? '', { by: 'ada' });
  assert.equal(await run.result(), 'Closed.');
  assert.deepEqual(paid(), [{ kind: 'refund', order: '25', amount: 480 }]);
});

test('a refund whose worker is lost right after it has paid is paid once: the bank is asked', async () => {
  const run = await testRun(clerk, {
    ...{ input: ticket('42'), ...of('42'), model: scriptedModel(settles('42', 12)), tools },
    lose: ({ tool, attempt, reconcile }) => (tool === 'refund' && attempt === 1 && !reconcile ? 'after' : undefined),
  });
  assert.equal(await run.result(), 'Closed.');
  assert.deepEqual(paid(), [{ kind: 'refund', order: '42', amount: 12 }]);
});

test('nobody gets the money of another customer, whatever the model asks for', async () => {
  const run = await testRun(clerk, { input: ticket('42'), ...of('7'), model: scriptedModel(settles('42', 12)), tools });
  assert.equal(await run.result(), 'Closed.');
  assert.deepEqual(paid(), []);
});

test('a ticket that is none begins no run', async () => {
  const input = { ...ticket('42'), wish: 'gold' } as unknown as Ticket;
  await assert.rejects(testRun(clerk, { input, model: scriptedModel([]), tools }), {
    code: 'input-invalid',
    message: /wish is none of \["refund","voucher"\]/,
  });
});

test('runs that were saved would go the same way today', { skip: !existsSync(join(__dirname, 'histories')) }, async () => {
  const replayed = await replayHistories({
    agents: join(__dirname, 'agents.ts'),
    histories: join(__dirname, 'histories'),
  });
  assert.deepEqual(
    replayed.flatMap(({ id, error }) => (error === undefined ? [] : [`${id}: ${error.message}`])),
    [],
  );
});
