import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporal as protocol } from '@temporalio/proto';
import { saveHistories } from '../../client/record-history';
import { codeOf } from '../../contract/errors';
import { readHistories } from '../../host/history/history-files';
import { replayHistories } from '../../testing/index';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { agentsPath } from '../parity/bed';
import { testServer } from '../support/test-bed';

const { WorkflowTaskFailedCause } = protocol.api.enums.v1;

export interface Examined {
  readonly tasks: number;
  readonly timeouts: number;
  readonly failedTasks: number;
  readonly histories: number;
  readonly problems: readonly string[];
}

export async function keepHistories(ids: readonly string[], folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [position, id] of ids.entries())
    await saveHistories({ id, file: join(folder, `${position}.json`), server: testServer() }).catch((error: unknown) => {
      if (codeOf(error) !== 'run-unknown') throw error;
    });
}

export async function examine(folder: string, bundle: WorkflowBundle): Promise<Examined> {
  const files = await readHistories(folder);
  const counts = { tasks: 0, timeouts: 0, failedTasks: 0 };
  const problems: string[] = [];
  for (const { id, history } of files)
    for (const event of history.events ?? []) {
      if (event.workflowTaskScheduledEventAttributes != null) counts.tasks += 1;
      if (event.workflowTaskTimedOutEventAttributes != null) counts.timeouts += 1;
      const failed = event.workflowTaskFailedEventAttributes;
      if (failed == null) continue;
      counts.failedTasks += 1;
      const message = failed.failure?.message ?? '';
      if (failed.cause === WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR || /nondeterminis/i.test(message))
        problems.push(`task failed at event ${String(event.eventId)} of ${id}: ${message.slice(0, 300)}`);
    }
  const replayed = await replayHistories({ agents: agentsPath, bundle, histories: folder, changes: 'requests' });
  for (const { id, error } of replayed)
    if (error !== undefined) problems.push(`${id} does not replay: ${error.code}: ${error.message.slice(0, 300)}`);
  return { ...counts, histories: files.length, problems };
}

export function forget(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
