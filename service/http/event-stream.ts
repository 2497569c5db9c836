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

/**
 * Server-sent events. They are made only as fast as they are taken, and a reader that goes away stops the making: the signal of `read` says so,
 * as it says that the service closes.
 */
export function frameStream<Item>(read: (signal: AbortSignal) => AsyncGenerator<Item>, options: FrameOptions<Item>): Response {
  const { heartbeatMs, closing, logger, frameOf, first, last, headers, onGone } = options;
  const gone = new AbortController();
  const items = read(AbortSignal.any([gone.signal, closing]));
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
        const next = await items.next();
        if (gone.signal.aborted) return;
        if (next.done !== true) {
          controller.enqueue(encoder.encode(frameOf(next.value)));
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
      await items.return(undefined);
    },
  });
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no', ...headers },
  });
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
