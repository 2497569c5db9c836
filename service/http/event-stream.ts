import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Logger } from '../../host/logger';

export interface EventStreamOptions {
  /** Milliseconds between comments that keep the connection open. */
  readonly heartbeatMs: number;
  /** Ends the stream when the service closes. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

/**
 * Server-sent events: the id is the offset, so that a reader that comes back with Last-Event-ID misses nothing. Events are read only as fast as
 * they are taken, and a reader that goes away stops the reading.
 */
export function eventStream(read: (signal: AbortSignal) => AsyncGenerator<RunEvent | Delta>, options: EventStreamOptions): Response {
  const { heartbeatMs, closing, logger } = options;
  const gone = new AbortController();
  const events = read(AbortSignal.any([gone.signal, closing]));
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode('retry: 1000\n\n'));
    },
    async pull(controller) {
      // Only now somebody reads: a stream that answers HEAD is never read, and nothing would end what it began.
      heartbeat ??= setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': still here\n\n'));
      }, heartbeatMs);
      try {
        const next = await events.next();
        if (gone.signal.aborted) return;
        if (next.done !== true) {
          controller.enqueue(encoder.encode(frameOf(next.value)));
          return;
        }
        clearInterval(heartbeat);
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
      await events.return(undefined);
    },
  });
  return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' } });
}

/** A delta has no id: a reader that comes back asks for what followed the last durable event. */
function frameOf(event: RunEvent | Delta): string {
  const id = event.offset === undefined ? '' : `id: ${event.offset}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
