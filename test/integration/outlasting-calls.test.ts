import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import { names } from '../../contract/names';
import type { StatusReply } from '../../contract/record/wire';
import { SwitchedParts } from '../../worker/switched-parts';
import { variantOf } from '../support/bundle-variant';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { errorOfReplay, renewed, startWithShortTasks } from '../support/short-tasks';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { Answerer, TestBed } from '../support/test-bed';
import { calls, fixtureBundle, script, startTestBed, text } from '../support/test-bed';

let quick: Gate;
let beside: Gate;
const queried = gate();
const inputSchema = z.object({});
const description = 'Waits.';
const idle = defineTool({ description, inputSchema, execute: () => 'nothing' });
const tools = {
  ...Object.fromEntries(['slow', 'paint', 'paintSlowly', 'askInPieces', 'quickAsk'].map((name) => [name, idle])),
  flaky: defineTool({
    description,
    inputSchema: z.object({ after: z.string() }),
    execute: ({ after }) => `after ${after}`,
  }),
  add: defineTool({ description, inputSchema, quick: true, timeout: '10s', execute: () => quick.pass().then(() => 'added') }),
  work: defineTool({ description, inputSchema, execute: () => beside.pass().then(() => 'worked') }),
  count: defineTool({ description, inputSchema, quick: true, timeout: '10s', execute: () => queried.pass().then(() => 'counted') }),
};

let temporal: Temporal;
let bed: TestBed;
beforeAll(async () => {
  const both = script(calls({ name: 'work', input: {} }, { name: 'add', input: {} }), text('Done.'));
  const one = (name: string): Answerer => script(calls({ name, input: {} }), text('Done.'));
  const single: Readonly<Record<string, Answerer>> = { 'Count.': one('count'), 'Add.': one('add') };
  const answer: Answerer = (request) => {
    const said = JSON.stringify(request.messages[0]);
    return (Object.entries(single).find(([text]) => said.includes(text))?.[1] ?? both)(request);
  };
  [temporal, bed] = await Promise.all([openTemporal(), startTestBed(answer, { tools })]);
});
afterAll(async () => {
  await bed.close();
  await temporal.close();
});

it.each([
  ['is where it was', 'works'],
  ['is followed by the same calls in the same order', 'following'],
] as const)('a run whose quick call outlasts its task replays: the end of another call meanwhile %s', async (_, agent) => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(temporal, agent, bed, agent);
  await Promise.all([quick.reached, beside.reached]);
  const eventsOf = async () => (await temporal.handle(id).fetchHistory()).events ?? [];
  await renewed(temporal, id);
  beside.open();
  // The next task has the result of the other call. The quick one ends in that task.
  await eventually(async () => {
    const kinds = (await eventsOf()).map(({ activityTaskCompletedEventAttributes: call, workflowTaskStartedEventAttributes: task }) =>
      call != null ? 'call' : task != null ? 'task' : 'other',
    );
    expect(kinds.filter((kind) => kind === 'call')).toHaveLength(2);
    expect(kinds.lastIndexOf('task')).toBeGreaterThan(kinds.lastIndexOf('call'));
  });
  await eventsOf();
  quick.open();
  expect(await bed.client.run(id).outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await errorOfReplay(temporal, id, await temporal.executionOf(id), 'requests')).toBeUndefined();
});

it('a replay of a run whose quick call outlasts its task tells what has changed in the agent, and nothing else', async () => {
  quick = gate();
  const id = await startWithShortTasks(temporal, 'Add.', bed);
  await quick.reached;
  await renewed(temporal, id);
  quick.open();
  expect(await bed.client.run(id).outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  const execution = await temporal.executionOf(id);
  expect(await errorOfReplay(temporal, id, execution, 'requests')).toBeUndefined();
  const changed = variantOf(fixtureBundle(), 'You are a test.', 'You are a toast.');
  const { code, message } = (await errorOfReplay(temporal, id, execution, 'requests', changed)) ?? {};
  expect([code, message]).toEqual([
    'requests-changed',
    'The model call works/t1/model has other instructions: it was "You are a test.", and is "You are a toast.". So does a later one. (run.json)',
  ]);
});

it('a run to which somebody says something while it is still being prepared replays', async () => {
  const prepared = gate();
  const { activitiesOf } = SwitchedParts.prototype;
  const slowly = jest.spyOn(SwitchedParts.prototype, 'activitiesOf').mockImplementation(function (this: SwitchedParts, buildId) {
    const activities = activitiesOf.call(this, buildId);
    return { ...activities, prepareRun: (...request) => prepared.pass().then(() => activities.prepareRun(...request)) };
  });
  const slow = await startTestBed(script(text('Done.')), { tools });
  slowly.mockRestore();
  try {
    const said: readonly { readonly signal: string; readonly given?: object }[] = [
      { signal: names.resumeSignal, given: { interruptId: 'none', answer: true } },
      { signal: names.continueAsNewSignal },
      { signal: names.cancelSignal, given: { withinMs: 60_000 } },
    ];
    const ids = await Promise.all(said.map(({ signal }) => startWithShortTasks(temporal, signal, slow)));
    const firsts = await Promise.all(ids.map((id) => temporal.executionOf(id)));
    await Promise.all(ids.map((id) => renewed(temporal, id)));
    await Promise.all(
      said.map(({ signal, given }, position) =>
        temporal.handle(ids[position] ?? '').signal(signal, ...(given === undefined ? [] : [given])),
      ),
    );
    await Promise.all(ids.map((id) => renewed(temporal, id)));
    prepared.open();
    await Promise.all(ids.map((id) => slow.client.run(id).outcome({ timeout: '30s' })));
    const errors = await Promise.all(ids.map((id, position) => errorOfReplay(temporal, id, firsts[position] ?? '')));
    expect(errors).toEqual([undefined, undefined, undefined]);
  } finally {
    await slow.close();
  }
});

it('a query waits for a quick call that outlasts its task, is answered then, and the run replays', async () => {
  const id = await startWithShortTasks(temporal, 'Count.', bed);
  await queried.reached;
  let isAnswered = false;
  const reply = temporal
    .handle(id)
    .query<StatusReply>(names.statusQuery)
    .finally(() => (isAnswered = true));
  await renewed(temporal, id);
  await renewed(temporal, id);
  expect(isAnswered).toBe(false);
  queried.open();
  expect(await reply).toMatchObject({ interrupts: [] });
  expect(await bed.client.run(id).outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
  expect(await errorOfReplay(temporal, id, await temporal.executionOf(id))).toBeUndefined();
});

it('a run replays to which somebody says something beside a quick call that outlasts its task, when a deadline passes in the last of its tasks', async () => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(temporal, 'works', bed, 'asksInTime', '2s');
  await quick.reached;
  const tell = (): Promise<void> => temporal.handle(id).signal(names.resumeSignal, { interruptId: 'none', answer: true });
  // What comes first leaves a mark in the history, and with it the end of its task. What comes after it leaves none.
  await tell();
  await renewed(temporal, id);
  const [asked] = await bed.client.run(id).interrupts();
  await tell();
  await renewed(temporal, id);
  await eventually(async () => expect(Date.now()).toBeGreaterThan((asked?.deadline ?? Infinity) + 200));
  quick.open();
  expect(await bed.client.run(id).result()).toBe('Done.');
  const results = (await bed.client.run(id).transcript()).filter(({ role }) => role === 'tool');
  expect(JSON.stringify(results)).toMatch(/"nobody".*"added"/);
  expect(await errorOfReplay(temporal, id, await temporal.executionOf(id))).toBeUndefined();
});

it('an answer that a client gives beside a quick call that outlasts its task is taken when the call is over, and the run replays', async () => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(temporal, 'works', bed, 'asksInTime');
  await quick.reached;
  await renewed(temporal, id);
  const run = bed.client.run(id);
  let isTaken = false;
  const answering = run.resume((await run.interrupts())[0]?.id ?? '', 'yes').then(() => (isTaken = true));
  await renewed(temporal, id);
  await renewed(temporal, id);
  expect(isTaken).toBe(false);
  quick.open();
  await answering;
  expect(await run.result()).toBe('Done.');
  expect(JSON.stringify((await run.transcript()).filter(({ role }) => role === 'tool'))).toMatch(/"yes".*"added"/);
  expect(await errorOfReplay(temporal, id, await temporal.executionOf(id))).toBeUndefined();
});
