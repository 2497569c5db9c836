/** The part of a minute that may be taken at once: a worker that begins, or that had nothing to do, does not take a whole minute's worth. */
const burstShare = 12;

export interface Rate {
  readonly burst: number;
  /** Units that come back in a millisecond. */
  readonly perMs: number;
}

/** No minute gives more than `perMinute`: what may be taken at once comes back that much slower. */
export function rateOf(perMinute: number): Rate {
  const burst = Math.max(1, Math.floor(perMinute / burstShare));
  return { burst, perMs: (perMinute - burst + 1) / 60_000 };
}

/** What is left of a rate. It may be less than nothing, when a call took more than was foreseen. */
export class Bucket {
  private level: number;
  private at: number;

  constructor(
    private readonly rate: Rate,
    private readonly now: () => number,
  ) {
    this.level = rate.burst;
    this.at = now();
  }

  /** Milliseconds until so much is there; 0: now. */
  waitFor(amount: number): number {
    const missing = Math.min(amount, this.rate.burst) - this.fill();
    return missing <= 0 ? 0 : Math.ceil(missing / this.rate.perMs);
  }

  take(amount: number): void {
    this.level = this.fill() - amount;
  }

  private fill(): number {
    const now = this.now();
    this.level = Math.min(this.rate.burst, this.level + Math.max(0, now - this.at) * this.rate.perMs);
    this.at = now;
    return this.level;
  }
}
