const burstShare = 12;

interface Rate {
  readonly burst: number;
  readonly perMs: number;
}

/** Refills more slowly by the burst, so that no minute gives more than `perMinute`. */
export function rateOf(perMinute: number): Rate {
  const burst = Math.max(1, Math.floor(perMinute / burstShare));
  return { burst, perMs: (perMinute - burst + 1) / 60_000 };
}

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
