/** The end of an effect that was on its way beside others. */
export interface Turn {
  /** The position of the end among all ends of the run. */
  readonly at: number;
}

interface DueEnd extends Turn {
  readonly address: string;
  readonly n: number;
  /** Hands the end to code. Absent: code has not asked for the effect yet. */
  hand?: () => void;
}

/**
 * Hands out the ends of effects that one piece of code waits for at the same time: one end each time that all code of the run has run as far as it can.
 * Code that is entered again after a continue-as-new is given the ends in the order in which it was given them before, however many promises hand them on.
 */
export class SettleOrder {
  /** In the order of the ends. */
  private due: DueEnd[] = [];
  private count = 0;
  /** Code acts on an end, or is about to ask for one. */
  private isAwaitingRest = false;

  constructor(
    private readonly isRecorded: (address: string, n: number) => boolean,
    private readonly atRest: (run: () => void) => void,
  ) {}

  /** An end from before the continue-as-new. */
  restore(address: string, n: number, { at }: Turn): void {
    this.count = Math.max(this.count, at + 1);
    this.due.push({ address, n, at });
  }

  restored(): void {
    this.due.sort((one, other) => one.at - other.at);
  }

  /** The place of an end that code is given now. */
  next(): Turn {
    return { at: this.count++ };
  }

  /** Settles when an end that comes now may be given to code. Absent: now. */
  turn(address: string, n: number): Promise<void> | undefined {
    if (this.isAwaitingRest) return this.later(address, n);
    this.awaitRest();
    return undefined;
  }

  /** Whether ends from before the continue-as-new are still to be handed out to this code. */
  isBehind(address: string): boolean {
    return this.due.length > 0 && this.due.some((one) => lineOf(one.address) === lineOf(address));
  }

  /** Hands out a recorded end at its turn. False: the effect has none, or its turn is over. */
  handOut(address: string, n: number, hand: () => void): boolean {
    const due = this.due.find((one) => one.n === n && one.address === address && one.hand === undefined);
    if (due === undefined) return false;
    due.hand = hand;
    this.awaitRest();
    return true;
  }

  /** Settles when everything from before the continue-as-new has been handed out. */
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

  /** What code has not asked for by now, though it rests, holds up nothing: its frame is over, or its code is another. */
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

/** Branches of a race are one piece of code with what is around them. */
function lineOf(address: string): string {
  return isInRace(address) ? address.slice(0, address.search(race)) : address;
}

const race = /\/race\d+\//u;

export function isInRace(address: string): boolean {
  return address.includes('/race') && race.test(address);
}
