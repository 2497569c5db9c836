import { scheduleLocalActivity } from '@temporalio/workflow';
import { watchLocal } from './interceptors';

/**
 * One local activity after another. Several at once come back one by one when a run works, but all at once when it is replayed,
 * and code of parallel calls would then reach its commands in another order.
 */
export class LocalActivities {
  private last: Promise<unknown> = Promise.resolve();
  private lastUrgent: Promise<unknown> = Promise.resolve();

  constructor(
    /** Settles when something may start. */
    private readonly mayStart: () => Promise<void> | undefined,
    private readonly counted: <T>(promise: Promise<T>) => Promise<T>,
    private readonly came: (result: unknown) => void,
    /** Whether nothing may start for now, as the run is about to go on elsewhere. */
    private readonly isHeld: () => boolean,
  ) {}

  run<T>(type: string, input: readonly unknown[], timeout: number, attempts = 3): Promise<T> {
    const turn = this.last.then(() => this.start<T>(type, input, timeout, attempts));
    this.last = ended(turn);
    return turn;
  }

  /** Starts also while nothing else may: what came in before must not be lost. */
  urgent<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    if (!this.isHeld()) return this.run(type, input, timeout, attempts);
    const turn = this.lastUrgent.then(() => this.schedule<T>(type, input, timeout, attempts));
    this.lastUrgent = ended(turn);
    return turn;
  }

  private async start<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    const held = this.mayStart();
    if (held !== undefined) await held;
    return this.schedule<T>(type, input, timeout, attempts);
  }

  private schedule<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    const result = scheduleLocalActivity<T>(type, [...input], {
      startToCloseTimeout: timeout,
      retry: { maximumAttempts: attempts, initialInterval: 200 },
    });
    watchLocal(result);
    // Beside the code that waits for it, which goes on as soon as before.
    result.then(this.came, () => undefined);
    return this.counted(result);
  }
}

function ended(turn: Promise<unknown>): Promise<void> {
  return turn.then(
    () => undefined,
    () => undefined,
  );
}
