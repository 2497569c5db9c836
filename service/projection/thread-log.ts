import type { RunEvent, RunView } from '../../contract/events';
import type { StoredMessage } from '../../contract/messages/messages';
import type { Thread } from './thread';

/** `to` is exclusive. `Infinity`: until the thread waits. */
export async function* eventsBetween(thread: Thread, from: number, to: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, void> {
  if (from >= to) return;
  for await (const event of thread.events({ from, until: to === Infinity ? 'waiting' : 'end', signal })) {
    if (event.offset === undefined) continue;
    if (event.offset < to) yield event;
    if (event.offset >= to - 1) return;
  }
}

export async function logBetween(thread: Thread, from: number, to: number, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const log: RunEvent[] = [];
  for await (const event of eventsBetween(thread, from, to, signal)) log.push(event);
  return log;
}

interface ReadThread {
  readonly view: RunView | undefined;
  readonly log: readonly RunEvent[];
  readonly broken?: { readonly error: unknown };
}

export async function readThread(thread: Thread, signal: AbortSignal): Promise<ReadThread> {
  const log: RunEvent[] = [];
  let view: RunView | undefined;
  let broken: ReadThread['broken'];
  try {
    view = await thread.view();
  } catch (error) {
    broken = { error };
  }
  try {
    const to = view?.nextOffset ?? (broken === undefined ? 0 : Infinity);
    for await (const event of eventsBetween(thread, 0, to, signal)) log.push(event);
  } catch (error) {
    broken ??= { error };
  }
  return { view, log, ...(broken === undefined ? {} : { broken }) };
}

/** Follows a thread from before an action: a later reader misses the first deltas, and gets only whole texts. */
export async function listen(thread: Thread, offset: number, signal: AbortSignal): Promise<void> {
  if (offset === 0) return;
  const events = thread.events({ from: offset - 1, until: 'end', signal });
  await events.next();
  void drain(events);
}

/** The stream that shows the events reports their errors. */
async function drain(events: AsyncGenerator<unknown>): Promise<void> {
  try {
    for await (const _ of events);
  } catch {
    return;
  }
}

/** A message that was withdrawn, or whose turn failed or was stopped, may be sent again. */
export function cameToNothing(message: string, log: readonly RunEvent[]): boolean {
  if (log.some((event) => event.type === 'message-withdrawn' && event.id === message)) return true;
  const said = saidIn(log, message);
  return said !== undefined && log.some((event) => event.type === 'turn-end' && event.turn === said.turn && event.status !== 'completed');
}

export function freeId(first: string, log: readonly RunEvent[], again: (nth: number) => string | undefined): string {
  let free = first;
  for (let nth = 2; cameToNothing(free, log); nth++) {
    const next = again(nth);
    if (next === undefined) return free;
    free = next;
  }
  return free;
}

export function saidIn(log: readonly RunEvent[], message: string): MessageEvent | undefined {
  return log.find((event): event is MessageEvent => event.type === 'message' && event.id === message);
}

type MessageEvent = Extract<RunEvent, { type: 'message' }>;

export function queuedIn(view: RunView | undefined, message: string): StoredMessage | undefined {
  return view?.conversation?.queue.find(({ id }) => id === message)?.message;
}
