import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';
import { asksAgain, loadsAgain } from '../contract/news';
import { isTaskOfItsOwn } from './sdk-internals';

const before = {
  /** The activation before this one: its history, and its task. */
  length: Infinity,
  task: '',
  /** Its code was not woken. */
  isHeld: false,
  /** How many tasks have come since the run was loaded, besides those of a replay. */
  tasks: 0,
  /** The commands of the task. Each makes an event. */
  commands: new Set<unknown>(),
};

/** A task has at least these events beside those of its commands: the end of the task before, its own schedule and its own start. */
const ofATask = 3;

/**
 * Whether an activation has events that no task of this worker has brought. A query that is a task of its own loads a run with all events that its history
 * has, and so gives the run events apart from what comes with the task for them. Code that went on with these events would see them at another time than
 * a replay, and the run would be stuck. Temporal's core lets go of a run whose query has failed, and its next task brings all events from the history.
 *
 * - No task has started for the events: the time and the size of the history are those of the task before. The code is not woken, and the query fails.
 * - A task has started for the events in another worker, where it may time out. If the query loads the run, the events are the first ones after the
 *   replay, and the query fails. In a run that was loaded before, history then has fewer events than commands, and the next task fails.
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

/** Neither a command nor its cancel in the same task makes an event. */
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
