import { rootRunId } from '../../contract/record/child-runs';
import type { ShownRun } from '../../http/index';

/** Whether a run that has failed, or was cancelled, can go on. An isolated agent goes on with its run, and what the server ended has kept nothing. */
export function canGoOn({ id, error }: Pick<ShownRun, 'id' | 'error'>): boolean {
  const isEndedByServer = error?.code === 'run-terminated' || error?.code === 'run-timed-out';
  // The failure of an isolated agent inside of the run names it.
  return rootRunId(id) === id && !(isEndedByServer && !error.message.startsWith("The agent '"));
}
