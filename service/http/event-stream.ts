import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Logger } from '../../host/logger';

export interface StreamOptions {
  /** Milliseconds between comments that keep the connection open. */
  readonly heartbeatMs: number;
  /** Ends the stream when the service closes. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

export interface FrameOptions<Item> extends StreamOptions {
  readonly frameOf: (item: Item) => string;
  /** What stands before the first frame, and behind the last one. */
  readonly first?: string;
  readonly last?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The reader has gone before the end. */
  readonly onGone?: () => void;
}

/** So many characters go out together at most, and a frame more. */
const mostOfPiece = 64 * 1024;

/**
 * Server-sent events. They are made only as fast as they are taken, and a reader that goes away stops the making: the signal of `read` says so,
 * as it says that the service closes.
 */
export function frameStream<Item>(read: (signal: AbortSignal) => AsyncGenerator<Item>, options: FrameOptions<Item>): Response {
  const { heartbeatMs, closing, logger, frameOf, first, last, headers, onGone } = options;
  const gone = new AbortController();
  const pieces = piecesOf(read(AbortSignal.any([gone.signal, closing])), frameOf);
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (first !== undefined) controller.enqueue(encoder.encode(first));
    },
    async pull(controller) {
      // Only now somebody reads: a stream that answers HEAD is never read, and nothing would end what it began.
      heartbeat ??= setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': still here\n\n'));
      }, heartbeatMs);
      try {
        const next = await pieces.next();
        if (gone.signal.aborted) return;
        if (next.done !== true) {
          controller.enqueue(encoder.encode(next.value));
          return;
        }
        clearInterval(heartbeat);
        if (last !== undefined) controller.enqueue(encoder.encode(last));
        controller.close();
      } catch (error) {
        clearInterval(heartbeat);
        logger.warn('A stream of events broke off', { error });
        controller.error(error);
      }
    },
    async cancel() {
      clearInterval(heartbeat);
      gone.abort();
      onGone?.();
      await pieces.return(undefined);
    },
  });
  return new Response(stream, {
    // A proxy that compresses would hold back what comes.
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

/** The frames that are there at one moment, as one text: to write and to read one costs both sides more than to make it. */
async function* piecesOf<Item>(items: AsyncGenerator<Item>, frameOf: (item: Item) => string): AsyncGenerator<string, void> {
  try {
    for (let coming = items.next(); ;) {
      const first = await coming;
      if (first.done === true) return;
      let piece = frameOf(first.value);
      coming = items.next();
      const moment = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
      while (piece.length < mostOfPiece) {
        const next = await Promise.race([coming, moment]).catch(() => undefined);
        if (next === undefined || next.done === true) break;
        piece += frameOf(next.value);
        coming = items.next();
      }
      // What fails here comes behind this piece: the next round hears of it.
      coming.catch(() => undefined);
      yield piece;
    }
  } finally {
    await items.return(undefined);
  }
}

/** The id is the offset, so that a reader that comes back with Last-Event-ID misses nothing. */
export function eventStream(read: (signal: AbortSignal) => AsyncGenerator<RunEvent | Delta>, options: StreamOptions): Response {
  return frameStream(read, { ...options, first: 'retry: 1000\n\n', frameOf });
}

/** A frame of data alone, as the clients of protocols read it. */
export function dataFrame(item: unknown): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

/** A delta has no id: a reader that comes back asks for what followed the last durable event. */
function frameOf(event: RunEvent | Delta): string {
  const id = event.offset === undefined ? '' : `id: ${event.offset}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
