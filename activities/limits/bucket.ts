/** The share of a minute that can be taken at once, so that an idle worker does not take a whole minute at once. */
const burstShare = 12;

export interface Rate {
  readonly burst: number;
  readonly perMs: number;
}

/** No minute gives more than `perMinute`: the refill is slower by the burst. */
export function rateOf(perMinute: number): Rate {
  const burst = Math.max(1, Math.floor(perMinute / burstShare));
  return { burst, perMs: (perMinute - burst + 1) / 60_000 };
}

/** The rest of a rate. The rest is negative after a call that took more than expected. */
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
