import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import type { StatusReply } from '../../contract/record/wire';
import { SwitchedParts } from '../../worker/switched-parts';
import { fixtureTools } from '../fixtures/tools';
import { variantOf } from '../support/bundle-variant';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { errorOfReplay, renewed, startWithShortTasks } from '../support/short-tasks';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import type { Answerer } from '../support/test-bed';
import { calls, fixtureBundle, script, text } from '../support/test-bed';

let quick: Gate;
let beside: Gate;
const queried = gate();
const inputSchema = z.object({});
const description = 'Waits.';
const idle = defineTool({ description, inputSchema, execute: () => 'nothing' });
const tools = {
  ...fixtureTools,
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

/** Where runs wait before they are prepared, while a test has such a place. */
let prepared: Gate | undefined;
const { activitiesOf } = SwitchedParts.prototype;
const slowly = jest.spyOn(SwitchedParts.prototype, 'activitiesOf').mockImplementation(function (this: SwitchedParts, buildId) {
  const { prepareRun, ...activities } = activitiesOf.call(this, buildId);
  return { ...activities, prepareRun: async (...request) => (await prepared?.pass(), prepareRun(...request)) };
});

const bed = sharedBed({ tools });
const { taskQueue } = bed;
const calling = (...names: readonly string[]): Answerer => script(calls(...names.map((name) => ({ name, input: {} }))), text('Done.'));
const both = { taskQueue, ...bed.scripted(calling('work', 'add')) };
const adding = { taskQueue, ...bed.scripted(calling('add')) };
const counting = { taskQueue, ...bed.scripted(calling('count')) };
afterEach(() => {
  prepared?.open();
  prepared = undefined;
});
afterAll(() => slowly.mockRestore());

it.each([
  ['is where it was', 'works'],
  ['is followed by the same calls in the same order', 'following'],
] as const)('a run whose quick call outlasts its task replays: the end of another call meanwhile %s', async (_, agent) => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(bed.temporal, 'Go.', both, agent);
  await Promise.all([quick.reached, beside.reached]);
  const eventsOf = async () => (await bed.temporal.handle(id).fetchHistory()).events ?? [];
  await renewed(bed.temporal, id);
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
  expect(await bed.client.run(id).outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await errorOfReplay(bed.temporal, id, await bed.temporal.executionOf(id), 'requests')).toBeUndefined();
});

it('a replay of a run whose quick call outlasts its task tells what has changed in the agent, and nothing else', async () => {
  quick = gate();
  const id = await startWithShortTasks(bed.temporal, 'Go.', adding);
  await quick.reached;
  await renewed(bed.temporal, id);
  quick.open();
  expect(await bed.client.run(id).outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  const execution = await bed.temporal.executionOf(id);
  expect(await errorOfReplay(bed.temporal, id, execution, 'requests')).toBeUndefined();
  const changed = variantOf(fixtureBundle(), 'You are a test.', 'You are a toast.');
  const { code, message } = (await errorOfReplay(bed.temporal, id, execution, 'requests', changed)) ?? {};
  expect([code, message]).toEqual([
    'requests-changed',
    'The model call works/t1/model has other instructions: it was "You are a test.", and is "You are a toast.". So does a later one. (run.json)',
  ]);
});

it('a run to which somebody says something while it is still being prepared replays', async () => {
  const done = { taskQueue, ...bed.scripted(script(text('Done.'))) };
  const held = (prepared = gate());
  const said: readonly { readonly signal: string; readonly given?: object }[] = [
    { signal: names.resumeSignal, given: { interruptId: 'none', answer: true } },
    { signal: names.continueAsNewSignal },
    { signal: names.cancelSignal, given: { withinMs: 60_000 } },
  ];
  const ids = await Promise.all(said.map(({ signal }) => startWithShortTasks(bed.temporal, signal, done)));
  const firsts = await Promise.all(ids.map((id) => bed.temporal.executionOf(id)));
  await Promise.all(ids.map((id) => renewed(bed.temporal, id)));
  await Promise.all(
    said.map(({ signal, given }, position) =>
      bed.temporal.handle(ids[position] ?? '').signal(signal, ...(given === undefined ? [] : [given])),
    ),
  );
  await Promise.all(ids.map((id) => renewed(bed.temporal, id)));
  held.open();
  await Promise.all(ids.map((id) => bed.client.run(id).outcome()));
  const errors = await Promise.all(ids.map((id, position) => errorOfReplay(bed.temporal, id, firsts[position] ?? '')));
  expect(errors).toEqual([undefined, undefined, undefined]);
});

it('a question ends with a run that is cancelled behind a continue-as-new before its code asks again, and the history replays', async () => {
  const refund = calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } });
  const asking = { taskQueue, ...bed.scripted(script(refund, text('As you like.'))) };
  const cancels = {
    signal: (id: string) => bed.temporal.handle(id).signal(names.cancelSignal, {}),
    server: (id: string) => bed.temporal.handle(id).cancel(),
  };
  const ids = await Promise.all(Object.keys(cancels).map((how) => startWithShortTasks(bed.temporal, how, asking, 'guarded')));
  await Promise.all(ids.map((id) => bed.client.run(id).outcome()));
  const held = (prepared = gate());
  const firsts = await Promise.all(ids.map((id) => bed.temporal.executionOf(id)));
  await Promise.all(ids.map((id) => bed.temporal.handle(id).signal(names.continueAsNewSignal)));
  await Promise.all(ids.map((id, n) => bed.temporal.untilAnotherExecution(id, firsts[n] ?? '')));
  await Promise.all(ids.map((id) => renewed(bed.temporal, id)));
  await Promise.all(Object.values(cancels).map((cancel, n) => cancel(ids[n] ?? '')));
  await Promise.all(ids.map((id) => renewed(bed.temporal, id)));
  held.open();
  for (const id of ids) {
    const run = bed.client.run(id);
    // The question is shown until the run has been prepared.
    await eventually(async () => expect((await run.outcome()).status).not.toBe('waiting'));
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    const log: RunEvent[] = [];
    for await (const event of run.events({ deltas: false })) log.push(event);
    expect(log.flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : []))).toEqual(['cancel']);
    expect(await errorOfReplay(bed.temporal, id, await bed.temporal.executionOf(id), 'requests')).toBeUndefined();
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ kind: 'approval' }] });
  }
});

it('a query waits for a quick call that outlasts its task, is answered then, and the run replays', async () => {
  const id = await startWithShortTasks(bed.temporal, 'Go.', counting);
  await queried.reached;
  let isAnswered = false;
  const reply = bed.temporal
    .handle(id)
    .query<StatusReply>(names.statusQuery)
    .finally(() => (isAnswered = true));
  await renewed(bed.temporal, id);
  await renewed(bed.temporal, id);
  expect(isAnswered).toBe(false);
  queried.open();
  expect(await reply).toMatchObject({ interrupts: [] });
  expect(await bed.client.run(id).outcome()).toMatchObject({ status: 'completed' });
  expect(await errorOfReplay(bed.temporal, id, await bed.temporal.executionOf(id))).toBeUndefined();
});

it('a run replays to which somebody says something beside a quick call that outlasts its task, when a deadline passes in the last of its tasks', async () => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(bed.temporal, 'Go.', both, 'asksInTime', '2s');
  await quick.reached;
  const tell = (): Promise<void> => bed.temporal.handle(id).signal(names.resumeSignal, { interruptId: 'none', answer: true });
  // What comes first leaves a mark in the history, and with it the end of its task. What comes after it leaves none.
  await tell();
  await renewed(bed.temporal, id);
  const [asked] = await bed.client.run(id).interrupts();
  await tell();
  await renewed(bed.temporal, id);
  await eventually(async () => expect(Date.now()).toBeGreaterThan((asked?.deadline ?? Infinity) + 200));
  quick.open();
  expect(await bed.client.run(id).result()).toBe('Done.');
  const results = (await bed.client.run(id).transcript()).filter(({ role }) => role === 'tool');
  expect(JSON.stringify(results)).toMatch(/"nobody".*"added"/);
  expect(await errorOfReplay(bed.temporal, id, await bed.temporal.executionOf(id))).toBeUndefined();
});

it('an answer that a client gives beside a quick call that outlasts its task is taken when the call is over, and the run replays', async () => {
  [quick, beside] = [gate(), gate()];
  const id = await startWithShortTasks(bed.temporal, 'Go.', both, 'asksInTime');
  await quick.reached;
  await renewed(bed.temporal, id);
  const run = bed.client.run(id);
  let isTaken = false;
  const answering = run.resume((await run.interrupts())[0]?.id ?? '', 'yes').then(() => (isTaken = true));
  await renewed(bed.temporal, id);
  await renewed(bed.temporal, id);
  expect(isTaken).toBe(false);
  quick.open();
  await answering;
  expect(await run.result()).toBe('Done.');
  expect(JSON.stringify((await run.transcript()).filter(({ role }) => role === 'tool'))).toMatch(/"yes".*"added"/);
  expect(await errorOfReplay(bed.temporal, id, await bed.temporal.executionOf(id))).toBeUndefined();
});
