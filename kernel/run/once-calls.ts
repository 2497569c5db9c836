export class OnceCalls {
  private readonly running = new Set<Promise<unknown>>();

  get size(): number {
    return this.running.size;
  }

  counted<T>(call: Promise<T>): Promise<T> {
    this.running.add(call);
    const ended = (): void => void this.running.delete(call);
    call.then(ended, ended);
    return call;
  }

  /** Settles when all have ended, also calls that user code left, and when their waiting code has gone on. */
  async ended(settle: () => Promise<void>): Promise<void> {
    while (this.running.size > 0) {
      await Promise.allSettled(this.running);
      await settle();
    }
  }
}
