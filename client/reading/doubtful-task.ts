import type { temporal } from '@temporalio/proto';
import type { HistoryFold } from '../../contract/record/fold';

/** Later attempts of a task stand in no history. */
const manyAttempts = 3;

/** Takes what the server's count of attempts says of a task whose first one failed for the sake of another run: nothing, or that it fails by itself. */
export function settleDoubt(fold: HistoryFold, task: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined): void {
  const attempt = task?.attempt ?? 0;
  if (!fold.inDoubt || attempt < manyAttempts) return;
  fold.add({ kind: 'task-failed', time: Date.now(), message: `Its task has failed ${attempt - 1} times. The log of the worker says why.` });
}
