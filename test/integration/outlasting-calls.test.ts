import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import { startInputOf } from '../../client/start-input';
import { hashOfStart, startOperation } from '../../client/start-operation';
import { names } from '../../contract/names';
import { recordHistory, replayHistories } from '../../testing/index';
import { gate } from '../support/gate';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, fixtureAgents, fixtureBundle, script, startTestBed, testServer, text } from '../support/test-bed';

const quick = gate();
const beside = gate();
const inputSchema = z.object({});
const description = 'Waits.';
const idle = defineTool({ description, inputSchema, execute: () => 'nothing' });
const tools = {
  ...Object.fromEntries(['flaky', 'slow', 'count', 'paint', 'paintSlowly', 'askInPieces', 'quickAsk'].map((name) => [name, idle])),
  add: defineTool({ description, inputSchema, quick: true, timeout: '10s', execute: () => quick.pass().then(() => 'added') }),
  work: defineTool({ description, inputSchema, execute: () => beside.pass().then(() => 'worked') }),
};

let temporal: Temporal;
let bed: TestBed;
beforeAll(async () => {
  const answer = script(calls({ name: 'work', input: {} }, { name: 'add', input: {} }), text('Done.'));
  [temporal, bed] = await Promise.all([openTemporal(), startTestBed(answer, { tools })]);
});
afterAll(async () => {
  await bed.close();
  await temporal.close();
});

it('a run whose quick call outlasts its task replays, also when another call has ended meanwhile', async () => {
  const start = startInputOf('default', 'works', 'Work.', {}, false);
  const { workflow } = new Client({ connection: temporal.connection });
  // The server renews the task of a local activity shortly before its time is up.
  await workflow.start(names.workflow, {
    ...startOperation(start, bed.taskQueue, hashOfStart(start, 'Work.'), {}),
    workflowTaskTimeout: '1s',
  });
  await Promise.all([quick.reached, beside.reached]);
  const run = bed.client.run(start.id);
  const handle = temporal.handle(start.id);
  const eventsOf = async () => (await handle.fetchHistory()).events ?? [];
  await renewed(eventsOf);
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
  expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-recorded-'));
  await recordHistory({ id: run.id, server: testServer(), file: join(directory, 'run.json') });
  const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: directory });
  expect(replayed.map(({ error }) => error)).toEqual([undefined]);
});

/** The task in which the calls began is over, and they go on. */
async function renewed(eventsOf: () => Promise<readonly { readonly workflowTaskCompletedEventAttributes?: unknown }[]>): Promise<void> {
  const tasks = async (): Promise<number> =>
    (await eventsOf()).filter((event) => event.workflowTaskCompletedEventAttributes != null).length;
  const before = await tasks();
  await eventually(async () => expect(await tasks()).toBeGreaterThan(before));
}
