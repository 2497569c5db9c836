export interface Turn {
  /** The position among all ends of the run. */
  readonly at: number;
}

interface DueEnd extends Turn {
  readonly address: string;
  readonly n: number;
  /** Absent: code has not asked for the effect again. */
  hand?: () => void;
}

/**
 * Hands out ends of parallel effects one at a time, each when all code rests, so re-entered code gets them in the recorded order, however
 * many promises lie between.
 */
export class SettleOrder {
  private due: DueEnd[] = [];
  private count = 0;
  private isAwaitingRest = false;

  constructor(
    private readonly isRecorded: (address: string, n: number) => boolean,
    private readonly atRest: (run: () => void) => void,
  ) {}

  restore(address: string, n: number, { at }: Turn): void {
    this.count = Math.max(this.count, at + 1);
    this.due.push({ address, n, at });
    this.due.sort((one, other) => one.at - other.at);
  }

  next(): Turn {
    return { at: this.count++ };
  }

  /** Undefined: now. */
  turn(address: string, n: number): Promise<void> | undefined {
    if (this.isAwaitingRest) return this.later(address, n);
    this.awaitRest();
    return undefined;
  }

  isBehind(address: string): boolean {
    return this.due.length > 0 && this.due.some((one) => lineOf(one.address) === lineOf(address));
  }

  /** False: not recorded, or handed out before. */
  handOut(address: string, n: number, hand: () => void): boolean {
    const due = this.due.find((one) => one.n === n && one.address === address && one.hand === undefined);
    if (due === undefined) return false;
    due.hand = hand;
    this.awaitRest();
    return true;
  }

  caughtUp(address: string): Promise<void> {
    return this.isBehind(address) ? this.later(address, -1) : Promise.resolve();
  }

  private later(address: string, n: number): Promise<void> {
    return new Promise((hand) => {
      this.due.push({ address, n, at: Infinity, hand });
      this.awaitRest();
    });
  }

  private awaitRest(): void {
    if (this.isAwaitingRest) return;
    this.isAwaitingRest = true;
    this.atRest(() => {
      this.isAwaitingRest = false;
      const next = this.takeNext();
      if (next === undefined) return;
      this.awaitRest();
      next();
    });
  }

  /** An end that resting code has not asked for must not block later ends: the frame is over, or the code changed. */
  private takeNext(): (() => void) | undefined {
    this.due = this.due.filter(({ address, n, hand }) => hand !== undefined || this.isRecorded(address, n));
    const lines = new Set<string>();
    const firsts = this.due.filter(({ address }) => {
      const line = lineOf(address);
      return !lines.has(line) && lines.add(line);
    });
    const next = firsts.find(({ hand }) => hand !== undefined) ?? this.due.find(({ hand }) => hand !== undefined);
    if (next === undefined) return undefined;
    const before = this.due.indexOf(next);
    this.due = this.due.filter(
      ({ address }, position) => position > before || (position < before && lineOf(address) !== lineOf(next.address)),
    );
    return next.hand;
  }
}

/** Branches of a race and the code around them share one order. */
function lineOf(address: string): string {
  return isInRace(address) ? address.slice(0, address.search(race)) : address;
}

const race = /\/race\d+\//u;

export function isInRace(address: string): boolean {
  return address.includes('/race') && race.test(address);
}
