import { limits } from '../../contract/limits';
import type { CallWaits, ModelFailure } from '../../contract/record/wire';
import type { Verdict } from '../failures';

interface AttemptInfo {
  readonly attempt: number;
  readonly heartbeatDetails?: unknown;
  readonly retryPolicy?: { readonly maximumAttempts?: number };
}

export type Again = { readonly waitMs: number; readonly waits: CallWaits } | { readonly over: 'attempts' | 'patience' };

const none: CallWaits = { times: 0, turnMs: 0, busyMs: 0 };
const first = 500;
const longest = 30_000;

/**
 * Decides how often and how long to try a call: the server counts waits as failed attempts, so the last heartbeat carries the number of
 * waits.
 */
export class Patience {
  readonly waits: CallWaits;
  /** Tools that never wait leave the count of attempts to the server. */
  readonly counts: boolean;

  constructor(
    private readonly info: AttemptInfo,
    private readonly most: number,
    private readonly patienceMs = 0,
  ) {
    this.counts = !info.retryPolicy?.maximumAttempts;
    this.waits = waitsIn(info.heartbeatDetails);
  }

  get details(): CallWaits | undefined {
    return this.waits.times === 0 ? undefined : this.waits;
  }

  /** From 1, without attempts that only waited. */
  get attempt(): number {
    return Math.max(1, this.info.attempt - this.waits.times);
  }

  /** The earlier attempts died with their workers, which could not end the call. */
  get isSpent(): boolean {
    return this.counts && this.attempt > this.most;
  }

  after({ waitsFor, retryAfterMs }: Pick<Verdict, 'waitsFor' | 'retryAfterMs'>): Again {
    const { times, turnMs, busyMs } = this.waits;
    if (waitsFor === 'turn') {
      const waitMs = retryAfterMs ?? first;
      return { waitMs, waits: { times: times + 1, turnMs: turnMs + waitMs, busyMs } };
    }
    if (waitsFor === 'provider') {
      const left = this.patienceMs - busyMs;
      if (left <= 0) return { over: 'patience' };
      const waitMs = Math.min(busyWait(times, retryAfterMs), left);
      return { waitMs, waits: { times: times + 1, turnMs, busyMs: busyMs + waitMs } };
    }
    if (this.attempt >= this.most) return { over: 'attempts' };
    return { waitMs: retryAfterMs ?? Math.min(longest, first * 2 ** (this.attempt - 1)), waits: this.waits };
  }

  failed(over: 'attempts' | 'patience', { code, message }: Pick<Verdict, 'code' | 'message'>): ModelFailure {
    if (over === 'attempts') return { code, message: message.slice(0, limits.errorMessage), retryable: true };
    const { busyMs } = this.waits;
    const time = busyMs < 120_000 ? `${Math.round(busyMs / 1000)} s` : `${Math.round(busyMs / 60_000)} min`;
    const busy = `The provider was busy for ${time}, which is as long as \`models.patience\` says. It said: ${message}`;
    return { code: 'model-busy', message: busy.slice(0, limits.errorMessage), retryable: true };
  }
}

export function lostText(attempts: number): string {
  return `The call gave no answer in ${attempts} attempts: each took too long, or was lost with its worker.`;
}

/** Refused calls must not all return together. */
function busyWait(times: number, retryAfterMs = 0): number {
  const own = Math.min(longest, first * 2 ** Math.min(times, 10));
  return Math.round(retryAfterMs > 0 ? retryAfterMs * (1 + Math.random() / 4) : own * (0.5 + Math.random() / 2));
}

function waitsIn(details: unknown): CallWaits {
  const { times, turnMs, busyMs } = (details ?? {}) as Partial<Record<keyof CallWaits, unknown>>;
  return [times, turnMs, busyMs].every((one) => typeof one === 'number' && one >= 0) ? (details as CallWaits) : none;
}
