import { abortOf } from '../calls/abort';

/** Rejects on a cancel even if the provider ignores the signal. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const abort = new Abort(signal);
  try {
    return await abort.orEarlier(work);
  } finally {
    abort.forget();
  }
}

export async function consume<Chunk>(
  chunks: AsyncIterable<Chunk>,
  signal: AbortSignal,
  take: (chunk: Chunk) => void,
): Promise<'complete' | 'aborted'> {
  const iterator = chunks[Symbol.asyncIterator]();
  const abort = new Abort(signal);
  try {
    for (;;) {
      const result = await abort.orEarlier(iterator.next());
      if (result.done === true) return 'complete';
      take(result.value);
    }
  } catch (error) {
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (signal.aborted) return 'aborted';
    throw error;
  } finally {
    abort.forget();
  }
}

/** One listener for a whole stream: a race for every chunk would keep a reaction for each chunk until the end. */
class Abort {
  private give: (error: Error) => void = () => undefined;
  private readonly onAbort = (): void => this.give(abortOf(this.signal));

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', this.onAbort, { once: true });
  }

  orEarlier<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.give = reject;
      work.then(resolve, reject);
      if (this.signal.aborted) this.onAbort();
    });
  }

  forget(): void {
    this.signal.removeEventListener('abort', this.onAbort);
  }
}
