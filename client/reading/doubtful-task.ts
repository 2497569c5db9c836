import type { temporal } from '@temporalio/proto';
import type { HistoryFold } from '../../contract/record/fold';

/** Histories do not show later attempts of a workflow task. */
const manyAttempts = 3;

export function settleDoubt(fold: HistoryFold, task: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined): void {
  const attempt = task?.attempt ?? 0;
  if (!fold.inDoubt || attempt < manyAttempts) return;
  fold.add({ kind: 'task-failed', time: Date.now(), message: `Its task has failed ${attempt - 1} times. The log of the worker says why.` });
}
