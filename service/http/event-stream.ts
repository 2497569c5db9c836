import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Entered } from '../access/gate';
import type { AppParts } from '../parts';

type StreamOptions = Pick<AppParts, 'heartbeatMs' | 'closing' | 'logger'> & Pick<Entered, 'isKnown'>;

interface FrameOptions<Item> extends StreamOptions {
  readonly frameOf: (item: Item) => string;
  /** Texts before the first and after the last frame. */
  readonly first?: string;
  readonly last?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onGone?: () => void;
}

/** Most characters, plus one frame, that go out together. */
const mostOfPiece = 64 * 1024;

/** Server-sent events at the reader's speed. The signal of `read` aborts when the reader goes away, and when the service closes. */
export function frameStream<Item>(read: (signal: AbortSignal) => AsyncGenerator<Item>, options: FrameOptions<Item>): Response {
  const { heartbeatMs, closing, logger, isKnown, frameOf, first, last, headers, onGone } = options;
  const gone = new AbortController();
  const unknown = new AbortController();
  const pieces = piecesOf(read(AbortSignal.any([gone.signal, closing, unknown.signal])), frameOf);
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (first !== undefined) controller.enqueue(encoder.encode(first));
    },
    async pull(controller) {
      // Starts with the first read: a stream for HEAD has no reader, so no end would clear the interval.
      heartbeat ??= setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': still here\n\n'));
        // A key may have been revoked since the stream began.
        void isKnown().then((known) => known || unknown.abort());
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
    // A proxy that compresses would hold events back.
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-store, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

/** Joins ready frames: a write and a read for each frame cost more than the frame. */
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
      // The next round reports an error, after this piece.
      coming.catch(() => undefined);
      yield piece;
    }
  } finally {
    await items.return(undefined);
  }
}

/** Offsets are ids, so a reader with `Last-Event-ID` misses nothing. */
export function eventStream(read: (signal: AbortSignal) => AsyncGenerator<RunEvent | Delta>, options: StreamOptions): Response {
  return frameStream(read, { ...options, first: 'retry: 1000\n\n', frameOf });
}

export function dataFrame(item: unknown): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

/** Deltas have no id, so a reader returns after the last durable event. */
function frameOf(event: RunEvent | Delta): string {
  const id = event.offset === undefined ? '' : `id: ${event.offset}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
