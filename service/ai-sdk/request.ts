import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isMessageId } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json, Part } from '../../contract/messages/messages';
import { ChatQuery, MessageBody } from '../http/schemas';

const json = z.custom<z.core.util.JSONType>((value) => value !== undefined, 'is missing');
const shortText = z.string().min(1).max(200);

/** What a page posts, and beside it who speaks or decides, with what a chat begins, and how long the answer is open. */
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
  roles: z.array(shortText).max(100).optional(),
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

/** What a page asks for. Nothing of the history that it posts is read: that stands in the log. */
export type ChatWish =
  | { readonly type: 'say'; readonly id: string; readonly content: string | readonly Part[]; readonly again: boolean }
  | {
      readonly type: 'answer';
      readonly decisions: readonly Decision[];
      /** Results of calls that the page made, by the ids of the calls. */
      readonly results: ReadonlyMap<string, { readonly output: Json } | { readonly error: string }>;
      /** How far the message shows the log, as the page says. It decides on nothing but what is shown. */
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
  const parts = behindLastStep(last.parts);
  const decisions = parts.flatMap((part) => {
    const read = AnsweredPart.safeParse(part);
    if (!read.success) return [];
    const { id, approved, reason } = read.data.approval;
    return [{ id, approved, ...defined({ reason }) }];
  });
  const results = new Map<string, { readonly output: Json } | { readonly error: string }>();
  for (const part of parts) {
    const [made, failed] = [MadePart.safeParse(part), FailedPart.safeParse(part)];
    if (made.success) results.set(made.data.toolCallId, { output: made.data.output as Json });
    else if (failed.success) results.set(failed.data.toolCallId, { error: failed.data.errorText });
  }
  if (decisions.length === 0 && results.size === 0)
    throw new HoldfastError('request-invalid', 'The last message is of the assistant, and has no decision and no result of a tool.');
  const facts = Facts.safeParse(last.metadata);
  return { type: 'answer', decisions, results, ...defined({ offset: facts.success ? facts.data.holdfast.offset : undefined }) };
}

/** Clients look at these parts alone when they decide whether to post. */
function behindLastStep(parts: readonly unknown[]): readonly unknown[] {
  const starts = parts.map((part) => typeof part === 'object' && part !== null && 'type' in part && part.type === 'step-start');
  return parts.slice(starts.lastIndexOf(true) + 1);
}

function contentOf(parts: readonly unknown[]): string | readonly Part[] {
  const read = parts.flatMap((part): readonly Part[] => {
    const text = TextPart.safeParse(part);
    if (text.success) return text.data.text === '' ? [] : [{ type: 'text', text: text.data.text }];
    const file = FilePart.safeParse(part);
    return file.success ? [fileOf(file.data)] : [];
  });
  if (read.length === 0) throw new HoldfastError('input-invalid', 'The message says nothing: it has no text and no file.');
  const [only] = read;
  return read.length === 1 && only?.type === 'text' ? only.text : read;
}

const dataUrl = /^data:[^,]*;base64,/;

function fileOf({ url, mediaType }: z.infer<typeof FilePart>): Part {
  const [head] = dataUrl.exec(url) ?? [];
  return { type: 'file', mediaType, data: head === undefined ? { url } : url.slice(head.length) };
}

/** The id under which the conversation knows a message of a page. The same message counts once. */
function sentIdOf(id: string): string {
  return isMessageId(id) ? id : `ai-sdk.${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}
