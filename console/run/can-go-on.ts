import { rootRunId } from '../../contract/record/child-runs';
import type { ShownRun } from '../../http/index';

/** Whether a failed or cancelled run can go on. An isolated agent goes on with its run. A run that the server ended cannot go on. */
export function canGoOn({ id, error }: Pick<ShownRun, 'id' | 'error'>): boolean {
  const isEndedByServer = error?.code === 'run-terminated' || error?.code === 'run-timed-out';
  // The code may also be of an isolated agent, whose name begins the message.
  return rootRunId(id) === id && !(isEndedByServer && !error.message.startsWith("The agent '"));
}
