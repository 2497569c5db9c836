import type { RunLog } from './run-log';

interface Asked {
  readonly place: string;
  /** False: this task has no room. */
  make(): boolean;
}

/** Made when the code rests, in the order of their places, so the order does not depend on promises. */
export class Commands {
  private asked: Asked[] = [];

  isEnding = false;

  constructor(
    private readonly log: RunLog,
    private readonly compare: (one: string, other: string) => number,
    private readonly nextTask: () => Promise<void>,
  ) {}

  get isEmpty(): boolean {
    return this.asked.length === 0 && !this.log.hasMemos && (this.isEnding || !this.log.hasEvents);
  }

  /** Undefined from `make`: no room, so the next task makes the command. */
  ask<T>(place: string, make: () => Promise<T> | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.asked.push({
        place,
        make: () => {
          try {
            const made = make();
            if (made === undefined) return false;
            made.then(resolve, reject);
          } catch (error) {
            reject(error);
          }
          return true;
        },
      });
    });
  }

  /** The first command, or else a change of the memo, takes the waiting events along. */
  makeAll(): void {
    this.log.writeMemos();
    const asked = this.asked.sort((one, other) => this.compare(one.place, other.place));
    this.asked = [];
    const first = asked.findIndex(({ make }) => !make());
    if (first === -1) return this.isEnding ? undefined : this.log.flush();
    const askAgain = (): void => void this.asked.unshift(...asked.slice(first));
    this.nextTask().then(askAgain, askAgain);
  }
}
