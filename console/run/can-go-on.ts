import { rootRunId } from '../../contract/record/child-runs';
import type { ShownRun } from '../../client/http/index';

/** An isolated agent continues with its run. */
export function canGoOn({ id, error }: Pick<ShownRun, 'id' | 'error'>): boolean {
  const isEndedByServer = error?.code === 'run-terminated' || error?.code === 'run-timed-out';
  // An isolated agent's error begins with its name.
  return rootRunId(id) === id && !(isEndedByServer && !error.message.startsWith("The agent '"));
}
