import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { withChange } from '../../contract/middleware-changes';
import { classify } from '../failures';
import { StreamPieces } from './stream-pieces';

/** A wrap itself works while `asked` and not waiting for `next`. */
interface EnteredWrap {
  readonly label: string;
  asked: boolean;
  asking: number;
}

/** Names middleware that never return, and keeps each middleware's changes. */
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

  /** Undefined: the call waits for the model or the tool itself. */
  get waitedFor(): string | undefined {
    for (const { label, asked, asking } of this.entries) if (asked && asking === 0) return label;
    return undefined;
  }

  /** Ends a call shortly before its timeout if a worker middleware is the reason. */
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
  readonly check: (value: unknown) => string | undefined;
  readonly replaced?: (came: unknown, gave: unknown) => void;
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
  const asked = async (request: Request): Promise<Response> => {
    entry.asking += 1;
    try {
      const response = await next(request);
      inside.keep(response);
      return response;
    } catch (error) {
      inside.keepError(error);
      throw error;
    } finally {
      entry.asking -= 1;
    }
  };
  const guarded = (request: Request): Promise<Response> => {
    const promise = asked(request);
    // A wrap may drop the promise.
    promise.catch(() => undefined);
    return promise;
  };
  try {
    const response = await wrap(guarded);
    if (entry.asking > 0) throw leftRunning(label);
    inside.checkOwn(response, label, 'returned');
    if (response !== inside.last) replaced?.(inside.last, response);
    return response;
  } catch (error) {
    throw inside.blame(error, label, signal);
  } finally {
    watch.leave(entry);
  }
}

export async function* guardedStream<Request, Piece>(
  { label, watch, signal, check, changesStream }: WrapGuard,
  wrap: (next: (request: Request) => AsyncIterable<Piece>) => AsyncIterable<Piece>,
  next: (request: Request) => AsyncIterable<Piece>,
): AsyncGenerator<Piece> {
  const entry = watch.enter(label);
  const inside = new InsideWrap(check);
  const reading = new Set<AsyncGenerator<Piece>>();
  try {
    const stream = wrap((request) => streamInside(() => next(request), { entry, inside, reading }));
    if (typeof (stream as AsyncIterable<Piece> | undefined)?.[Symbol.asyncIterator] !== 'function')
      throw new HoldfastError('hook-failed', `${label} returned no stream; it is to return an AsyncIterable.`);
    for await (const piece of stream) {
      entry.asked = false;
      inside.checkOwn(piece, label, 'streamed');
      if (changesStream !== undefined) inside.pieces.goes(piece, inside.last);
      yield piece;
      entry.asked = true;
    }
    if (inside.pieces.areOthers) changesStream?.();
    if (reading.size === 0) return;
    for (const pieces of reading) void pieces.return(undefined).catch(() => undefined);
    throw leftRunning(label);
  } catch (error) {
    throw inside.blame(error, label, signal);
  } finally {
    watch.leave(entry);
  }
}

interface StreamedWrap<Piece> {
  readonly entry: EnteredWrap;
  readonly inside: InsideWrap;
  readonly reading: Set<AsyncGenerator<Piece>>;
}

/** A stream that the wrap never reads has not begun, so nothing is left running. */
function streamInside<Piece>(begin: () => AsyncIterable<Piece>, { entry, inside, reading }: StreamedWrap<Piece>): AsyncGenerator<Piece> {
  async function* read(): AsyncGenerator<Piece> {
    reading.add(pieces);
    entry.asking += 1;
    try {
      for await (const piece of begin()) {
        entry.asking -= 1;
        inside.keep(piece);
        inside.pieces.comes(piece);
        yield piece;
        entry.asking += 1;
      }
    } catch (error) {
      entry.asking -= 1;
      inside.keepError(error);
      throw error;
    } finally {
      reading.delete(pieces);
    }
    entry.asking -= 1;
  }
  const pieces = read();
  return pieces;
}

/** The middleware is not to blame for values and errors from inside its wrap. */
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
