import { HoldfastError, isErrorCode } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { Thread } from '../projection/thread';
import { logBetween, queuedIn } from '../projection/thread-log';
import type { ResponseRef } from './response-id';
import { offsetOf, responseIdOf, unknownResponse } from './response-id';
import type { ResponseFacts } from './segment';
import { ResponseSegment } from './segment';
import type { ResponseEvent, ResponseObject } from './types';

export interface ResponseReading {
  readonly thread: Thread;
  readonly ref: ResponseRef;
  readonly model: string;
  readonly facts?: ResponseFacts;
  readonly after?: number;
  readonly signal: AbortSignal;
}

/** A client that goes away ends the stream, not the turn. */
export async function* streamResponse(reading: ResponseReading): AsyncGenerator<ResponseEvent, void, void> {
  const { thread, ref, model, facts, after, signal } = reading;
  const segment = new ResponseSegment(ref, model, facts, after);
  yield* segment.created();
  let from = offsetOf(ref);
  // A message in the queue of an idle conversation waits for a worker, or for `unpause`.
  let isQueued = false;
  for (;;) {
    const { hasBegun } = segment;
    for await (const event of thread.events({ from, until: isQueued ? 'end' : 'waiting', signal })) {
      if (event.offset !== undefined) from = event.offset + 1;
      yield* segment.take(event);
      if (segment.isOver) return;
      if (isQueued && segment.hasBegun) break;
    }
    isQueued = false;
    if (signal.aborted) return yield* segment.problem({ code: 'service-closing', message: 'The service stops. The run goes on.' });
    if (segment.hasBegun && !hasBegun) continue;
    const view = await thread.view();
    if (view?.status === 'running' || (view !== undefined && view.nextOffset > from)) continue;
    isQueued = view?.status === 'idle' && !segment.hasBegun;
    if (isQueued) continue;
    const stands = yield* segment.stand(view);
    if (stands !== undefined) yield* segment.problem(stands.problem);
    return;
  }
}

/** The queued response if the earlier turn waits for an answer. */
export async function endedResponse(reading: ResponseReading): Promise<ResponseObject> {
  let last: ResponseEvent | undefined;
  for await (const event of streamResponse(reading)) last = event;
  if (last?.type === 'error' && last.code === 'interrupts-open') return responseNow(reading);
  if (last?.type === 'error') throw new HoldfastError(isErrorCode(last.code) ? last.code : 'internal', last.message);
  if (last === undefined || !('response' in last)) throw unknownResponse(responseIdOf(reading.ref));
  return last.response;
}

/** Throws if the log lacks the response. */
export async function responseNow(reading: ResponseReading, view?: RunView): Promise<ResponseObject> {
  const { segment, seen } = await readAll(reading, view);
  if (seen.status !== 'running') drain(segment.stand(seen));
  return segment.response;
}

export async function isAtWork(reading: ResponseReading): Promise<boolean> {
  const { segment } = await readAll(reading, undefined);
  return segment.hasBegun && !segment.isOver;
}

export async function logOfResponse(reading: ResponseReading, view?: RunView): Promise<readonly RunEvent[]> {
  return (await readAll(reading, view)).log;
}

async function readAll({ thread, ref, model, facts, signal }: ResponseReading, given: RunView | undefined) {
  const seen = given ?? (await thread.view());
  const log = seen === undefined ? [] : await logBetween(thread, offsetOf(ref), seen.nextOffset, signal);
  const segment = new ResponseSegment(ref, model, facts);
  for (const event of log) drain(segment.take(event));
  if (seen === undefined || !(segment.isKnown || segment.isOver || queuedIn(seen, ref.message) !== undefined))
    throw unknownResponse(responseIdOf(ref));
  return { segment, seen, log };
}

function drain(events: Iterator<unknown>): void {
  while (events.next().done !== true);
}
