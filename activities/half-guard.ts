import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import { classify } from './failures';

/** A wrap that is entered. It is at work itself while it is asked for something and asks for nothing in turn. */
interface Entry {
  readonly label: string;
  asked: boolean;
  asking: number;
}

/** Knows which worker half a call is in, so that one that never comes back can be named. */
export class HalfWatch {
  private readonly entries = new Set<Entry>();

  enter(label: string): Entry {
    const entry = { label, asked: true, asking: 0 };
    this.entries.add(entry);
    return entry;
  }

  leave(entry: Entry): void {
    this.entries.delete(entry);
  }

  /** The half that is waited for, unless it is the model or the tool itself. */
  get waitedFor(): string | undefined {
    for (const { label, asked, asking } of this.entries) if (asked && asking === 0) return label;
    return undefined;
  }

  /** Ends a call shortly before its time is up when a half is why nothing comes of it. */
  async inTime<T>(timeoutMs: number | undefined, work: () => Promise<T>): Promise<T> {
    const running = work();
    if (timeoutMs === undefined || timeoutMs <= 0) return running;
    running.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          const label = this.waitedFor;
          if (label === undefined) return;
          const message = `${label} gave nothing within ${timeoutMs / 1000} s.`;
          reject(new HoldfastError('hook-failed', message, { details: { retryable: true } }));
        },
        timeoutMs - Math.min(500, timeoutMs / 5),
      );
      timer.unref();
    });
    try {
      return await Promise.race([running, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

export function labelOfHalf(hook: string, half: string): string {
  return `${hook} of worker half "${half}"`;
}

/** Around one wrap of one half. */
export interface HalfGuard {
  readonly label: string;
  readonly watch: HalfWatch;
  readonly signal: AbortSignal;
  /** What is wrong with something that the wrap returned or streamed. */
  readonly check: (value: unknown) => string | undefined;
}

/** Names the half in what it does wrong itself. What comes from inside of it passes as the same object. */
export async function guardedWhole<Request, Response>(
  { label, watch, signal, check }: HalfGuard,
  wrap: (next: (request: Request) => Promise<Response>) => Promise<Response>,
  next: (request: Request) => Promise<Response>,
): Promise<Response> {
  const entry = watch.enter(label);
  const inside = new Inside(check);
  const running = new Set<Promise<Response>>();
  const guarded = (request: Request): Promise<Response> => {
    const promise = inside.whole(next(request));
    running.add(promise);
    entry.asking += 1;
    const settle = (): void => {
      running.delete(promise);
      entry.asking -= 1;
    };
    promise.then(settle, settle);
    return promise;
  };
  try {
    const response = await wrap(guarded);
    if (running.size > 0) throw leftRunning(label);
    inside.checkOwn(response, label, 'returned');
    return response;
  } catch (error) {
    throw inside.blame(error, label, signal);
  } finally {
    watch.leave(entry);
  }
}

/** The same for a wrap around something that streams. */
export async function* guardedStream<Request, Piece>(
  { label, watch, signal, check }: HalfGuard,
  wrap: (next: (request: Request) => AsyncIterable<Piece>) => AsyncIterable<Piece>,
  next: (request: Request) => AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  const entry = watch.enter(label);
  const inside = new Inside(check);
  const open = new Set<AsyncGenerator<Piece>>();
  async function* asked(request: Request, begun: () => void, ended: () => void): AsyncGenerator<Piece> {
    begun();
    const iterator = next(request)[Symbol.asyncIterator]();
    let over = false;
    try {
      for (;;) {
        entry.asking += 1;
        const result = await inside.piece(iterator.next()).finally(() => (entry.asking -= 1));
        over = result.done === true;
        if (result.done === true) return;
        yield result.value;
      }
    } catch (error) {
      over = true;
      throw error;
    } finally {
      ended();
      if (!over) await iterator.return?.();
    }
  }
  // What is never read was never begun: it is not left running.
  const guarded = (request: Request): AsyncGenerator<Piece> => {
    const pieces: AsyncGenerator<Piece> = asked(
      request,
      () => open.add(pieces),
      () => open.delete(pieces),
    );
    return pieces;
  };
  let iterator: AsyncIterator<Piece> | undefined;
  try {
    const stream = wrap(guarded) as AsyncIterable<Piece> | undefined;
    if (typeof stream?.[Symbol.asyncIterator] !== 'function')
      throw new HoldfastError('hook-failed', `${label} returned no stream; it is to return an AsyncIterable.`);
    iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      entry.asked = true;
      const result = await iterator.next();
      entry.asked = false;
      if (result.done === true) break;
      inside.checkOwn(result.value, label, 'streamed');
      yield result.value;
    }
    iterator = undefined;
    if (open.size > 0) {
      for (const pieces of open) void pieces.return(undefined).catch(() => undefined);
      throw leftRunning(label);
    }
  } catch (error) {
    iterator = undefined;
    throw inside.blame(error, label, signal);
  } finally {
    watch.leave(entry);
    await iterator?.return?.();
  }
}

/** What came from inside of a wrap: it is not the half's fault. */
class Inside {
  private readonly errors = new Set<unknown>();
  private readonly oddities = new Set<unknown>();

  constructor(private readonly check: (value: unknown) => string | undefined) {}

  async whole<T>(result: Promise<T>): Promise<T> {
    return this.kept(result, (value) => value);
  }

  async piece<T>(result: Promise<IteratorResult<T>>): Promise<IteratorResult<T>> {
    return this.kept(result, ({ done, value }) => (done === true ? undefined : (value as unknown)));
  }

  checkOwn(value: unknown, label: string, did: string): void {
    const problem = this.check(value);
    if (problem !== undefined && !this.oddities.has(value)) throw new HoldfastError('hook-failed', `${label} ${did} ${problem}.`);
  }

  blame(error: unknown, label: string, signal: AbortSignal): unknown {
    if (this.errors.has(error) || signal.aborted || codeOf(error) !== undefined) return error;
    const message = `${label} failed: ${messageOf(error).slice(0, limits.errorMessage)}`;
    return new HoldfastError('hook-failed', message, { cause: error, details: { retryable: classify(error).retryable } });
  }

  private async kept<T>(result: Promise<T>, valueIn: (result: T) => unknown): Promise<T> {
    try {
      const known = await result;
      const value = valueIn(known);
      if (this.check(value) !== undefined) this.oddities.add(value);
      return known;
    } catch (error) {
      this.errors.add(error);
      throw error;
    }
  }
}

function leftRunning(label: string): HoldfastError {
  return new HoldfastError('next-left-running', `${label} returned while a call of next was still running.`);
}
