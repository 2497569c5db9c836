import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import type { MessageFate } from '../../client/conversations/conversation';
import type { Thread } from '../projection/thread';
import { eventsBetween, queuedIn } from '../projection/thread-log';
import { TaskFold, drain, ended, leftBy } from './task-fold';
import type { TaskRef } from './task-ref';
import { taskIdOf, taskUnknown } from './task-ref';
import type { A2aUpdate } from './wire';

export class TaskReading {
  private offset = 0;
  private isRead = false;

  private constructor(
    readonly thread: Thread,
    readonly fold: TaskFold,
    private readonly signal: AbortSignal,
    /** At the start of the reading. Undefined: the task has just begun its context. */
    readonly view: RunView | undefined,
  ) {}

  static async open(thread: Thread, ref: TaskRef, signal: AbortSignal): Promise<TaskReading> {
    const { fate, view } = await lookFor(thread, ref);
    const fold = new TaskFold(ref);
    const reading = new TaskReading(thread, fold, signal, view);
    if (fate !== undefined && 'left' in fate) drain(fold.waits(...leftBy(fate), fate.time));
    else if (fate !== undefined) await reading.readTurn(fate.begins, view);
    drain(reading.stands(view));
    reading.offset = Math.max(reading.offset, view.nextOffset);
    return reading;
  }

  /** For a message that has just begun its context: the log's first events tell which turn took the message. */
  static async begun(thread: Thread, ref: TaskRef, signal: AbortSignal): Promise<TaskReading> {
    const fold = new TaskFold(ref);
    for await (const event of thread.events({ from: 0, until: 'waiting', signal })) {
      if (event.offset === undefined) continue;
      // Another client began the context at the same moment.
      if (event.type === 'message-queued' && event.id === ref.message) break;
      drain(fold.take(event));
      if (fold.turn === undefined) continue;
      const reading = new TaskReading(thread, fold, signal, undefined);
      reading.offset = event.offset + 1;
      return reading;
    }
    return TaskReading.open(thread, ref, signal);
  }

  async *updates(): AsyncGenerator<A2aUpdate, void, void> {
    const { thread, fold, signal } = this;
    while (!fold.isOver && !this.isRead) {
      for await (const event of thread.events({ from: this.offset, until: 'waiting', signal })) {
        if (event.offset !== undefined) this.offset = event.offset + 1;
        yield* fold.take(event);
        if (fold.isOver) return;
      }
      if (signal.aborted) return;
      const view = await viewOf(thread, fold.ref);
      // The run went on while the view was read.
      if (view?.status === 'running' || (view !== undefined && view.nextOffset > this.offset)) continue;
      if (view !== undefined) yield* this.stands(view);
      return;
    }
  }

  remarked(text: string): this {
    drain(this.fold.remark(text));
    this.isRead = true;
    return this;
  }

  async settled(): Promise<this> {
    for await (const _ of this.updates());
    return this;
  }

  private async readTurn(from: number, { nextOffset }: RunView): Promise<void> {
    const { thread, fold, signal } = this;
    for await (const event of eventsBetween(thread, from, nextOffset, signal)) {
      drain(fold.take(event));
      this.offset = event.offset + 1;
      if (fold.isOver) return;
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

interface TaskStanding {
  readonly fate: MessageFate | undefined;
  readonly view: RunView;
}

export async function lookFor(thread: Thread, ref: TaskRef): Promise<TaskStanding> {
  for (;;) {
    const view = await viewOf(thread, ref);
    const fate = view === undefined ? undefined : await thread.fateOf(ref.message);
    if (view === undefined || (fate === undefined && queuedIn(view, ref.message) === undefined)) throw taskUnknown(taskIdOf(ref));
    // A turn may have taken the message after the view was read.
    if (fate === undefined || 'left' in fate || fate.offset < view.nextOffset) return { fate, view };
  }
}

/** Hides the conversations of other agents. */
async function viewOf(thread: Thread, ref: TaskRef): Promise<RunView | undefined> {
  try {
    return await thread.view();
  } catch (error) {
    const isUnknown = ['run-id-in-use', 'not-a-conversation', 'run-unknown'].includes(codeOf(error) ?? '');
    throw isUnknown ? new HoldfastError('task-unknown', taskUnknown(taskIdOf(ref)).message, { cause: error }) : error;
  }
}
