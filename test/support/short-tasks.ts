import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { startInputOf } from '../../client/start-input';
import { hashOfStart, startOperation } from '../../client/start-operation';
import type { HoldfastError } from '../../contract/errors';
import { defined } from '../../contract/defined';
import { names } from '../../contract/names';
import type { ReplayOptions } from '../../testing/index';
import { replayHistories } from '../../testing/index';
import type { Scripted } from './shared-bed';
import type { Temporal } from './temporal';
import { eventually } from './temporal';
import type { TestBed } from './test-bed';
import { fixtureAgents, fixtureBundle } from './test-bed';

/** The server renews the task of a local activity shortly before its time is up. */
export async function startWithShortTasks(
  { connection }: Temporal,
  input: string,
  { taskQueue, model }: Pick<TestBed, 'taskQueue'> & Partial<Pick<Scripted, 'model'>>,
  agent = 'works',
  workflowTaskTimeout: '1s' | '2s' = '1s',
): Promise<string> {
  const start = startInputOf('default', agent, input, defined({ model }), false);
  const operation = startOperation(start, taskQueue, hashOfStart(start, input), {});
  await new Client({ connection }).workflow.start(names.workflow, { ...operation, workflowTaskTimeout });
  return start.id;
}

/** Settles when the task of a local activity is over, which goes on. */
export async function renewed({ handle }: Temporal, id: string): Promise<void> {
  const tasks = async (): Promise<number> =>
    ((await handle(id).fetchHistory()).events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes != null).length;
  const before = await tasks();
  await eventually(async () => expect(await tasks()).toBeGreaterThan(before));
}

/** Why the code does not do again what an execution has. */
export async function errorOfReplay(
  { connection, handle }: Temporal,
  id: string,
  runId: string,
  changes: ReplayOptions['changes'] = 'commands',
  bundle = fixtureBundle(),
): Promise<HoldfastError | undefined> {
  const { workflowId } = handle(id);
  const history = await new Client({ connection }).workflow.getHandle(workflowId, runId).fetchHistory();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-recorded-'));
  writeFileSync(join(directory, 'run.json'), historyToJSON(history));
  const [replayed] = await replayHistories({ agents: fixtureAgents, bundle, histories: directory, changes });
  return replayed?.error;
}
