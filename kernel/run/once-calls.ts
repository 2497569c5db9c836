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

  /** Includes calls that user code dropped, and their waiting code. */
  async ended(settle: () => Promise<void>): Promise<void> {
    while (this.running.size > 0) {
      await Promise.allSettled(this.running);
      await settle();
    }
  }
}
