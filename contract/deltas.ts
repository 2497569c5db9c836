import type { Json, Part } from './messages/messages';

export interface DeltaOrigin {
  readonly agent: string;
  readonly runPath: readonly string[];
  /** The address in the start event. */
  readonly address: string;
  readonly attempt: number;
}

export type DeltaBody =
  /** Begins an attempt. Late readers see the attempt from the beginning. */
  | { readonly type: 'attempt-start' }
  /** This attempt and earlier attempts do not count. */
  | { readonly type: 'attempt-void' }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** The model begins the arguments of a tool call. */
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly tool: string }
  | { readonly type: 'tool-input-delta'; readonly callId: string; readonly text: string }
  | { readonly type: 'tool-output-delta'; readonly callId: string; readonly tool: string; readonly text?: string; readonly part?: Part }
  | { readonly type: 'tool-progress'; readonly callId: string; readonly tool: string; readonly data: Json }
  /** The next message differs from the deltas: middleware changed it, or deltas were lost. */
  | { readonly type: 'message-replaced' };

/** Provisional: outside the history, without offset, and void with the attempt. The event at the end of the call counts. */
export type Delta = DeltaOrigin & DeltaBody & { readonly offset?: undefined };

/** `runId` is Temporal's id. */
export interface DeltaSink {
  publish(runId: string, delta: Delta): void;
  /** Later readers read the history. */
  settle(runId: string, address: string): void;
}

export interface DeltaSource {
  /** Sends the deltas of open attempts, then new ones. Returns the unsubscribe function. */
  subscribe(runId: string, listener: (delta: Delta) => void): () => void;
  /** Waits for the last deltas of an ended call, but not for long. Absent: deltas never come after the history. */
  settled?(runId: string, address: string): Promise<void>;
}

/**
 * Whether a value of `events()` is a delta of an open call and not an event of the log.
 * @example
 * for await (const event of run.events()) {
 *   if (!isDelta(event)) console.log(event.offset, event.type);
 *   else if (event.type === 'text-delta') process.stdout.write(event.text);
 * }
 */
export function isDelta<Event extends { readonly offset?: number | undefined }>(event: Event | Delta): event is Delta {
  return event.offset === undefined;
}
