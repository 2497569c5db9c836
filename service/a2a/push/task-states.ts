import { createHash } from 'node:crypto';
import type { RunEvent, RunView } from '../../../contract/events';
import { limits, utf8Length } from '../../../contract/limits';
import type { PushNotice } from '../../../contract/task-push';
import { TaskFold } from '../task-fold';
import type { TaskRef } from '../task-ref';
import { taskIdOf } from '../task-ref';
import type { A2aStatus, A2aUpdate } from '../wire';

export interface ToldState {
  readonly offset: number;
  readonly status: A2aStatus;
  readonly isBegin: boolean;
}

/** Built from the log alone, so all readers get the same states. A question is a state even if the log has its answer. */
export class TaskStates {
  readonly fold: TaskFold;

  constructor(ref: TaskRef) {
    this.fold = new TaskFold(ref);
  }

  *take(event: RunEvent): Generator<ToldState, void, void> {
    const { fold } = this;
    const { offset, time, type } = event;
    const updates = [...fold.take(event)];
    if (type === 'interrupt-start' || type === 'interrupt-end') updates.push(...fold.asks(time));
    yield* lastState(updates, offset, type === 'message');
  }

  left(...waits: Parameters<TaskFold['waits']>): Iterable<ToldState> {
    return lastState([...this.fold.waits(...waits)], 0);
  }

  /** The run has ended without an event. */
  ends(view: RunView): Iterable<ToldState> {
    return lastState([...this.fold.stands(view)], view.nextOffset);
  }
}

function* lastState(updates: readonly A2aUpdate[], offset: number, isBegin = false): Generator<ToldState, void, void> {
  const last = updates.flatMap((update) => ('statusUpdate' in update ? [update.statusUpdate.status] : [])).at(-1);
  if (last !== undefined) yield { offset, status: last, isBegin };
}

/** A body over the limit has the state alone, and the client reads the task. */
export function noticeOf(ref: TaskRef, { offset, status }: Pick<ToldState, 'offset' | 'status'>): PushNotice {
  const of = { taskId: taskIdOf(ref), contextId: ref.contextId };
  const bodyOf = (shown: A2aStatus): string => JSON.stringify({ statusUpdate: { ...of, status: shown } });
  const body = bodyOf(status);
  const { message: _, ...alone } = status;
  const id = createHash('sha256')
    .update(JSON.stringify([of.taskId, offset, status.state]))
    .digest('hex');
  return { id: `msg_${id.slice(0, 32)}`, body: utf8Length(body) <= limits.pushBody ? body : bodyOf(alone) };
}
