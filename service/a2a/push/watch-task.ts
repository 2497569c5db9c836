import type { HoldfastClient } from '../../../client/index';
import { defined } from '../../../contract/defined';
import { isEnded } from '../../../contract/events';
import type { PushCursor, PushNews, PushNotice, WatchRequest } from '../../../contract/task-push';
import { threadOf } from '../../projection/thread';
import { TaskFold, leftBy } from '../task-fold';
import { lookFor } from '../task-reading';
import type { RunEvent } from '../../../contract/events';
import { limits, utf8Length } from '../../../contract/limits';
import { hashOf } from '../../projection/content';
import type { TaskRef } from '../task-ref';
import { taskIdOf } from '../task-ref';
import type { A2aStatus, A2aUpdate } from '../wire';

/** Waits for states after the cursor. Without a cursor: the present state. */
export async function watchTask(client: HoldfastClient, { task, cursor }: WatchRequest, signal: AbortSignal): Promise<PushNews> {
  const { agent, contextId, message } = task;
  const ref = { contextId, message };
  const thread = threadOf(client, agent, contextId);
  const { fate, view } = await lookFor(thread, ref);
  const fold = new TaskFold(ref);
  const noticesOf = (told: readonly ToldState[]): readonly PushNotice[] => told.map((one) => noticeOf(ref, one));
  if (fate !== undefined && 'left' in fate)
    return { notices: noticesOf(lastState(fold.waits(...leftBy(fate), fate.time), 0)), isOver: true };
  if (cursor === undefined && fate === undefined) {
    const waiting = fold.waits('The message waits for its turn.', 'TASK_STATE_SUBMITTED', Date.now());
    return { notices: noticesOf(lastState(waiting, 0)), cursor: { offset: view.nextOffset - 1 } };
  }

  const news = new News(cursor, view.nextOffset - 1);
  for await (const event of thread.events({ from: fate?.begins ?? 0, until: 'end', signal })) {
    if (event.offset === undefined) continue;
    for (const told of statesAt(fold, event)) news.add(told);
    if (fold.isOver) break;
    if (news.reaches(event.offset) && news.told.length > 0) break;
  }
  if (!fold.isOver && news.told.length === 0 && !signal.aborted) {
    const end = await thread.view();
    if (end !== undefined && isEnded(end.status)) for (const told of lastState(fold.stands(end), end.nextOffset)) news.add(told);
  }
  return { notices: noticesOf(news.told), ...defined({ cursor: news.cursor, isOver: fold.isOver ? (true as const) : undefined }) };
}

/** A new receiver gets only the present state. A receiver that came with the task gets no state for the beginning. */
class News {
  told: readonly ToldState[] = [];
  private hasRead = false;

  constructor(
    private readonly known: PushCursor | undefined,
    private readonly now: number,
  ) {}

  /** Undefined: the reading has not reached the present state. */
  get cursor(): PushCursor | undefined {
    const last = this.told.at(-1);
    if (last !== undefined) return { offset: last.offset };
    return this.known ?? (this.hasRead ? { offset: this.now } : undefined);
  }

  reaches(offset: number): boolean {
    this.hasRead ||= offset >= this.now;
    return this.hasRead;
  }

  add(state: ToldState): void {
    const { known, now } = this;
    if (known !== undefined && (state.isBegin || state.offset <= known.offset)) return;
    const isPast = known === undefined && state.offset <= now;
    this.told = isPast ? [state] : [...this.told, state];
  }
}

interface ToldState {
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

function lastState(updates: Iterable<A2aUpdate>, offset: number, isBegin = false): readonly ToldState[] {
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
