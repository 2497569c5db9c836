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
 * Orders steps for all protocols: opened pieces are closed, and may open again. `id` is the model call's address, so the log alone gives
 * the same id.
 */
export type ShownStep =
  | (OfAgent &
      (
        | { readonly step: `${PieceKind}-start` | `${PieceKind}-end`; readonly id: string }
        | { readonly step: PieceKind; readonly id: string; readonly text: string }
        | ({ readonly step: 'call-start'; readonly id: string } & OfCall)
        | { readonly step: 'call-input'; readonly callId: string; readonly text: string }
        | { readonly step: 'call-end'; readonly callId: string }
        | { readonly step: 'void'; readonly id: string }
        | { readonly step: 'message'; readonly id: string; readonly message: StoredMessage }
        | ({ readonly step: 'result'; readonly message: StoredMessage } & OfCall)
        | ({ readonly step: 'progress'; readonly data: Json } & OfCall)
        /** A streaming tool's result. `all` includes earlier pieces. */
        | ({ readonly step: 'output'; readonly text: string; readonly all: string } & OfCall)
      ))
  | { readonly step: 'event'; readonly event: RunEvent };

export type PieceKind = 'text' | 'reasoning';
