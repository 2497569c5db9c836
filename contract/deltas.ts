import type { Json, Part } from './messages/messages';

/** The call of a delta, and its attempt. */
export interface DeltaOrigin {
  readonly agent: string;
  readonly runPath: readonly string[];
  /** Of the call, as in its start event. */
  readonly address: string;
  readonly attempt: number;
}

export type DeltaBody =
  /** Begins an attempt. A late reader sees the attempt from its beginning. */
  | { readonly type: 'attempt-start' }
  /** Nothing of this attempt or an earlier attempt counts. */
  | { readonly type: 'attempt-void' }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** The model begins the arguments of a tool call. */
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly tool: string }
  | { readonly type: 'tool-input-delta'; readonly callId: string; readonly text: string }
  | { readonly type: 'tool-output-delta'; readonly callId: string; readonly tool: string; readonly text?: string; readonly part?: Part }
  | { readonly type: 'tool-progress'; readonly callId: string; readonly tool: string; readonly data: Json }
  /** The next message is not the sum of the deltas: a layer changed it, or some were lost. */
  | { readonly type: 'message-replaced' };

/** Provisional: in no history, without offset, and void with its attempt. The event at the end of the call counts. */
export type Delta = DeltaOrigin & DeltaBody & { readonly offset?: undefined };

/** Where calls send deltas. `runId` is Temporal's own id. */
export interface DeltaSink {
  publish(runId: string, delta: Delta): void;
  /** The call is over: later readers read the history. */
  settle(runId: string, address: string): void;
}

export interface DeltaSource {
  /** Tells the deltas of open attempts, then new deltas. Returns a function that ends the telling. */
  subscribe(runId: string, listener: (delta: Delta) => void): () => void;
}

export function isDelta<Event extends { readonly offset?: number | undefined }>(event: Event | Delta): event is Delta {
  return event.offset === undefined;
}
