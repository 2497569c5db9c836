import type { temporal } from '@temporalio/proto';
import type { HistoryFact } from '../../contract/record/history-fact';

/** Later attempts of a task stand in no history. */
const manyAttempts = 3;

/** What the server's count of attempts says of a task whose first one failed for the sake of another run: nothing, or that this one fails by itself. */
export function doubtOf(task: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined): readonly HistoryFact[] {
  const attempt = task?.attempt ?? 0;
  if (attempt < manyAttempts) return [];
  return [{ kind: 'task-failed', time: Date.now(), message: `Its task has failed ${attempt - 1} times. The log of the worker says why.` }];
}
