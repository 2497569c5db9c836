import { scheduleLocalActivity } from '@temporalio/workflow';

/**
 * One local activity after another. Several at once come back one by one when a run works, but all at once when it is replayed,
 * and code of parallel calls would then reach its commands in another order.
 */
export class LocalActivities {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    /** Settles when something may start. */
    private readonly mayStart: () => Promise<void> | undefined,
    private readonly counted: <T>(promise: Promise<T>) => Promise<T>,
    private readonly came: (result: unknown) => void,
  ) {}

  run<T>(type: string, input: readonly unknown[], timeout: number, attempts = 3): Promise<T> {
    const turn = this.last.then(() => this.start<T>(type, input, timeout, attempts));
    this.last = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  private async start<T>(type: string, input: readonly unknown[], timeout: number, attempts: number): Promise<T> {
    const held = this.mayStart();
    if (held !== undefined) await held;
    const result = scheduleLocalActivity<T>(type, [...input], {
      startToCloseTimeout: timeout,
      retry: { maximumAttempts: attempts, initialInterval: 200 },
    });
    // Beside the code that waits for it, which goes on as soon as before.
    result.then(this.came, () => undefined);
    return this.counted(result);
  }
}
