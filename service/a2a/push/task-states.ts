import type { RunEvent } from '../../../contract/events';
import { limits, utf8Length } from '../../../contract/limits';
import type { PushNotice } from '../../../contract/task-push';
import { hashOf } from '../../projection/content';
import type { TaskFold } from '../task-fold';
import type { TaskRef } from '../task-ref';
import { taskIdOf } from '../task-ref';
import type { A2aStatus, A2aUpdate } from '../wire';

export interface ToldState {
  readonly offset: number;
  readonly status: A2aStatus;
  readonly isBegin: boolean;
}

/** Read from the log alone, so all readers get the same states. A question is a state even if the log has its answer. */
export function statesAt(fold: TaskFold, event: RunEvent): readonly ToldState[] {
  const { offset, time, type } = event;
  const updates = [...fold.take(event)];
  if (type === 'interrupt-start' || type === 'interrupt-end') updates.push(...fold.asks(time));
  return lastState(updates, offset, type === 'message');
}

export function lastState(updates: Iterable<A2aUpdate>, offset: number, isBegin = false): readonly ToldState[] {
  const states = [...updates].flatMap((update) => ('statusUpdate' in update ? [update.statusUpdate.status] : []));
  return states.slice(-1).map((status) => ({ offset, status, isBegin }));
}

/** A body over the limit has the state alone, and the client reads the task. */
export function noticeOf(ref: TaskRef, { offset, status }: Pick<ToldState, 'offset' | 'status'>): PushNotice {
  const of = { taskId: taskIdOf(ref), contextId: ref.contextId };
  const bodyOf = (shown: A2aStatus): string => JSON.stringify({ statusUpdate: { ...of, status: shown } });
  const body = bodyOf(status);
  const { message: _, ...alone } = status;
  const id = `msg_${hashOf(JSON.stringify([of.taskId, offset, status.state]), 32)}`;
  return { id, body: utf8Length(body) <= limits.pushBody ? body : bodyOf(alone) };
}
