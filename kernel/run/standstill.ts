import { HoldfastError } from '../../contract/errors';

/**
 * What a run does once all its code has run as far as it can.
 * - `working`: something is on its way that wakes it by itself.
 * - `parked`: an agent stands where the run may continue as new, and waits for that.
 * - `waiting`: for people, or for the time.
 * - `stalled`: for something that never comes.
 */
export type RunStanding = 'working' | 'parked' | 'waiting' | 'stalled';

/** Counts the open work of a run, for both engines. */
export class Standstill {
  private underWay = 0;
  private sleeping = 0;
  private returned = 0;
  private isParked = false;

  /** `changed` is told that something came back, or that the run parks. */
  constructor(private readonly changed: () => void = () => undefined) {}

  get heard(): number {
    return this.returned;
  }

  /** A call: the run does not continue as new before its end. */
  async counted<T>(call: Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await call;
    } finally {
      this.underWay -= 1;
      this.cameBack();
    }
  }

  /** A sleep: the run may continue as new in it. `held` keeps the sleep going after its time. */
  async asleep(timer: Promise<void>, held: () => Promise<void> | undefined = () => undefined): Promise<void> {
    this.sleeping += 1;
    try {
      await timer;
      const longer = held();
      if (longer !== undefined) await longer;
    } finally {
      this.sleeping -= 1;
      this.cameBack();
    }
  }

  /** A call that waits before another attempt: nothing is at work meanwhile. */
  async pausing(timer: Promise<void>): Promise<void> {
    this.underWay -= 1;
    this.sleeping += 1;
    this.changed();
    try {
      await timer;
    } finally {
      this.underWay += 1;
      this.sleeping -= 1;
    }
  }

  /** Something came back without being counted as open. */
  cameBack(): void {
    this.returned += 1;
    this.changed();
  }

  /** An agent waits at a checkpoint for a continue-as-new. */
  park(): void {
    this.isParked = true;
    this.changed();
  }

  leave(): void {
    this.isParked = false;
  }

  /** `isBusy`: the engine has work first. `isAsked`: interrupts are open. */
  standing({ isBusy, isAsked }: { readonly isBusy: boolean; readonly isAsked: boolean }): RunStanding {
    if (this.underWay > 0 || isBusy) return 'working';
    if (this.isParked) return 'parked';
    return isAsked || this.sleeping > 0 ? 'waiting' : 'stalled';
  }
}

/** The error of a stalled run. `openCode`: the open hooks, innermost last. */
export function stalledError(openCode: readonly string[]): HoldfastError {
  const open = openCode.at(-1) ?? 'the agent';
  return new HoldfastError('hook-stalled', `${open} waits for something that never comes: no call, timer or interrupt of it is open.`);
}
