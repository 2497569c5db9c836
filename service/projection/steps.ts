import type { RunEvent } from '../../contract/events';
import type { Json, StoredMessage } from '../../contract/messages/messages';

export interface OfAgent {
  readonly agent: string;
  readonly runPath: readonly string[];
}

interface OfCall {
  readonly callId: string;
  readonly tool: string;
}

/**
 * A step of a run, in an order that all protocols accept: each piece that opens is closed, and may open again. `id` is the id of the message: the
 * address of the model call, so the log alone gives the same id.
 */
export type ShownStep =
  | (OfAgent &
      (
        | { readonly step: `${PieceKind}-start` | `${PieceKind}-end`; readonly id: string }
        | { readonly step: PieceKind; readonly id: string; readonly text: string }
        | ({ readonly step: 'call-start'; readonly id: string } & OfCall)
        | { readonly step: 'call-input'; readonly callId: string; readonly text: string }
        | { readonly step: 'call-end'; readonly callId: string }
        /** The pieces of this message are void. All of them are closed. */
        | { readonly step: 'void'; readonly id: string }
        /** The message is complete, and all its pieces were shown. */
        | { readonly step: 'message'; readonly id: string; readonly message: StoredMessage }
        | ({ readonly step: 'result'; readonly message: StoredMessage } & OfCall)
        | ({ readonly step: 'progress'; readonly data: Json } & OfCall)
        /** A piece of the result of a streaming tool. `all` has the pieces before as well. */
        | ({ readonly step: 'output'; readonly text: string; readonly all: string } & OfCall)
      ))
  | { readonly step: 'event'; readonly event: RunEvent };

export type PieceKind = 'text' | 'reasoning';
