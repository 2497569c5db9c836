import type { Delta } from '../../contract/deltas';
import type { RunEvent, RunView } from '../../contract/events';
import type { Thread } from './thread';

/** The log up to an offset. */
export async function logOf(thread: Thread, to: number, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const log: RunEvent[] = [];
  for await (const event of upTo(thread, to, signal)) log.push(event);
  return log;
}

/** A thread as far as it can be read, and why it cannot be read further. */
export interface ReadThread {
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
    // Without a view nothing says where it ends: it is read until it breaks, or waits for somebody.
    for await (const event of upTo(thread, view?.nextOffset ?? (broken === undefined ? 0 : Infinity), signal)) log.push(event);
  } catch (error) {
    broken ??= { error };
  }
  return { view, log, ...(broken === undefined ? {} : { broken }) };
}

async function* upTo(thread: Thread, to: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, void> {
  if (to === 0) return;
  for await (const event of thread.events({ from: 0, until: to === Infinity ? 'waiting' : 'end', signal })) {
    if (isLater(event, to)) return;
    if (event.offset !== undefined) yield event;
    if (event.offset === to - 1) return;
  }
}

function isLater(event: RunEvent | Delta, to: number): boolean {
  return event.offset !== undefined && event.offset >= to;
}
