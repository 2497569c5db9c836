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

/** Calls by layers around a model at work, which go on with the run. */
export function openOnceCalls(
  calls: ReadonlyMap<string, string>,
  journal: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> | undefined {
  const open = Object.keys(journal);
  const kept = [...calls].filter(([key]) => open.some((address) => key.startsWith(`${address}/model/`)));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
