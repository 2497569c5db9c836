import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedModel, testRun } from 'holdfast/testing';
import { support } from './agents';
import { tools } from './tools';

const lookup = { toolCalls: [{ name: 'lookupOrder', input: { orderId: '42' } }] };
const refund = (amount: number) => ({ toolCalls: [{ name: 'refund', input: { orderId: '42', amount } }] });

test('pays a large refund when a person approves it', async () => {
  const model = scriptedModel([lookup, refund(80), { text: 'Paid.' }]);
  const run = await testRun(support, { input: 'Refund order 42', model, tools });
  const [question] = await run.interrupts();
  assert.ok(question?.kind === 'approval' && question.tool === 'refund');
  await run.approve(question.id, { by: 'ada' });
  assert.equal(await run.result(), 'Paid.');
  assert.equal(model.requests.at(-1)?.messages.at(-1)?.role, 'tool');
});

test('does not pay what nobody approves for three days', async () => {
  const model = scriptedModel([refund(80), { text: 'Sorry.' }]);
  const run = await testRun(support, { input: 'Refund order 42', model, tools });
  assert.equal((await run.outcome()).status, 'waiting');
  await run.advance('3d');
  assert.equal(await run.result(), 'Sorry.');
});

test('pays a small refund at once', async () => {
  const model = scriptedModel([refund(12), { text: 'Paid.' }]);
  const run = await testRun(support, { input: 'Refund order 42', model, tools });
  assert.equal(await run.result(), 'Paid.');
  model.assertComplete();
});
