import type { RunEvent } from '../../contract/events';
import type { Json, StoredMessage } from '../../contract/messages/messages';

interface InAgent {
  readonly agent: string;
  readonly runPath: readonly string[];
}

/**
 * What every protocol shows of a run, in an order that all of them take. What opens closes, and may open again to
 * go on. What is shown under a message is the message, or void. `id` is of the message: the address of the model call, so that the log alone gives the same.
 */
export type ShownStep =
  | (InAgent & { readonly step: PieceStart | PieceEnd; readonly id: string })
  | (InAgent & { readonly step: 'text' | 'reasoning'; readonly id: string; readonly text: string })
  | (InAgent & { readonly step: 'call-start'; readonly id: string; readonly callId: string; readonly tool: string })
  | (InAgent & { readonly step: 'call-input'; readonly callId: string; readonly text: string })
  | (InAgent & { readonly step: 'call-end'; readonly callId: string })
  /** What was shown under this message counts no more. All its pieces are closed. */
  | (InAgent & { readonly step: 'void'; readonly id: string })
  /** The message is complete, and all of it is shown. */
  | (InAgent & { readonly step: 'message'; readonly id: string; readonly message: StoredMessage })
  | (InAgent & { readonly step: 'result'; readonly callId: string; readonly tool: string; readonly message: StoredMessage })
  | (InAgent & { readonly step: 'progress'; readonly callId: string; readonly tool: string; readonly data: Json })
  /** More of what a streaming tool returns. `text` is the piece, and `all` what came so far. */
  | (InAgent & { readonly step: 'output'; readonly callId: string; readonly tool: string; readonly text: string; readonly all: string })
  /** All else, as the log has it. */
  | { readonly step: 'event'; readonly event: RunEvent };

export type PieceStart = 'text-start' | 'reasoning-start';
export type PieceEnd = 'text-end' | 'reasoning-end';
