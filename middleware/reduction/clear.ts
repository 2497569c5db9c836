import { HoldfastError } from '../../contract/plain/errors';
import { jsonSize } from '../../contract/plain/limits';
import type { Json, JsonObject, Message, Part, ToolCall } from '../../contract/plain/messages';
import { isMessage } from '../../contract/plain/messages';
import type { HookContext } from '../../kernel/middleware';
import type { CallPart, ResultPart, ToolRound } from '../tool-rounds';
import { callPartsOf, resultsByCall, toolRounds } from '../tool-rounds';
import { estimateTokens } from '../token-count';
import type { ReductionOptions } from './options';
import { offloadsCleared } from './options';
import type { OffloadItem, OffloadRequest } from './plain';
import { clearedNotice, clearedPlaceholder, offloadPath, offloadToolName, textOfOutput } from './plain';

/** In the `extra` of a message that was cleared or made by a rewriter: it is not looked at again. */
const mark = 'reduction';

/** A result that is cleared, and what stands in its place once that is known. */
interface Clearing {
  readonly call: CallPart;
  readonly result: ResultPart;
  readonly message: Message;
  text: string;
  readonly offload?: OffloadItem;
}

/** The messages with old results cleared, or nothing when there is nothing to clear or too little would go. */
export async function clearedMessages(
  messages: readonly Message[],
  options: ReductionOptions,
  ctx: HookContext,
): Promise<readonly Message[] | undefined> {
  const rounds = oldRounds(messages, options);
  if (rounds.length === 0) return undefined;
  if (options.clearMessageRewriter !== undefined) {
    const after = await rewritten(messages, rounds, options, ctx);
    return enough(messages, after, options) ? after : undefined;
  }
  const clearings: Clearing[] = [];
  for (const round of rounds) clearings.push(...(await clearingsOf(round, options, ctx)));
  if (clearings.length === 0 || !enough(messages, withTexts(messages, clearings), options)) return undefined;
  await offload(clearings, options, ctx);
  return withTexts(messages, clearings);
}

/** Rounds before the newest ones that have something to clear. */
function oldRounds(messages: readonly Message[], options: ReductionOptions): readonly ToolRound[] {
  const { clearRetentionSuffixLimit = 1 } = options;
  const rounds = toolRounds(messages);
  return rounds.slice(0, -(clearRetentionSuffixLimit || 1)).filter((round) => hitCalls(round, options).length > 0);
}

function hitCalls({ assistant, results }: ToolRound, { clearExcludeTools = [], toolConfig = {} }: ReductionOptions): readonly CallPart[] {
  if (isMarked(assistant)) return [];
  const handled = results
    .filter(isMarked)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])));
  return callPartsOf(assistant).filter(
    ({ id, name }) => !clearExcludeTools.includes(name) && toolConfig[name]?.skipClear !== true && !handled.includes(id),
  );
}

function isMarked({ extra }: Message): boolean {
  return extra?.[mark] !== undefined;
}

function enough(before: readonly Message[], after: readonly Message[], { clearAtLeastTokens = 0 }: ReductionOptions): boolean {
  return clearAtLeastTokens === 0 || estimateTokens(before) - estimateTokens(after) >= clearAtLeastTokens;
}

async function clearingsOf(round: ToolRound, options: ReductionOptions, ctx: HookContext): Promise<readonly Clearing[]> {
  const { rootDir = 'offload', readFileToolName = 'read_file', toolConfig = {}, clearOffloadPath } = options;
  const byCall = resultsByCall(round);
  const clearings: Clearing[] = [];
  for (const call of hitCalls(round, options)) {
    const result = byCall.get(call);
    const message = round.results.find(({ parts }) => result !== undefined && parts.includes(result));
    if (result === undefined || message === undefined) continue;
    const own = toolConfig[call.name]?.clear;
    if (own !== undefined) {
      clearings.push({ call, result, message, text: checkedText(await own({ call: toolCall(call), output: result.output }, ctx), call) });
    } else if (offloadsCleared(options)) {
      const path = clearOffloadPath?.(toolCall(call), ctx);
      const place = message.id ?? '';
      const text = textOfOutput(result.output, result.multipart === true);
      clearings.push({
        call,
        result,
        message,
        text: clearedNotice(path ?? offloadPath(rootDir, ctx.runId, place, 'clear', call.id), readFileToolName),
        offload: { callId: call.id, place, text, ...(path === undefined ? {} : { path: checkedText(path, call) }) },
      });
    } else clearings.push({ call, result, message, text: clearedPlaceholder });
  }
  return clearings;
}

function checkedText(text: unknown, { name }: CallPart): string {
  if (typeof text === 'string' && text !== '') return text;
  throw new HoldfastError('hook-failed', `reduction got ${typeof text} for a result of "${name}", where a function is to return a text.`);
}

function toolCall({ id, name, input }: CallPart): ToolCall {
  return { id, name, input };
}

const mostAtOnce = 128 * 1024;

/** Stores what is cleared, in calls that are not too large, and takes the paths that come back. */
async function offload(clearings: readonly Clearing[], options: ReductionOptions, ctx: HookContext): Promise<void> {
  const { rootDir = 'offload', readFileToolName = 'read_file' } = options;
  let batch: Clearing[] = [];
  let bytes = 0;
  const store = async (): Promise<void> => {
    if (batch.length === 0) return;
    const request: OffloadRequest = { rootDir, results: batch.map(({ offload: item }) => item as OffloadItem) };
    const paths: unknown = await ctx.call(offloadToolName, request);
    if (!Array.isArray(paths) || paths.length !== batch.length)
      throw new HoldfastError('hook-failed', `The tool "${offloadToolName}" gave no paths; take the one that offloadTools makes.`);
    batch.forEach((clearing, position) => (clearing.text = clearedNotice(String(paths[position]), readFileToolName)));
    batch = [];
    bytes = 0;
  };
  for (const clearing of clearings) {
    if (clearing.offload === undefined) continue;
    const size = jsonSize(clearing.offload);
    if (bytes + size > mostAtOnce) await store();
    batch.push(clearing);
    bytes += size;
  }
  await store();
}

function withTexts(messages: readonly Message[], clearings: readonly Clearing[]): readonly Message[] {
  const byResult = new Map(clearings.map((clearing) => [clearing.result as Part, clearing.text]));
  const touched = new Set(clearings.map(({ message }) => message));
  return messages.map((message) => {
    if (!touched.has(message)) return message;
    const parts = message.parts.map((part): Part => {
      const text = byResult.get(part);
      if (text === undefined || part.type !== 'tool-result') return part;
      return {
        type: 'tool-result',
        callId: part.callId,
        name: part.name,
        output: text,
        ...(part.isError === true ? { isError: true } : {}),
      };
    });
    return { ...message, parts, extra: marked(message.extra) };
  });
}

function marked(extra: JsonObject | undefined): JsonObject {
  return { ...extra, [mark]: 'cleared' };
}

/** Each round as the rewriter has it; calls that are not cleared keep their message and their results. */
async function rewritten(
  messages: readonly Message[],
  rounds: readonly ToolRound[],
  options: ReductionOptions,
  ctx: HookContext,
): Promise<readonly Message[]> {
  const after = new Map<number, readonly Message[]>();
  const gone = new Set<Message>();
  for (const round of rounds) {
    const { at, assistant, results } = round;
    const hit = hitCalls(round, options);
    const byCall = resultsByCall(round);
    const outputs = hit.map((call): Json | undefined => byCall.get(call)?.output);
    const shown = withCalls(assistant, hit);
    const made = checkedMessages(
      await options.clearMessageRewriter?.({ assistant: shown, calls: hit.map(toolCall), results: outputs }, ctx),
    );
    const cleared = new Set<Part>(hit.flatMap((call) => byCall.get(call) ?? []));
    const others = callPartsOf(assistant).filter((call) => !hit.includes(call));
    const left = results.filter(({ parts }) => !parts.some((part) => cleared.has(part)));
    const rest = others.length === 0 ? [] : [{ ...withCalls(assistant, others), extra: marked(assistant.extra) }, ...left];
    for (const message of results) gone.add(message);
    after.set(at, [...made.map((message) => ({ ...message, extra: marked(message.extra) })), ...rest]);
  }
  return messages.flatMap((message, at) => after.get(at) ?? (gone.has(message) ? [] : [message]));
}

function withCalls(assistant: Message, calls: readonly CallPart[]): Message {
  return { ...assistant, parts: assistant.parts.filter((part) => part.type !== 'tool-call' || calls.includes(part)) };
}

function checkedMessages(made: unknown): readonly Message[] {
  if (made === undefined || made === null) return [];
  if (Array.isArray(made) && made.every(isMessage)) return made;
  throw new HoldfastError(
    'hook-failed',
    'clearMessageRewriter of reduction returned no messages; it is to return a list of them, or nothing.',
  );
}
