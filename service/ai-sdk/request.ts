import { z } from 'zod';
import { isRecord } from '../../contract/check';
import { isMessageId } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json, Part } from '../../contract/messages/messages';
import { hashOf, onlyText } from '../projection/content';
import { ChatQuery, MessageBody, json, roles, shortText } from '../http/schemas';

export const ChatBody = z.strictObject({
  ...MessageBody.pick({ values: true, tags: true, idle: true, deadline: true }).shape,
  until: ChatQuery.shape.until,
  id: z.string(),
  messages: z
    .array(z.strictObject({ id: z.string(), role: z.string(), parts: z.array(json).max(10_000), metadata: json.optional() }))
    .min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
  messageId: z.string().optional(),
  by: shortText.optional(),
  roles: roles.optional(),
  mode: z.enum(['after-turn', 'now']).optional(),
});
export type ChatBody = z.infer<typeof ChatBody>;

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const FilePart = z.looseObject({ type: z.literal('file'), mediaType: z.string().min(1), url: z.string().min(1) });
const AnsweredPart = z.looseObject({
  type: z.string(),
  state: z.literal('approval-responded'),
  approval: z.looseObject({ id: z.string(), approved: z.boolean(), reason: z.string().optional() }),
});
const MadePart = z.looseObject({ toolCallId: z.string(), state: z.literal('output-available'), output: json });
const FailedPart = z.looseObject({ toolCallId: z.string(), state: z.literal('output-error'), errorText: z.string() });
const Facts = z.looseObject({ holdfast: z.looseObject({ offset: z.int().nonnegative() }) });

/** The log has the history, so the body's history is ignored. */
export type ChatWish =
  | { readonly type: 'say'; readonly id: string; readonly content: string | readonly Part[]; readonly again: boolean }
  | {
      readonly type: 'answer';
      readonly decisions: readonly Decision[];
      readonly results: ReadonlyMap<string, { readonly output: Json } | { readonly error: string }>;
      /** The end of the log that the page shows. Decides only where the stream begins. */
      readonly offset?: number;
    };

export interface Decision {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string;
}

export function wishOf({ messages, trigger }: ChatBody): ChatWish {
  const last = messages.at(-1);
  if (last?.role === 'user')
    return { type: 'say', id: sentIdOf(last.id), content: contentOf(last.parts), again: trigger === 'regenerate-message' };
  if (last?.role !== 'assistant')
    throw new HoldfastError('request-invalid', 'The last message must be of the user, or an answer to a call.');
  // Clients decide about a post by the parts after the last step.
  const starts = last.parts.map((part) => isRecord(part) && part['type'] === 'step-start');
  const parts = last.parts.slice(starts.lastIndexOf(true) + 1);
  const decisions = parts.flatMap((part) => {
    const read = AnsweredPart.safeParse(part);
    if (!read.success) return [];
    const { id, approved, reason } = read.data.approval;
    return [{ id, approved, ...defined({ reason }) }];
  });
  const results = new Map<string, { readonly output: Json } | { readonly error: string }>();
  for (const part of parts) {
    const [made, failed] = [MadePart.safeParse(part), FailedPart.safeParse(part)];
    if (made.success) results.set(made.data.toolCallId, { output: made.data.output });
    else if (failed.success) results.set(failed.data.toolCallId, { error: failed.data.errorText });
  }
  if (decisions.length === 0 && results.size === 0)
    throw new HoldfastError('request-invalid', 'The last message is of the assistant, and has no decision and no result of a tool.');
  const facts = Facts.safeParse(last.metadata);
  return { type: 'answer', decisions, results, ...defined({ offset: facts.success ? facts.data.holdfast.offset : undefined }) };
}

function contentOf(parts: readonly unknown[]): string | readonly Part[] {
  const read = parts.flatMap((part): readonly Part[] => {
    const text = TextPart.safeParse(part);
    if (text.success) return text.data.text === '' ? [] : [{ type: 'text', text: text.data.text }];
    const file = FilePart.safeParse(part);
    return file.success ? [fileOf(file.data)] : [];
  });
  if (read.length === 0) throw new HoldfastError('input-invalid', 'The message says nothing: it has no text and no file.');
  return onlyText(read) ?? read;
}

const dataUrl = /^data:[^,]*;base64,/;

function fileOf({ url, mediaType }: z.infer<typeof FilePart>): Part {
  const [head] = dataUrl.exec(url) ?? [];
  return { type: 'file', mediaType, data: head === undefined ? { url } : url.slice(head.length) };
}

/** The same message counts once. */
function sentIdOf(id: string): string {
  return isMessageId(id) ? id : `ai-sdk.${hashOf(id, 40)}`;
}
