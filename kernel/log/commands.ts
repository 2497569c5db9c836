import type { RunLog } from './run-log';

interface Asked {
  readonly place: string;
  /** Makes the command. False: this task has no room. */
  make(): boolean;
}

/**
 * Commands that code asked for. An engine makes the commands when the code rests, in the order of their places, so no promise decides which command
 * comes first.
 */
export class Commands {
  private asked: Asked[] = [];

  /** The end of the run takes the last events along. */
  isEnding = false;

  constructor(
    private readonly log: RunLog,
    private readonly compare: (one: string, other: string) => number,
    /** Settles in the next task. */
    private readonly nextTask: () => Promise<void>,
  ) {}

  get isEmpty(): boolean {
    return this.asked.length === 0 && !this.log.hasMemos && (this.isEnding || !this.log.hasEvents);
  }

  /** `make` makes the command and returns its result. Undefined: this task has no room, and the next task makes the command. */
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

  /** The first command takes the waiting events along. Without another command a change of the memo does. */
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
