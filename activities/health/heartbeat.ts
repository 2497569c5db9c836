import { Context } from '@temporalio/activity';
import { codeAtHand } from './code-at-hand';

/** How soon a call hears that it is told to stop. */
const soonMs = 250;
/** How often it asks where the code that would tell it is in this process. Another process may have taken it over. */
const calmMs = 1000;
/** How long after that code has told a call to stop the server may need until it says so. */
const alertMs = 5000;

/**
 * Tells the server that this worker lives while `run` works, and how it may be told to stop. Every beat costs the server a write. Until
 * `run` says that it has begun it only keeps the call: after a crash many calls at once read histories from that same server. `details` are
 * there for the next attempt.
 */
export async function withHeartbeat<T>(run: (begun: () => void) => Promise<T>, details?: unknown): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs: timeout, workflowExecution } = context.info;
  if (timeout === undefined || timeout === 0) return run(() => undefined);
  const beats = new Beats(timeout, workflowExecution?.runId ?? '', () => context.heartbeat(details));
  try {
    return await run(() => beats.begun());
  } finally {
    beats.end();
  }
}

class Beats {
  private timer: NodeJS.Timeout;
  private hasEnded = false;
  private last = 0;
  private alertUntil = 0;
  private unlisten = (): void => undefined;

  constructor(
    private readonly timeout: number,
    private readonly runId: string,
    private readonly beat: () => void,
  ) {
    this.timer = every(timeout / 5, beat);
  }

  begun(): void {
    if (this.hasEnded) return;
    clearInterval(this.timer);
    this.unlisten();
    this.unlisten = codeAtHand.listen(this.runId, () => (this.alertUntil = performance.now() + alertMs));
    this.last = performance.now();
    this.timer = every(Math.min(this.timeout / 3, soonMs), () => this.isDue() && this.beat());
  }

  end(): void {
    this.hasEnded = true;
    this.unlisten();
    clearInterval(this.timer);
  }

  private isDue(): boolean {
    const now = performance.now();
    const isCalm = now >= this.alertUntil && codeAtHand.has(this.runId);
    // A tick may come a little early.
    if (isCalm && now - this.last < Math.min(this.timeout / 3, calmMs) - tickMs / 2) return false;
    this.last = now;
    return true;
  }
}

/** Shorter ones would be late. */
const tickMs = 100;

function every(ms: number, run: () => void): NodeJS.Timeout {
  return setInterval(run, Math.max(tickMs, ms));
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
