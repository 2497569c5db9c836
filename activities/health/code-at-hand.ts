/**
 * Runs whose code is in the memory of this process. When it tells a call to stop, calls here learn that there is something to hear, long before they would
 * have asked the server again. What a call is told, the server says.
 */
class CodeAtHand {
  /** By the id of the execution: a process may have several workers. */
  private readonly copies = new Map<string, number>();
  private readonly calls = new Map<string, Set<() => void>>();

  /** Gives what tells that the code has left. */
  came(runId: string): () => void {
    this.copies.set(runId, (this.copies.get(runId) ?? 0) + 1);
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      const others = (this.copies.get(runId) ?? 1) - 1;
      if (others === 0) this.copies.delete(runId);
      else this.copies.set(runId, others);
    };
  }

  has(runId: string): boolean {
    return this.copies.has(runId);
  }

  /** Whether a call of the run is under way in this process. */
  hasCalls(runId: string): boolean {
    return this.calls.has(runId);
  }

  /** Calls of the run may have been told to stop. */
  stops(runId: string): void {
    for (const hear of this.calls.get(runId) ?? []) hear();
  }

  /** Gives what ends it. */
  listen(runId: string, hear: () => void): () => void {
    const calls = this.calls.get(runId) ?? new Set();
    this.calls.set(runId, calls.add(hear));
    return () => {
      calls.delete(hear);
      if (calls.size === 0 && this.calls.get(runId) === calls) this.calls.delete(runId);
    };
  }
}

export const codeAtHand = new CodeAtHand();
