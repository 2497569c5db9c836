import type { Json, Part } from './messages/messages';

/** Which call a delta belongs to, and which attempt of it. */
export interface DeltaOrigin {
  readonly agent: string;
  readonly runPath: readonly string[];
  /** Of the model or tool call: the address that its start event carries. */
  readonly address: string;
  readonly attempt: number;
}

/** What comes in while a call runs. */
export type DeltaBody =
  /** Begins what is seen of an attempt. A reader that comes late, or comes back, sees the attempt from its beginning. */
  | { readonly type: 'attempt-start' }
  /** Nothing that was seen of this attempt, or of one before it, counts any more. */
  | { readonly type: 'attempt-void' }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** The model begins to write the arguments of a tool call. */
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly tool: string }
  | { readonly type: 'tool-input-delta'; readonly callId: string; readonly text: string }
  | { readonly type: 'tool-output-delta'; readonly callId: string; readonly tool: string; readonly text?: string; readonly part?: Part }
  | { readonly type: 'tool-progress'; readonly callId: string; readonly tool: string; readonly data: Json }
  /** The message that follows is not the sum of the deltas: a layer changed it, or some of them were lost. */
  | { readonly type: 'message-replaced' };

/**
 * Provisional: it is in no history, has no offset and is void when its attempt is. What counts is the event that ends the call.
 */
export type Delta = DeltaOrigin & DeltaBody & { readonly offset?: undefined };

/** Where calls send their deltas. `runId` is Temporal's own, which no other run ever has. */
export interface DeltaSink {
  publish(runId: string, delta: Delta): void;
  /** The call is over: whoever comes later reads its result in the history. */
  settle(runId: string, address: string): void;
}

export interface DeltaSource {
  /** Tells the deltas of the attempts that are open, then those that come. Returns what ends the telling. */
  subscribe(runId: string, listener: (delta: Delta) => void): () => void;
}

export function isDelta<Event extends { readonly offset?: number | undefined }>(event: Event | Delta): event is Delta {
  return event.offset === undefined;
}
