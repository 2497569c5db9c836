import { Context } from '@temporalio/activity';

/**
 * Tells the server that this worker lives while `run` works, and how it may be told to stop. Every beat costs the server a write. Until
 * `run` says that it has begun it only keeps the call: after a crash many calls at once read histories from that same server. `details` are
 * there for the next attempt.
 */
export async function withHeartbeat<T>(run: (begun: () => void) => Promise<T>, details?: unknown): Promise<T> {
  const context = Context.current();
  const timeout = context.info.heartbeatTimeoutMs;
  if (timeout === undefined || timeout === 0) return run(() => undefined);
  const every = (ms: number): NodeJS.Timeout => setInterval(() => context.heartbeat(details), Math.max(100, ms));
  let beat = every(timeout / 5);
  let ended = false;
  const begun = (): void => {
    if (ended) return;
    clearInterval(beat);
    beat = every(Math.min(timeout / 3, 250));
  };
  try {
    return await run(begun);
  } finally {
    ended = true;
    clearInterval(beat);
  }
}

/** Ends when the work ends or the call is cancelled, whichever comes first; the work itself learns of it by its signal. */
export function orCancelled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return Promise.race([work, Context.current().cancelled]);
}

/**
 * Ends with the work, or when its time is up. The server's own timer may be a second late: what is said here comes first then. A worker that is
 * drained ends with it, too.
 */
export async function orTimedOut<T>(work: Promise<T>, inPlace: () => T): Promise<T> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(inPlace()), Context.current().info.startToCloseTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
