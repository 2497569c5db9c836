import type { HoldfastClient } from '../../../client/index';
import { defined } from '../../../contract/defined';
import { isEnded } from '../../../contract/events';
import type { PushCursor, PushNews, PushNotice, WatchRequest } from '../../../contract/task-push';
import { threadOf } from '../../projection/thread';
import { lookFor, notTaken, takenBack } from '../task-reading';
import type { ToldState } from './task-states';
import { TaskStates, noticeOf } from './task-states';

/**
 * Waits for states of a task that its cursor does not know, and gives those that are there then. Without a cursor: how it stands. Nothing is new when the
 * signal ends it.
 */
export async function watchTask(client: HoldfastClient, { task, cursor }: WatchRequest, signal: AbortSignal): Promise<PushNews> {
  const { agent, contextId, message } = task;
  const ref = { contextId, message };
  const thread = threadOf(client, agent, contextId);
  const { fate, view } = await lookFor(thread, ref);
  const states = new TaskStates(ref);
  const noticesOf = (told: Iterable<ToldState>): readonly PushNotice[] => [...told].map((one) => noticeOf(ref, one));
  if (fate !== undefined && 'left' in fate) {
    const left = fate.left === 'ignored' ? notTaken(fate.code) : takenBack;
    return { notices: noticesOf(states.left(0, fate.time, left)), isOver: true };
  }
  if (cursor === undefined && fate === undefined)
    return { notices: noticesOf(states.left(0, Date.now(), stillWaits)), cursor: { offset: view.nextOffset - 1 } };

  const news = new News(cursor, view.nextOffset - 1);
  for await (const event of thread.events({ from: fate?.begins ?? 0, until: 'end', signal })) {
    if (event.offset === undefined) continue;
    for (const told of states.take(event)) news.add(told);
    if (states.isOver) break;
    if (news.reaches(event.offset) && news.told.length > 0) break;
  }
  if (!states.isOver && news.told.length === 0 && !signal.aborted) {
    const end = await thread.view();
    if (end !== undefined && isEnded(end.status)) for (const told of states.ends(end, Date.now())) news.add(told);
  }
  return { notices: noticesOf(news.told), ...defined({ cursor: news.cursor, isOver: states.isOver ? (true as const) : undefined }) };
}

const stillWaits = ['The message waits for its turn.', 'TASK_STATE_SUBMITTED'] as const;

/**
 * What a receiver has not been told. One that comes later is told how the task stands, and not how it came there. One that comes with the task is not told
 * that it begins.
 */
class News {
  told: readonly ToldState[] = [];
  private hasRead = false;

  constructor(
    private readonly known: PushCursor | undefined,
    private readonly now: number,
  ) {}

  /** Undefined: it does not know yet how the task stands. */
  get cursor(): PushCursor | undefined {
    const last = this.told.at(-1);
    if (last !== undefined) return { offset: last.offset };
    return this.known ?? (this.hasRead ? { offset: this.now } : undefined);
  }

  /** The log is read up to there. */
  reaches(offset: number): boolean {
    this.hasRead ||= offset >= this.now;
    return this.hasRead;
  }

  add(state: ToldState): void {
    const { known, now } = this;
    if (known !== undefined && (state.isBegin === true || state.offset <= known.offset)) return;
    const isPast = known === undefined && state.offset <= now;
    this.told = isPast ? [state] : [...this.told, state];
  }
}
