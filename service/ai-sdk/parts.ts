import type { Json } from '../../contract/messages/messages';

/** The metadata `holdfast` of a message. `offset`: the end of the shown log. */
export interface MessageFacts {
  readonly run: string;
  readonly turn: number;
  readonly offset?: number;
  readonly usage?: Json;
  readonly by?: string;
}

interface Metadata {
  readonly messageMetadata?: { readonly holdfast: MessageFacts };
}

export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls';

/** A client of AI SDK 6 fails on unknown parts other than `data-…`. */
export type UiPart =
  | (Metadata & { readonly type: 'start'; readonly messageId: string })
  | (Metadata & { readonly type: 'finish'; readonly finishReason: UiFinishReason })
  | { readonly type: 'message-metadata'; readonly messageMetadata: { readonly holdfast: MessageFacts } }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'start-step' | 'finish-step' }
  /** The page keeps `providerMetadata`, and not the id. */
  | {
      readonly type: 'text-start' | 'reasoning-start';
      readonly id: string;
      readonly providerMetadata: { readonly holdfast: { readonly message: string } };
    }
  | { readonly type: 'text-end' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | { readonly type: 'tool-input-available'; readonly toolCallId: string; readonly toolName: string; readonly input: Json }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: Json; readonly preliminary?: true }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: Json };
