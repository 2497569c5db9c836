import type { HoldfastClient } from '../../client/index';
import { codeOf } from '../../contract/errors';
import { threadOf } from '../projection/thread';
import { A2aError, asKind } from './errors';
import type { Speaker } from './request';
import { TaskReading } from './task-reading';
import { taskRefOf } from './task-ref';

/** How long the answer to a cancel waits for the end of the task. */
const patienceMs = 5000;

export interface Cancelling {
  readonly client: HoldfastClient;
  readonly agent: string;
  readonly id: string;
  readonly who: Speaker;
  readonly signal: AbortSignal;
}

/** Takes a message back that waits for its turn, or stops the turn, also one that waits for people. */
export async function cancelTask({ client, agent, id, who, signal }: Cancelling): Promise<TaskReading> {
  const ref = taskRefOf(id);
  const thread = threadOf(client, agent, ref.contextId);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const { fold } = await TaskReading.open(thread, ref, signal);
  if (fold.isOver) throw new A2aError('TASK_NOT_CANCELABLE', 'task-ended', `The task "${id}" is over: ${fold.state}.`);
  if (fold.turn === undefined) {
    await thread.withdraw(ref.message).catch(notCancelable);
    return TaskReading.open(thread, ref, signal);
  }
  await thread.stop(who).catch(notCancelable);
  return (await TaskReading.open(thread, ref, patience)).settled();
}

function notCancelable(error: unknown): void {
  const code = codeOf(error);
  throw code === 'turn-unknown' || code === 'message-unknown' ? asKind('TASK_NOT_CANCELABLE', error) : error;
}
