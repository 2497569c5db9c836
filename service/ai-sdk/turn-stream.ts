import type { Delta } from '../../contract/deltas';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import { Projection } from '../projection/projection';
import type { Thread } from '../projection/thread';
import { UiFrames } from './frames';
import type { MessageFacts, UiFinishReason, UiPart } from './parts';

export type ShownTurn =
  | {
      readonly turn: number;
      readonly begins: number;
      /** The reader has the parts before `from`. */
      readonly from?: number;
    }
  | { readonly message: string; readonly begins: number };

type TurnEnd = Extract<RunEvent, { type: 'turn-end' }>;

type Until = 'waiting' | 'end';

/** Exactly one of finish, abort and error is the last part. */
export async function* turnStream(chat: Thread, shown: ShownTurn, signal: AbortSignal, until?: Until): AsyncGenerator<UiPart, void, void> {
  const place = 'turn' in shown ? shown : await turnOf(chat, shown, signal, until);
  if (typeof place === 'string') return yield { type: 'error', errorText: place };
  yield* new TurnStream(chat, place, signal, until === 'end').parts();
}

type Place = Extract<ShownTurn, { turn: number }>;

/** Returns a text if no turn will take the message. */
async function turnOf(
  chat: Thread,
  { message, begins }: Extract<ShownTurn, { message: string }>,
  signal: AbortSignal,
  until: Until = 'waiting',
): Promise<Place | string> {
  let from = begins;
  let start = begins;
  for (;;) {
    for await (const event of chat.events({ from, until, signal })) {
      if (event.offset === undefined) continue;
      from = event.offset + 1;
      if (event.type === 'turn-start') start = event.offset;
      if (event.type === 'message' && event.id === message) return { turn: event.turn, begins: start };
      if (event.type === 'message-withdrawn' && event.id === message) return 'Somebody took the message back.';
    }
    const problem = await whyNotGoingOn(chat, signal);
    if (problem !== undefined) return problem;
  }
}

const closing = 'The service stops. The run goes on: come back to see what came of it.';

/** Undefined: the chat continues. */
async function whyNotGoingOn(chat: Thread, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return closing;
  const view = await chat.view();
  if (view?.conversation?.paused === true && view.status === 'idle') return 'The message waits: the chat is paused.';
  if (view === undefined || view.status === 'running' || view.status === 'idle') return undefined;
  if (view.status === 'waiting') return 'The message waits for its turn: the one before waits for somebody.';
  return view.error?.message ?? `The chat is ${view.status}.`;
}

class TurnStream {
  private readonly projection = new Projection();
  private readonly frames = new UiFrames();
  private offset: number;
  private isShowing: boolean;
  private reason: UiFinishReason = 'stop';

  constructor(
    private readonly chat: Thread,
    private readonly place: Place,
    private readonly signal: AbortSignal,
    private readonly stays: boolean,
  ) {
    this.offset = place.begins;
    this.isShowing = place.from === undefined;
  }

  async *parts(): AsyncGenerator<UiPart, void, void> {
    const { chat, place, signal, stays } = this;
    yield { type: 'start', messageId: messageIdOf(place.turn), messageMetadata: this.facts() };
    let until: Until = stays ? 'end' : 'waiting';
    for (;;) {
      for await (const event of chat.events({ from: this.offset, until, signal })) {
        yield* this.show(event);
        if (event.type === 'turn-end' && event.turn === place.turn) return yield* this.end(event);
        if (event.type === 'run-end' || (until === 'end' && !stays && !this.frames.isAtWork)) break;
      }
      until = stays ? 'end' : 'waiting';
      if (signal.aborted) return yield { type: 'error', errorText: closing };
      const view = await chat.view();
      // The chat may have got an answer meanwhile.
      if (view?.status === 'running' || (view !== undefined && view.nextOffset > this.offset)) continue;
      if (view?.status === 'waiting' && !stays && !this.frames.isAtWork) return yield* this.finish('tool-calls');
      if (view?.status === 'waiting') {
        until = 'end';
        continue;
      }
      if (view?.status === 'cancelled') return yield* this.abort(view.cancelled?.reason ?? 'The chat was cancelled.');
      return yield { type: 'error', errorText: view?.error?.message ?? `The chat is ${view?.status ?? 'gone'}.` };
    }
  }

  private *show(event: RunEvent | Delta): Generator<UiPart, void, void> {
    const { from } = this.place;
    if (!this.isShowing && from !== undefined && (event.offset === undefined || event.offset >= from)) {
      this.isShowing = true;
      this.frames.goOn();
    }
    if (event.offset !== undefined) this.offset = event.offset + 1;
    if (event.type === 'model-end') this.reason = event.finish === 'length' || event.finish === 'content-filter' ? event.finish : 'stop';
    for (const step of this.projection.take(event)) for (const part of this.frames.take(step)) if (this.isShowing) yield part;
  }

  private *end({ status, error, usage }: TurnEnd): Generator<UiPart, void, void> {
    if (status === 'failed') {
      yield* this.close();
      return yield { type: 'error', errorText: error?.message ?? 'The turn has failed.' };
    }
    if (status === 'completed') return yield* this.finish(this.reason, usage as unknown as Json);
    yield* this.abort('Somebody stopped the turn.', usage as unknown as Json);
  }

  /** A page adds the empty step only with a later part, and `abort` is none. */
  private *abort(reason: string, usage?: Json): Generator<UiPart, void, void> {
    yield* this.close();
    yield { type: 'message-metadata', messageMetadata: this.facts(usage) };
    yield { type: 'abort', reason };
  }

  private *finish(finishReason: UiFinishReason, usage?: Json): Generator<UiPart, void, void> {
    yield* this.close();
    yield { type: 'finish', finishReason, messageMetadata: this.facts(usage) };
  }

  private *close(): Generator<UiPart, void, void> {
    for (const step of this.projection.end()) yield* this.frames.take(step);
    yield* this.frames.endAll();
  }

  private facts(usage?: Json): { readonly holdfast: MessageFacts } {
    return { holdfast: { run: this.chat.id, turn: this.place.turn, offset: this.offset, ...defined({ usage }) } };
  }
}

/** A turn is one message of the page in all streams. */
export function messageIdOf(turn: number): string {
  return `turn-${turn}`;
}
