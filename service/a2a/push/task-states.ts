import { createHash } from 'node:crypto';
import type { RunEvent, RunView } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import { limits, utf8Length } from '../../../contract/limits';
import type { PushNotice } from '../../../contract/task-push';
import { questionParts } from '../questions';
import { TaskFold } from '../task-fold';
import type { TaskRef } from '../task-ref';
import { ended, notTaken, takenBack } from '../task-reading';
import { taskIdOf } from '../task-ref';
import type { A2aPart, A2aStatus, A2aTaskState } from '../wire';
import { isOver } from '../wire';

/** One state of a task, and where the log says so. */
export interface ToldState {
  readonly offset: number;
  readonly status: A2aStatus;
  /** The work begins. Whoever begins a task knows that it will. */
  readonly isBegin?: true;
}

/**
 * The states of a task, made of the log alone: whoever reads it again gets the same ones. So a task that asks for something says so as soon as it asks,
 * and also when the answer is there already.
 */
export class TaskStates {
  private readonly fold: TaskFold;
  private readonly open = new Map<string, Interrupt>();
  /** Of the turn at work, until one takes the message. */
  private before: RunEvent[] = [];
  private isTaken = false;
  private hasLeft = false;

  constructor(private readonly ref: TaskRef) {
    this.fold = new TaskFold(ref);
  }

  get isOver(): boolean {
    return this.hasLeft || this.fold.isOver;
  }

  *take(event: RunEvent): Generator<ToldState, void, void> {
    if (this.isOver) return;
    if (this.isTaken) return yield* this.ofTurn(event);
    const { offset, time } = event;
    const isOfMessage = 'id' in event && event.id === this.ref.message;
    if (isOfMessage && event.type === 'message-withdrawn') return yield* this.left(offset, time, takenBack);
    if (isOfMessage && event.type === 'message-ignored') return yield* this.left(offset, time, notTaken(event.code));
    if (event.type === 'run-end') return yield* this.left(offset, time, ended);
    this.before = event.type === 'turn-start' ? [event] : [...this.before, event];
    if (!isOfMessage || event.type !== 'message') return;
    this.isTaken = true;
    for (const one of this.before) yield* this.ofTurn(one);
    this.before = [];
  }

  /** No turn has taken the message, or none will. */
  *left(offset: number, time: number, [text, state]: readonly [string, A2aTaskState]): Generator<ToldState, void, void> {
    this.hasLeft = isOver(state);
    yield { offset, status: this.statusOf(state, time, [{ text }]) };
  }

  /** The run has ended, and its log does not say so. */
  *ends({ status, nextOffset }: RunView, time: number): Generator<ToldState, void, void> {
    this.hasLeft = true;
    const state = status === 'failed' ? 'TASK_STATE_FAILED' : 'TASK_STATE_CANCELED';
    yield { offset: nextOffset, status: this.statusOf(state, time) };
  }

  private *ofTurn(event: RunEvent): Generator<ToldState, void, void> {
    const { fold, open } = this;
    for (const update of fold.take(event)) {
      if (!('statusUpdate' in update)) continue;
      const { status } = update.statusUpdate;
      yield { offset: event.offset, status, ...(status.state === 'TASK_STATE_WORKING' ? { isBegin: true } : {}) };
    }
    if (fold.turn === undefined || fold.isOver) return;
    if (event.type === 'interrupt-start') open.set(event.interrupt.id, event.interrupt);
    else if (event.type !== 'interrupt-end' || !open.delete(event.interruptId)) return;
    if (open.size > 0) yield this.state(event, 'TASK_STATE_INPUT_REQUIRED', questionParts([...open.values()]));
    else yield this.state(event, 'TASK_STATE_WORKING');
  }

  private state({ offset, time }: RunEvent, state: A2aTaskState, parts?: readonly A2aPart[]): ToldState {
    return { offset, status: this.statusOf(state, time, parts) };
  }

  private statusOf(state: A2aTaskState, time: number, parts?: readonly A2aPart[]): A2aStatus {
    const timestamp = new Date(time).toISOString();
    if (parts === undefined) return { state, timestamp };
    const { contextId } = this.ref;
    const message = { messageId: `status.${time}`, contextId, taskId: taskIdOf(this.ref), role: 'ROLE_AGENT' as const, parts };
    return { state, message, timestamp };
  }
}

/** What is sent of a state: an update, as in a stream. One that is too large has the state alone, and the task has the rest. */
export function noticeOf(ref: TaskRef, { offset, status }: ToldState): PushNotice {
  const of = { taskId: taskIdOf(ref), contextId: ref.contextId };
  const bodyOf = (shown: A2aStatus): string => JSON.stringify({ statusUpdate: { ...of, status: shown } });
  const body = bodyOf(status);
  const { message: _, ...alone } = status;
  const id = createHash('sha256')
    .update(JSON.stringify([of.taskId, offset, status.state]))
    .digest('hex');
  return { id: `msg_${id.slice(0, 32)}`, body: utf8Length(body) <= limits.pushBody ? body : bodyOf(alone) };
}
