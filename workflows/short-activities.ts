import { CancellationScope, scheduleActivity } from '@temporalio/workflow';
import { jsonSize } from '../contract/limits';

export interface ShortActivityDesk {
  /** Settles when something may start that has so many bytes. Absent: it may start now. */
  mayStart(bytes: number): Promise<void> | undefined;
  counted<T>(promise: Promise<T>): Promise<T>;
  /** Nothing may start for now, as the run is about to go on elsewhere. */
  isHeld(): boolean;
}

/** Activities of the run itself. Each is over in a moment, so a cancel waits for them. */
export class ShortActivities {
  constructor(private readonly desk: ShortActivityDesk) {}

  async run<T>(type: string, input: readonly unknown[], timeout: number, attempts = 3): Promise<T> {
    const held = this.desk.mayStart(jsonSize(input));
    if (held !== undefined) await held;
    return this.schedule<T>(type, input, timeout, attempts);
  }

  /** Starts also while nothing else may: what came in before must not be lost. */
  urgent<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    return this.desk.isHeld() ? this.schedule<T>(type, input, timeout, attempts) : this.run<T>(type, input, timeout, attempts);
  }

  private schedule<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    const options = { startToCloseTimeout: timeout, retry: { maximumAttempts: attempts, initialInterval: 200 } };
    return this.desk.counted(CancellationScope.nonCancellable(() => scheduleActivity<T>(type, [...input], options)));
  }
}
