import { HoldfastError } from '../../contract/errors';
import type { Timer } from '../../kernel/run/ports';

interface ClockEntry {
  readonly at: number;
  readonly order: number;
  fire(): void;
}

export class VirtualClock {
  private readonly entries = new Set<ClockEntry>();
  private order = 0;

  constructor(private time: number) {}

  get now(): number {
    return this.time;
  }

  get next(): number | undefined {
    return this.earliest()?.at;
  }

  timer(at: number): Timer {
    let settle: { resolve(): void; reject(error: unknown): void } = { resolve: () => undefined, reject: () => undefined };
    const fired = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
    fired.catch(() => undefined);
    // As on a server, a timer in the past fires a little later.
    const entry: ClockEntry = { at: Math.max(at, this.time + 1), order: this.order++, fire: () => settle.resolve() };
    this.entries.add(entry);
    const cancel = (): void => {
      if (this.entries.delete(entry)) settle.reject(new HoldfastError('cancelled', 'The timer was cancelled.'));
    };
    return { fired, cancel };
  }

  /** Fires only the earliest due timer, so woken code may set others. */
  fireNext(until: number): boolean {
    const entry = this.earliest();
    if (entry === undefined || entry.at > until) {
      this.time = Math.max(this.time, until);
      return false;
    }
    this.entries.delete(entry);
    this.time = Math.max(this.time, entry.at);
    entry.fire();
    return true;
  }

  private earliest(): ClockEntry | undefined {
    let first: ClockEntry | undefined;
    for (const entry of this.entries)
      if (first === undefined || entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry;
    return first;
  }
}
