import { CancellationScope, scheduleActivity } from '@temporalio/workflow';
import { jsonSize } from '../contract/limits';

export interface ShortActivityDesk {
  /** Settles when an activity may start. Undefined: now. */
  held(): Promise<void> | undefined;
  ask<T>(place: string, bytes: number, make: () => Promise<T>): Promise<T>;
}

/** Short enough that a cancel waits for them. */
export class ShortActivities {
  constructor(private readonly desk: ShortActivityDesk) {}

  async run<T>(place: string, type: string, input: readonly unknown[], timeout: number, attempts = 3): Promise<T> {
    await this.desk.held();
    return this.urgent<T>(place, type, input, timeout, attempts);
  }

  /** Starts even in a held run, because earlier answers must not be lost. */
  urgent<T>(place: string, type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    const options = { startToCloseTimeout: timeout, retry: { maximumAttempts: attempts, initialInterval: 200 } };
    return CancellationScope.nonCancellable(() =>
      this.desk.ask(place, jsonSize(input), () => scheduleActivity<T>(type, [...input], options)),
    );
  }
}
