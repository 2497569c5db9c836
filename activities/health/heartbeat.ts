import { Context } from '@temporalio/activity';

/** Time between two heartbeats of a call. A call hears of a cancel by the answer to a heartbeat. */
const soonMs = 1000;
/** The same, for a call that is not urgent, once `soonForMs` are over. */
const laterMs = 5000;
const soonForMs = 10_000;

/** Says that a call has begun, and whether it is urgent. */
export type Begun = (isUrgent?: boolean) => void;

/**
 * Sends heartbeats while `run` works. Each heartbeat costs the server a write, so a call that has not begun sends only as many as keep it alive: after a
 * crash many calls read histories from the same server at once. `begun` says whether the call is urgent: somebody reads its stream and may cancel at any
 * moment, or nobody may make the call again if the server takes the call for lost. The next attempt of the call gets `details`.
 */
export async function withHeartbeat<T>(run: (begun: Begun) => Promise<T>, details?: unknown): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs: timeout } = context.info;
  if (timeout === undefined || timeout === 0) return run(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const beat = (pauseMs: () => number): void => {
    clearTimeout(timer);
    if (hasEnded) return;
    timer = setTimeout(() => {
      context.heartbeat(details);
      beat(pauseMs);
    }, pauseMs());
  };
  beat(() => timeout / 5);
  try {
    return await run((isUrgent = false) => {
      const calmFrom = isUrgent ? Infinity : performance.now() + soonForMs;
      const soon = Math.min(timeout / 3, soonMs);
      const later = Math.min(timeout / 2, laterMs);
      beat(() => (performance.now() < calmFrom ? soon : later));
    });
  } finally {
    hasEnded = true;
    clearTimeout(timer);
  }
}
