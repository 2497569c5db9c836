import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';
import { asksAgain, loadsAgain } from '../contract/news';

/** The activation before this one: its history and its task, whether its code was not woken, and how many events its commands make at least. */
const before = { length: Infinity, task: '', isHeld: false, events: 0 };

/** A task has at least these events beside those of its commands: the end of the task before, its own schedule and its own start. */
const ofATask = 3;

/**
 * Whether an activation has events that no task of this worker has brought. A query loads a run with all events that its history has, and so gives the
 * run events apart from what comes with the task for them. Code that went on with these events would see them at another time than a replay, and the run
 * would be stuck.
 *
 * - No task has started for the events: the time and the size of the history are those of the task before. The code is not woken, and the query behind
 *   the events fails: Temporal's core then lets go of the run, and its next task brings all events from the history.
 * - A task has started for the events, in another worker, and times out: nobody can tell when the query comes, and the code goes on. History then has too
 *   few events for the commands of the code. The next task fails, for the same end.
 */
export function isHeld({ activation: { jobs, timestamp, historyLength, historySizeBytes }, batchIndex }: ActivateInput): boolean {
  if (batchIndex > 0) return before.isHeld;
  if (before.isHeld) throw new Error(asksAgain);
  if (jobs?.some(({ queryWorkflow }) => queryWorkflow) === true) return false;
  const task = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].map(String).join(' ');
  const length = historyLength ?? 0;
  if (length > before.length) {
    before.isHeld = task === before.task;
    if (!before.isHeld && before.events > 0 && length < before.length + before.events + ofATask) throw new Error(loadsAgain);
    before.events = 0;
  }
  Object.assign(before, { length, task });
  return before.isHeld;
}

/** A cancel may take back a command of the same activation, so that neither makes an event. */
export function countCommands(commands: ConcludeActivationInput['commands']): void {
  for (const command of commands) {
    const made =
      command.scheduleActivity ?? command.startTimer ?? command.startChildWorkflowExecution ?? command.signalExternalWorkflowExecution;
    const taken =
      command.requestCancelActivity ?? command.cancelTimer ?? command.cancelChildWorkflowExecution ?? command.cancelSignalWorkflow;
    if (made ?? command.modifyWorkflowProperties ?? command.upsertWorkflowSearchAttributes) before.events += 1;
    else if (taken) before.events -= 1;
  }
}
