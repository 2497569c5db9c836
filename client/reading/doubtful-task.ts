import type { temporal } from '@temporalio/proto';
import type { HistoryFold } from '../../contract/record/fold';

/** Histories do not show later attempts of a workflow task. */
const manyAttempts = 3;

export function settleDoubt(fold: HistoryFold, task: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined): void {
  if (!fold.inDoubt) return;
  const attempt = task?.attempt ?? 0;
  // A new event, for example a signal, sets the server's count back to 1.
  fold.doubt =
    attempt < manyAttempts ? undefined : `Its task has failed or timed out ${attempt - 1} times. The log of the worker says why.`;
}
