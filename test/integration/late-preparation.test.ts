import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Client } from '@temporalio/client';
import type { HoldfastError } from '../../contract/errors';
import { names } from '../../contract/names';
import type { ReplayOptions } from '../../testing/index';
import { replayHistories } from '../../testing/index';
import { SwitchedParts } from '../../worker/builds/switched-parts';
import type { Gate } from '../support/gate';
import { gate } from '../support/gate';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, fixtureAgents, fixtureBundle, script, text } from '../support/test-bed';

/** Holds runs before preparation while a test has opened a gate. */
let prepared: Gate | undefined;
const { activitiesOf } = SwitchedParts.prototype;
const slowly = jest.spyOn(SwitchedParts.prototype, 'activitiesOf').mockImplementation(function (this: SwitchedParts, buildId) {
  const { prepareRun, ...activities } = activitiesOf.call(this, buildId);
  return { ...activities, prepareRun: async (...request) => (await prepared?.pass(), prepareRun(...request)) };
});

const bed = sharedBed();
afterEach(() => {
  prepared?.open();
  prepared = undefined;
});
afterAll(() => slowly.mockRestore());

async function heard(id: string): Promise<void> {
  await eventually(async () => {
    const kinds = ((await bed.temporal.handle(id).fetchHistory()).events ?? []).map((event) => {
      if (event.workflowTaskCompletedEventAttributes) return 'task';
      return event.workflowExecutionSignaledEventAttributes || event.workflowExecutionCancelRequestedEventAttributes ? 'sent' : 'other';
    });
    expect(kinds).toContain('sent');
    expect(kinds.lastIndexOf('task')).toBeGreaterThan(kinds.lastIndexOf('sent'));
  });
}

async function errorOfReplay(
  id: string,
  runId: string,
  changes: ReplayOptions['changes'] = 'commands',
): Promise<HoldfastError | undefined> {
  const { connection, handle } = bed.temporal;
  const history = await new Client({ connection }).workflow.getHandle(handle(id).workflowId, runId).fetchHistory();
  const histories = mkdtempSync(join(tmpdir(), 'holdfast-recorded-'));
  writeFileSync(join(histories, 'run.json'), historyToJSON(history));
  const [replayed] = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories, changes });
  expect(replayed).toBeDefined();
  return replayed?.error;
}

it('a run to which somebody says something while it is still being prepared replays', async () => {
  const done = bed.scripted(script(text('Done.')));
  const held = (prepared = gate());
  const said: readonly { readonly signal: string; readonly given?: object }[] = [
    { signal: names.answerSignal, given: { interruptId: 'none', answer: true } },
    { signal: names.continueAsNewSignal },
    { signal: names.cancelSignal, given: { withinMs: 60_000 } },
  ];
  const runs = await Promise.all(said.map(({ signal }) => done.start('works', signal)));
  const firsts = await Promise.all(runs.map(({ id }) => bed.temporal.executionOf(id)));
  await Promise.all(runs.map(({ id }) => bed.temporal.untilEntered(id)));
  await Promise.all(
    said.map(({ signal, given }, position) =>
      bed.temporal.handle(runs[position]?.id ?? '').signal(signal, ...(given === undefined ? [] : [given])),
    ),
  );
  await Promise.all(runs.map(({ id }) => heard(id)));
  held.open();
  await Promise.all(runs.map((run) => run.outcome()));
  const errors = await Promise.all(runs.map(({ id }, position) => errorOfReplay(id, firsts[position] ?? '')));
  expect(errors).toEqual([undefined, undefined, undefined]);
});

it('a question ends with a run that is cancelled after a continue-as-new before its code asks again, and the history replays', async () => {
  const refund = calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } });
  const asking = bed.scripted(script(refund, text('As you like.')));
  const cancels = {
    signal: (id: string) => bed.temporal.handle(id).signal(names.cancelSignal, {}),
    server: (id: string) => bed.temporal.handle(id).cancel(),
  };
  const runs = await Promise.all(Object.keys(cancels).map((how) => asking.start('guarded', how)));
  await Promise.all(runs.map((run) => run.outcome()));
  const held = (prepared = gate());
  const firsts = await Promise.all(runs.map(({ id }) => bed.temporal.executionOf(id)));
  await Promise.all(runs.map(({ id }) => bed.temporal.handle(id).signal(names.continueAsNewSignal)));
  await Promise.all(runs.map(({ id }, n) => bed.temporal.untilAnotherExecution(id, firsts[n] ?? '')));
  await Promise.all(runs.map(({ id }) => bed.temporal.untilEntered(id)));
  await Promise.all(Object.values(cancels).map((cancel, n) => cancel(runs[n]?.id ?? '')));
  await Promise.all(runs.map(({ id }) => heard(id)));
  held.open();
  for (const run of runs) {
    await eventually(async () => expect((await run.outcome()).status).not.toBe('waiting'));
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : []))).toEqual(['cancel']);
    expect(await errorOfReplay(run.id, await bed.temporal.executionOf(run.id), 'requests')).toBeUndefined();
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ kind: 'approval' }] });
  }
});
