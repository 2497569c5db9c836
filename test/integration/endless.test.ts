import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

const model = script(calls({ name: 'yieldsEvents', input: { request: 'Do.' } }), text('Without.'));

let temporal: Temporal;
let bed: TestBed;
beforeAll(async () => {
  temporal = await openTemporal();
  bed = await startTestBed(model);
});
afterAll(async () => {
  await bed.close();
  await temporal.close();
});

/** How its workflow tasks went that did not end well. */
async function brokenTasks(id: string): Promise<readonly unknown[]> {
  const { events } = await temporal.handle(id).fetchHistory();
  return (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes ?? []);
}

it.each([
  ['yieldsEvents', 'agent-endless'],
  ['yieldsMessages', 'agent-endless'],
  ['runsAgents', 'agent-endless'],
  ['turnsRound', 'agent-endless'],
  ['usesAnothersContext', 'outside-run'],
])('%s fails with %s, in tasks that end well', async (agent, code) => {
  const run = await bed.client.start(agent, 'Go.');
  expect(await run.outcome({ timeout: '50s' })).toMatchObject({ status: 'failed', error: { code } });
  expect(await brokenTasks(run.id)).toEqual([]);
});

it('an agent without end as a tool is a failure that the model is told of', async () => {
  const run = await bed.client.start('hasEndlessTool', 'Go.');
  expect(await run.outcome({ timeout: '50s' })).toMatchObject({ status: 'completed', text: 'Without.' });
  expect(await brokenTasks(run.id)).toEqual([]);
});

it('100 agents in each other come to their end', async () => {
  const run = await bed.client.start('level98', 'Go.');
  expect(await run.outcome({ timeout: '50s' })).toMatchObject({ status: 'completed' });
  expect(await brokenTasks(run.id)).toEqual([]);
});
