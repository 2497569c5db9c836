import { withoutCredentials } from '../contract/credentials';
import { HoldfastError, messageOf } from '../contract/errors';

type Listener = (reason: unknown, promise: Promise<unknown>) => void;

/** A promise that a tool made and nobody awaited must not take the process with it, and all other runs. */
export class StrayRejections {
  private installed = false;
  private readonly alone = this.tolerant(undefined);
  private readonly reporters = new Set<(problem: HoldfastError) => void>();

  /** Keeps Temporal's listeners, which know the rejections of workflow code, and survives what they do not know. */
  async guard<T>(run: () => Promise<T>): Promise<T> {
    const before = new Set(process.listeners('unhandledRejection'));
    try {
      return await run();
    } finally {
      for (const listener of process.listeners('unhandledRejection')) {
        if (before.has(listener) || listener === this.alone) continue;
        process.off('unhandledRejection', listener);
        process.on('unhandledRejection', this.tolerant(listener));
        // One listener is enough to hear of a rejection once.
        process.off('unhandledRejection', this.alone);
        this.installed = true;
      }
    }
  }

  /** Reports what is rejected unseen in this process, until the returned function is called. */
  report(to: (problem: HoldfastError) => void): () => void {
    if (!this.installed) process.on('unhandledRejection', this.alone);
    this.installed = true;
    this.reporters.add(to);
    return () => void this.reporters.delete(to);
  }

  private tolerant(listener: Listener | undefined): Listener {
    return (reason, promise) => {
      // The SDK writes what belongs to no workflow itself, before it throws.
      const { error } = console;
      console.error = () => undefined;
      try {
        if (listener !== undefined) return listener(reason, promise);
      } catch {
        // It belongs to no workflow.
      } finally {
        console.error = error;
      }
      const problem = new HoldfastError(
        'tool-failed',
        `A promise was rejected that nobody awaited, in code of the project: ${withoutCredentials(messageOf(reason))}`,
        { cause: reason },
      );
      for (const reporter of this.reporters) reporter(problem);
    };
  }
}

export const strayRejections = new StrayRejections();
