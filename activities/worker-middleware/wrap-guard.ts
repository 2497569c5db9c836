import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { withChange } from '../../contract/middleware-changes';
import { classify } from '../failures';
import { StreamPieces } from './stream-pieces';

/** A wrap at work. The wrap itself works while it is asked for something and does not wait for `next`. */
interface EnteredWrap {
  readonly label: string;
  asked: boolean;
  asking: number;
}

/** Knows the worker middleware of a call: to name a middleware that never returns, and for the changes of each middleware. */
export class WrapWatch {
  private readonly entries = new Set<EnteredWrap>();
  private changes: readonly MiddlewareChange[] = [];

  changed(middleware: string, hook: string, changed: MiddlewareChange['changed']): void {
    if (changed.length > 0) this.changes = withChange(this.changes, { middleware, hook, changed, onWorker: true });
  }

  get noted(): { readonly changes?: readonly MiddlewareChange[] } {
    return this.changes.length === 0 ? {} : { changes: this.changes };
  }

  enter(label: string): EnteredWrap {
    const entry = { label, asked: true, asking: 0 };
    this.entries.add(entry);
    return entry;
  }

  leave(entry: EnteredWrap): void {
    this.entries.delete(entry);
  }

  /** The worker middleware that the call waits for. Undefined: the call waits for the model or the tool itself. */
  get waitedFor(): string | undefined {
    for (const { label, asked, asking } of this.entries) if (asked && asking === 0) return label;
    return undefined;
  }

  /** Ends a call shortly before its time is up if a worker middleware is the reason. */
  async inTime<T>(timeoutMs: number | undefined, work: () => Promise<T>): Promise<T> {
    const running = work();
    if (timeoutMs === undefined || timeoutMs <= 0) return running;
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

export function labelOfWrap(hook: string, name: string): string {
  return `${hook} of worker middleware "${name}"`;
}

export interface WrapGuard {
  readonly label: string;
  readonly watch: WrapWatch;
  readonly signal: AbortSignal;
  /** The problem of a value that the wrap returned or streamed. */
  readonly check: (value: unknown) => string | undefined;
  /** Called if the wrap returned something else than its `next`. */
  readonly replaced?: (came: unknown, gave: unknown) => void;
  /** Called at the end of a changed stream. */
  readonly changesStream?: () => void;
}

/** Errors of the worker middleware itself get its name. Errors from inside pass unchanged. */
export async function guardedWhole<Request, Response>(
  { label, watch, signal, check, replaced }: WrapGuard,
  wrap: (next: (request: Request) => Promise<Response>) => Promise<Response>,
  next: (request: Request) => Promise<Response>,
): Promise<Response> {
  const entry = watch.enter(label);
  const inside = new InsideWrap(check);
  const running = new Set<Promise<Response>>();
  const guarded = (request: Request): Promise<Response> => {
    const settle = (): void => {
      running.delete(promise);
      entry.asking -= 1;
    };
    const promise = next(request).then(
      (response) => {
        settle();
        inside.keep(response);
        return response;
      },
      (error: unknown) => {
        settle();
        inside.keepError(error);
        throw error;
      },
    );
    // A wrap may drop the promise.
    promise.catch(() => undefined);
    running.add(promise);
    entry.asking += 1;
    return promise;
  };
  try {
    const response = await wrap(guarded);
    if (running.size > 0) throw leftRunning(label);
    inside.checkOwn(response, label, 'returned');
    if (response !== inside.last) replaced?.(inside.last, response);
    return response;
  } catch (error) {
    throw inside.blame(error, label, signal);
  } finally {
    watch.leave(entry);
  }
}

/** The same for a wrap around a stream. A piece costs two promises for each wrap, and streams have thousands of pieces. */
export function guardedStream<Request, Piece>(
  guard: WrapGuard,
  wrap: (next: (request: Request) => AsyncIterable<Piece>) => AsyncIterable<Piece>,
  next: (request: Request) => AsyncIterable<Piece>,
): AsyncIterableIterator<Piece> {
  return new GuardedStream(guard, wrap, next);
}

class GuardedStream<Request, Piece> implements AsyncIterableIterator<Piece> {
  private readonly inside: InsideWrap;
  /** The streams that the wrap has begun to read. */
  private readonly open = new Set<StreamInside<Piece>>();
  private entry: EnteredWrap | undefined;
  private stream: AsyncIterator<Piece> | undefined;
  private over = false;

  constructor(
    private readonly guard: WrapGuard,
    private readonly wrap: (next: (request: Request) => AsyncIterable<Piece>) => AsyncIterable<Piece>,
    private readonly nextLayer: (request: Request) => AsyncIterable<Piece>,
  ) {
    this.inside = new InsideWrap(guard.check);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Piece>> {
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    try {
      this.entry ??= this.guard.watch.enter(this.guard.label);
      this.stream ??= this.begin(this.entry);
      this.entry.asked = true;
      // A wrap may return any iterator, also an iterator that answers at once.
      return Promise.resolve(this.stream.next()).then(this.took, this.failed);
    } catch (error) {
      return Promise.reject(this.blamed(error));
    }
  }

  async return(): Promise<IteratorResult<Piece>> {
    const stream = this.over ? undefined : this.stream;
    this.leave();
    await stream?.return?.();
    return { done: true, value: undefined };
  }

  private begin(entry: EnteredWrap): AsyncIterator<Piece> {
    const { label } = this.guard;
    const stream = this.wrap((request) => new StreamInside(() => this.nextLayer(request), entry, this.inside, this.open)) as
      AsyncIterable<Piece> | undefined;
    if (typeof stream?.[Symbol.asyncIterator] !== 'function')
      throw new HoldfastError('hook-failed', `${label} returned no stream; it is to return an AsyncIterable.`);
    return stream[Symbol.asyncIterator]();
  }

  private readonly took = (result: IteratorResult<Piece>): IteratorResult<Piece> => {
    if (this.entry !== undefined) this.entry.asked = false;
    try {
      if (result.done === true) {
        this.leave();
        if (this.inside.pieces.areOthers) this.guard.changesStream?.();
        if (this.open.size === 0) return { done: true, value: undefined };
        for (const pieces of this.open) void pieces.return().catch(() => undefined);
        throw leftRunning(this.guard.label);
      }
      this.inside.checkOwn(result.value, this.guard.label, 'streamed');
      if (this.guard.changesStream !== undefined) this.inside.pieces.goes(result.value, this.inside.last);
      return result;
    } catch (error) {
      throw this.blamed(error);
    }
  };

  private readonly failed = (error: unknown): never => {
    throw this.blamed(error);
  };

  private blamed(error: unknown): unknown {
    const { label, signal } = this.guard;
    const stream = this.over ? undefined : this.stream;
    this.leave();
    // Releases the streams of the wrap, which nobody reads any more.
    void Promise.resolve(stream?.return?.()).catch(() => undefined);
    return this.inside.blame(error, label, signal);
  }

  private leave(): void {
    this.over = true;
    if (this.entry !== undefined) this.guard.watch.leave(this.entry);
  }
}

/** A stream of `next`. A stream that the wrap never reads has not begun, and is not left running. */
class StreamInside<Piece> implements AsyncIterableIterator<Piece> {
  private stream: AsyncIterator<Piece> | undefined;
  private over = false;

  constructor(
    private readonly begin: () => AsyncIterable<Piece>,
    private readonly entry: EnteredWrap,
    private readonly inside: InsideWrap,
    private readonly open: Set<StreamInside<Piece>>,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Piece>> {
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    if (this.stream === undefined) {
      this.open.add(this);
      this.stream = this.begin()[Symbol.asyncIterator]();
    }
    this.entry.asking += 1;
    return Promise.resolve(this.stream.next()).then(this.took, this.failed);
  }

  async return(): Promise<IteratorResult<Piece>> {
    const stream = this.over ? undefined : this.stream;
    this.leave();
    await stream?.return?.();
    return { done: true, value: undefined };
  }

  private readonly took = (result: IteratorResult<Piece>): IteratorResult<Piece> => {
    this.entry.asking -= 1;
    if (result.done === true) this.leave();
    else {
      this.inside.keep(result.value);
      this.inside.pieces.comes(result.value);
    }
    return result;
  };

  private readonly failed = (error: unknown): never => {
    this.entry.asking -= 1;
    this.leave();
    this.inside.keepError(error);
    throw error;
  };

  private leave(): void {
    this.over = true;
    this.open.delete(this);
  }
}

/** Values and errors from inside a wrap, which are not the mistake of the middleware. */
class InsideWrap {
  private readonly errors = new Set<unknown>();
  private readonly oddities = new Set<unknown>();

  readonly pieces = new StreamPieces();
  last: unknown;

  constructor(private readonly check: (value: unknown) => string | undefined) {}

  keep(value: unknown): void {
    this.last = value;
    if (this.check(value) !== undefined) this.oddities.add(value);
  }

  keepError(error: unknown): void {
    this.errors.add(error);
  }

  checkOwn(value: unknown, label: string, did: string): void {
    const problem = this.check(value);
    if (problem !== undefined && !this.oddities.has(value)) throw new HoldfastError('hook-failed', `${label} ${did} ${problem}.`);
  }

  blame(error: unknown, label: string, signal: AbortSignal): unknown {
    if (this.errors.has(error) || signal.aborted || thrownCodeOf(error) !== undefined) return error;
    const message = `${label} failed: ${messageOf(error).slice(0, limits.errorMessage)}`;
    return new HoldfastError('hook-failed', message, { cause: error, details: { retryable: classify(error).retryable } });
  }
}

function leftRunning(label: string): HoldfastError {
  return new HoldfastError('next-left-running', `${label} returned while a call of next was still running.`);
}
