import { HoldfastError } from '../../contract/errors';

/**
 * The standing of a run whose code rests.
 * - `working`: an open call will wake the run.
 * - `parked`: an agent waits at a checkpoint for a continue-as-new.
 * - `waiting`: for people, or for the time.
 * - `stalled`: no event will ever wake the run.
 */
export type RunStanding = 'working' | 'parked' | 'waiting' | 'stalled';

export class Standstill {
  private underWay = 0;
  private sleeping = 0;
  private returned = 0;
  private isParked = false;

  constructor(private readonly changed: () => void = () => undefined) {}

  get heard(): number {
    return this.returned;
  }

  /** The run does not continue as new before the end of the call. */
  async counted<T>(call: Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await call;
    } finally {
      this.underWay -= 1;
      this.cameBack();
    }
  }

  /** The run may continue as new during a sleep. `held` prolongs the sleep. */
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

  cameBack(): void {
    this.returned += 1;
    this.changed();
  }

  park(): void {
    this.isParked = true;
    this.changed();
  }

  leave(): void {
    this.isParked = false;
  }

  standing({ isBusy, isAsked }: { readonly isBusy: boolean; readonly isAsked: boolean }): RunStanding {
    if (this.underWay > 0 || isBusy) return 'working';
    if (this.isParked) return 'parked';
    return isAsked || this.sleeping > 0 ? 'waiting' : 'stalled';
  }
}

export function stalledError(openCode: readonly string[]): HoldfastError {
  const open = openCode.at(-1) ?? 'the agent';
  return new HoldfastError('hook-stalled', `${open} waits for something that never comes: no call, timer or interrupt of it is open.`);
}
