import type { Thread } from './thread';

/**
 * Follows a thread from before anything is done to it, until `signal`. Whoever begins to follow later gets what is said meanwhile in whole pieces
 * only.
 */
export async function listen(thread: Thread, offset: number, signal: AbortSignal): Promise<void> {
  if (offset === 0) return;
  const events = thread.events({ from: offset - 1, until: 'end', signal });
  await events.next();
  void drain(events);
}

/** What fails here fails where the events are shown. */
async function drain(events: AsyncGenerator<unknown>): Promise<void> {
  try {
    while ((await events.next()).done !== true);
  } catch {
    return;
  }
}
