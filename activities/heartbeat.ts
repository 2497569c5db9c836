import { Context } from '@temporalio/activity';

/** Tells the server that this worker lives while `run` works, and how it may be told to stop. */
export async function withHeartbeat<T>(run: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timeout = context.info.heartbeatTimeoutMs;
  if (timeout === undefined || timeout === 0) return run();
  const beat = setInterval(() => context.heartbeat(), Math.max(100, Math.min(timeout / 3, 1000)));
  try {
    return await run();
  } finally {
    clearInterval(beat);
  }
}

/** Ends when the work ends or the call is cancelled, whichever comes first; the work itself learns of it by its signal. */
export function orCancelled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return Promise.race([work, Context.current().cancelled]);
}
