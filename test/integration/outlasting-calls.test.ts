import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import { SwitchedParts } from '../../worker/switched-parts';
import { fixtureTools } from '../fixtures/tools';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { errorOfReplay, renewed, startWithShortTasks } from '../support/short-tasks';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import type { Answerer } from '../support/test-bed';
import { calls, script, text } from '../support/test-bed';

let quick: Gate;
let beside: Gate;
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
  add: defineTool({ description, inputSchema, timeout: '10s', execute: () => quick.pass().then(() => 'added') }),
  work: defineTool({ description, inputSchema, execute: () => beside.pass().then(() => 'worked') }),
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

it('a run to which somebody says something while it is still being prepared replays', async () => {
  const done = { taskQueue, ...bed.scripted(script(text('Done.'))) };
  const held = (prepared = gate());
  const said: readonly { readonly signal: string; readonly given?: object }[] = [
    { signal: names.answerSignal, given: { interruptId: 'none', answer: true } },
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
