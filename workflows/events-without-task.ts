import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';
import { asksAgain, loadsAgain } from '../contract/news';
import { isTaskOfItsOwn } from './sdk-internals';

const before = {
  length: Infinity,
  task: '',
  isHeld: false,
  /** Tasks since the run was loaded, without tasks of a replay. */
  tasks: 0,
  commands: new Set<unknown>(),
};

/** Besides the events of its commands, a task has the end of the previous task, its own schedule and its own start. */
const ofATask = 3;

/**
 * Whether an activation has events that did not arrive with a task of this worker, as with a query that is a task of its own. Code that sees
 * such events differs from a replay, and the run is stuck: docs/decisions/histories-and-replay.md.
 */
export function isHeld({ activation, batchIndex }: ActivateInput): boolean {
  if (batchIndex > 0) return before.isHeld;
  const { timestamp, historyLength, historySizeBytes, isReplaying } = activation;
  const jobs = activation.jobs ?? [];
  if (before.isHeld || (before.tasks === 1 && isTaskOfItsOwn(jobs))) throw new Error(asksAgain);
  if (jobs.some(({ queryWorkflow }) => queryWorkflow)) return false;
  const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].map(String).join(' ');
  const length = historyLength ?? 0;
  if (length !== before.length && isReplaying !== true) before.tasks += 1;
  if (length > before.length) {
    before.isHeld = task === before.task;
    const { size } = before.commands;
    if (!before.isHeld && size > 0 && length < before.length + size + ofATask) throw new Error(loadsAgain);
    before.commands.clear();
  }
  Object.assign(before, { length, task });
  return before.isHeld;
}

/** A command and its cancel in the same task make no event. */
export function countCommands(commands: ConcludeActivationInput['commands']): void {
  for (const command of commands) {
    const { scheduleActivity, startTimer, startChildWorkflowExecution, modifyWorkflowProperties, upsertWorkflowSearchAttributes } = command;
    if (scheduleActivity) before.commands.add(`activity ${scheduleActivity.seq}`);
    if (startTimer) before.commands.add(`timer ${startTimer.seq}`);
    if (startChildWorkflowExecution) before.commands.add(`child ${startChildWorkflowExecution.seq}`);
    if (modifyWorkflowProperties ?? upsertWorkflowSearchAttributes) before.commands.add(command);
    const { requestCancelActivity, cancelTimer, cancelChildWorkflowExecution } = command;
    if (requestCancelActivity) before.commands.delete(`activity ${requestCancelActivity.seq}`);
    if (cancelTimer) before.commands.delete(`timer ${cancelTimer.seq}`);
    if (cancelChildWorkflowExecution) before.commands.delete(`child ${cancelChildWorkflowExecution.childWorkflowSeq}`);
  }
}
