import { scriptedModel, testRun } from 'holdfast/testing';
import { ordered } from '../../fixtures/worker-middleware-agents';
import { orderedParts, shownOrder } from '../../support/order-bed';

it('hooks of both halves run in the order that docs/reference/hooks.md shows', async () => {
  const { seen, ...parts } = orderedParts();
  const model = scriptedModel([() => (seen.push('provider'), { toolCalls: [{ name: 'act', input: {} }] })]);
  const run = await testRun(ordered, { input: 'Hi', model, ...parts });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'acted' });
  expect(shownOrder().length).toBeGreaterThan(20);
  expect(seen).toEqual(shownOrder());
});
