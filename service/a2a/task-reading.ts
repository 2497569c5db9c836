import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { MessageFate } from '../../client/message-fate';
import type { Thread } from '../projection/thread';
import { TaskFold } from './task-fold';
import type { TaskRef } from './task-ref';
import { taskIdOf, taskUnknown } from './task-ref';
import type { A2aUpdate } from './wire';

const nobodys = new Set<string | undefined>(['run-id-in-use', 'not-a-conversation', 'run-unknown']);

/** A task as the log has it, and how it goes on. */
export class TaskReading {
  /** From where on the log says something new. */
  private offset = 0;
  private isRead = false;

  private constructor(
    private readonly thread: Thread,
    readonly ref: TaskRef,
    readonly fold: TaskFold,
    private readonly signal: AbortSignal,
    /** As it was when the reading began. Undefined: the task has begun its context, and nobody has looked. */
    readonly view: RunView | undefined,
  ) {}

  /** Throws `task-unknown`. */
  static async open(thread: Thread, ref: TaskRef, signal: AbortSignal): Promise<TaskReading> {
    const { fate, view } = await lookFor(thread, ref);
    const fold = new TaskFold(ref);
    const reading = new TaskReading(thread, ref, fold, signal, view);
    if (fate !== undefined && 'left' in fate) {
      const [text, state] = fate.left === 'ignored' ? notTaken(fate.code) : takenBack;
      drain(fold.waits(text, state, fate.time));
    } else if (fate !== undefined) await reading.readTurn(fate.begins, view);
    drain(reading.stands(view));
    reading.offset = Math.max(reading.offset, view.nextOffset);
    return reading;
  }

  /** Of a message that has begun its context. The log that the reader follows anyway says at once which turn took it. */
  static async begun(thread: Thread, ref: TaskRef, signal: AbortSignal): Promise<TaskReading> {
    let turn: RunEvent[] = [];
    for await (const event of thread.events({ from: 0, until: 'waiting', signal })) {
      if (event.offset === undefined) continue;
      turn = event.type === 'turn-start' ? [event] : [...turn, event];
      // Somebody else has begun the context at the same moment.
      if (event.type === 'message-queued' && event.id === ref.message) break;
      if (event.type !== 'message' || event.id !== ref.message) continue;
      const fold = new TaskFold(ref);
      for (const one of turn) drain(fold.take(one));
      const reading = new TaskReading(thread, ref, fold, signal, undefined);
      reading.offset = event.offset + 1;
      return reading;
    }
    return TaskReading.open(thread, ref, signal);
  }

  /** What is new of the task, until it is over or waits for somebody. */
  async *updates(): AsyncGenerator<A2aUpdate, void, void> {
    const { thread, ref, fold, signal } = this;
    while (!fold.isOver && !this.isRead) {
      let before: RunEvent[] = [];
      for await (const event of thread.events({ from: this.offset, until: 'waiting', signal })) {
        if (event.offset !== undefined) this.offset = event.offset + 1;
        if (fold.turn !== undefined) yield* fold.take(event);
        else if (event.offset !== undefined) {
          // The turn may have begun before it takes the message.
          before = event.type === 'turn-start' ? [event] : [...before, event];
          if (event.type === 'message' && event.id === ref.message) for (const one of before) yield* fold.take(one);
          if (event.type === 'message-withdrawn' && event.id === ref.message) yield* fold.waits(...takenBack, event.time);
        }
        if (fold.isOver) return;
      }
      if (signal.aborted) return;
      const view = await viewOf(thread, ref);
      // It went on, or somebody answered, while the view was read.
      if (view?.status === 'running' || (view !== undefined && view.nextOffset > this.offset)) continue;
      if (view !== undefined) yield* this.stands(view);
      return;
    }
  }

  /** The same, with a word beside what it asks. Then it is not followed. */
  remarked(text: string): this {
    drain(this.fold.remark(text));
    this.isRead = true;
    return this;
  }

  /** Reads on until the task is over or waits for somebody. */
  async settled(): Promise<this> {
    for await (const _ of this.updates());
    return this;
  }

  private async readTurn(from: number, { nextOffset }: RunView): Promise<void> {
    const { thread, fold, signal } = this;
    for await (const event of thread.events({ from, until: 'end', signal })) {
      if (event.offset === undefined) continue;
      drain(fold.take(event));
      this.offset = event.offset + 1;
      if (fold.isOver || event.offset >= nextOffset - 1) return;
    }
  }

  private *stands(view: RunView): Generator<A2aUpdate, void, void> {
    const { fold } = this;
    if (fold.turn !== undefined) return yield* fold.stands(view);
    if (fold.isOver || view.status === 'running') return;
    if (view.status === 'waiting')
      yield* fold.waits('The message waits for its turn: the one before waits for somebody.', 'TASK_STATE_SUBMITTED');
    else if (view.conversation?.status === 'ended') yield* fold.waits(...ended);
    else yield* fold.waits('The message waits for its turn.', 'TASK_STATE_SUBMITTED');
  }
}

export const takenBack = ['Somebody took the message back.', 'TASK_STATE_CANCELED'] as const;

export const ended = ['The conversation has ended.', 'TASK_STATE_REJECTED'] as const;

export function notTaken(code: string | undefined): readonly [string, 'TASK_STATE_REJECTED'] {
  return [`No turn took the message: ${code ?? 'it did not count'}.`, 'TASK_STATE_REJECTED'];
}

export interface TaskStanding {
  /** Undefined: the message waits. */
  readonly fate: MessageFate | undefined;
  readonly view: RunView;
}

/** Where a task stands. Throws `task-unknown`. */
export async function lookFor(thread: Thread, ref: TaskRef): Promise<TaskStanding> {
  for (;;) {
    const view = await viewOf(thread, ref);
    const fate = view === undefined ? undefined : await thread.fateOf(ref.message);
    const isQueued = view?.conversation?.queue.some(({ id }) => id === ref.message) === true;
    if (view === undefined || (fate === undefined && !isQueued)) throw taskUnknown(taskIdOf(ref));
    // A turn may have taken the message between the two looks.
    if (fate === undefined || 'left' in fate || fate.offset < view.nextOffset) return { fate, view };
  }
}

/** What belongs to others is not there. */
async function viewOf(thread: Thread, ref: TaskRef): Promise<RunView | undefined> {
  try {
    return await thread.view();
  } catch (error) {
    throw nobodys.has(codeOf(error)) ? new HoldfastError('task-unknown', taskUnknown(taskIdOf(ref)).message, { cause: error }) : error;
  }
}

function drain(updates: Generator<unknown>): void {
  for (const _ of updates);
}
