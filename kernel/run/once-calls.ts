/** Calls of tools whose effect is once, while they are on their way. */
export class OnceCalls {
  private readonly running = new Set<Promise<unknown>>();

  get size(): number {
    return this.running.size;
  }

  /** Gives back the same promise: one more would change the order of what comes after it. */
  counted<T>(call: Promise<T>): Promise<T> {
    this.running.add(call);
    const ended = (): void => void this.running.delete(call);
    call.then(ended, ended);
    return call;
  }

  /** Settles when all have ended, also those that code of users left behind, and what waits for them has gone on. */
  async ended(settle: () => Promise<void>): Promise<void> {
    while (this.running.size > 0) {
      await Promise.allSettled(this.running);
      await settle();
    }
  }
}
