import { Context } from '@temporalio/activity';

/** A call hears of a cancel only in the answer to a heartbeat. */
const soonMs = 1000;
const laterMs = 5000;
const soonForMs = 10_000;

export type Begun = (isUrgent?: boolean) => void;

/**
 * Each heartbeat costs the server a write, so a call sends few before `begun`: after a crash many calls read histories at once. Urgent are
 * calls with readers, who may cancel, and calls that cannot repeat after a lost heartbeat. The next attempt gets `details`.
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
