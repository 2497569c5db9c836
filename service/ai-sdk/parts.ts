import type { Json } from '../../contract/messages/messages';
import { z } from 'zod';
import type { Interrupt } from '../../contract/interrupts';
import type { Answerer } from '../../contract/who-may-answer';
import { mayAnswer } from '../../contract/who-may-answer';

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

interface ShowContext extends Answerer {
  readonly agent: string;
  readonly chat: string;
  readonly tool?: string;
}

export interface AiSdkUiOptions {
  /** Runs for each part. A returned part replaces the part; `false` leaves out the part and all later parts of the call. */
  readonly show?: (part: UiPart, context: ShowContext) => UiPart | false | undefined | void;
}

export const AiSdkUiOptionsSchema = z.strictObject({
  show: z.custom<NonNullable<AiSdkUiOptions['show']>>((value) => typeof value === 'function', 'is no function').optional(),
}) as z.ZodType<AiSdkUiOptions>;

export type Shows = (part: UiPart) => UiPart | undefined;

/**
 * Only people who may answer get a question's details. All readers get a call's state, without which a page would post its decision again
 * and again.
 */
export function showsTo({ show }: AiSdkUiOptions, reader: ShowContext): Shows {
  const tools = new Map<string, string>();
  const hidden = new Set<string>();
  return (part) => {
    if ('toolName' in part) tools.set(part.toolCallId, part.toolName);
    if (part.type === 'data-holdfast-interrupt') {
      const key = `data ${part.id}`;
      if ('kind' in (part.data as object) && !mayAnswer(part.data as unknown as Interrupt, reader, Date.now())) hidden.add(key);
      if (hidden.has(key)) return undefined;
    }
    const call = 'toolCallId' in part ? part.toolCallId : part.type.startsWith('data-holdfast-') && 'id' in part ? part.id : undefined;
    if (call !== undefined && hidden.has(call)) return undefined;
    const tool = tools.get(call ?? '');
    const given = show?.(part, tool === undefined ? reader : { ...reader, tool });
    if (given === false && call !== undefined) hidden.add(call);
    return given === false ? undefined : (given ?? part);
  };
}
