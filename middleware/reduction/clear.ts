import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { jsonSize } from '../../contract/limits';
import { cut } from '../../contract/shown';
import type { Json, JsonObject, Message, Part } from '../../contract/messages/messages';
import { isMessage, notJson } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import type { CallPart, ResultPart, ToolRound } from '../tool-rounds';
import { callPartsOf, resultsByCall, toolRounds } from '../tool-rounds';
import { isRecord } from '../../contract/check';
import { estimateTokens } from '../token-count';
import type { ClearedCall, ReductionOptions } from './options';
import { offloadsCleared } from './options';
import type { OffloadItem, OffloadRequest } from './plain';
import { clearedNotice, clearedPlaceholder, offloadPath, offloadToolName, textOfOutput } from './plain';

const mark = 'reduction';

interface Clearing {
  readonly call: CallPart;
  readonly result: ResultPart;
  readonly message: Message;
  text?: string;
  readonly input?: Json;
  readonly offload?: OffloadItem;
  readonly isNotice?: true;
}

export async function clearedMessages(
  messages: readonly Message[],
  options: ReductionOptions,
  ctx: HookContext,
): Promise<readonly Message[] | undefined> {
  const rounds = oldRounds(messages, options, ctx);
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

function oldRounds(messages: readonly Message[], options: ReductionOptions, ctx: HookContext): readonly ToolRound[] {
  const { clearRetentionSuffixLimit = 1 } = options;
  const rounds = toolRounds(messages);
  return rounds.slice(0, -(clearRetentionSuffixLimit || 1)).filter((round) => hitCalls(round, options, ctx).length > 0);
}

function hitCalls(
  { assistant, results }: ToolRound,
  { clearExcludeTools = [], toolConfig = {} }: ReductionOptions,
  ctx: HookContext,
): readonly CallPart[] {
  if (isMarked(assistant)) return [];
  const handled = results
    .filter(isMarked)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])));
  return callPartsOf(assistant).filter(({ id, name: written }) => {
    const name = ctx.nameOfTool(written);
    return !clearExcludeTools.includes(name) && toolConfig[name]?.skipClear !== true && !handled.includes(id);
  });
}

function isMarked({ extra }: Message): boolean {
  return extra?.[mark] !== undefined;
}

function enough(before: readonly Message[], after: readonly Message[], { clearAtLeastTokens = 0 }: ReductionOptions): boolean {
  return clearAtLeastTokens === 0 || estimateTokens(before) - estimateTokens(after) >= clearAtLeastTokens;
}

async function clearingsOf(round: ToolRound, options: ReductionOptions, ctx: HookContext): Promise<readonly Clearing[]> {
  const { toolConfig = {}, clearOffloadPath } = options;
  const byCall = resultsByCall(round);
  const clearings: Clearing[] = [];
  for (const call of hitCalls(round, options, ctx)) {
    const result = byCall.get(call);
    const message = round.results.find(({ parts }) => result !== undefined && parts.includes(result));
    if (result === undefined || message === undefined) continue;
    const place = { call, result, message };
    const own = toolConfig[ctx.nameOfTool(call.name)]?.clear;
    if (own !== undefined) {
      const said = checkedCall(await own({ call: ctx.namedCall(call), output: result.output }, ctx), call, options);
      if (said === undefined) continue;
      const { input, text, offload } = said;
      const stored = offload === undefined ? undefined : itemOf(place, offload.text, offload.path);
      clearings.push({
        ...place,
        ...defined({ input, offload: stored }),
        ...(text !== undefined ? { text } : stored === undefined ? {} : { text: noticeOfItem(stored, options, ctx), isNotice: true }),
      });
    } else if (offloadsCleared(options)) {
      const path = clearOffloadPath?.(ctx.namedCall(call), ctx);
      const text = textOfOutput(result.output, result.multipart === true);
      const offload = itemOf(place, text, path === undefined ? undefined : checkedText(path, call));
      clearings.push({ ...place, offload, text: noticeOfItem(offload, options, ctx), isNotice: true });
    } else clearings.push({ ...place, text: clearedPlaceholder });
  }
  return clearings;
}

function itemOf({ call, message }: Pick<Clearing, 'call' | 'message'>, text: string, path: string | undefined): OffloadItem {
  return { callId: call.id, place: message.id ?? '', text, ...defined({ path }) };
}

function noticeOfItem({ callId, place, path }: OffloadItem, options: ReductionOptions, ctx: HookContext): string {
  const { rootDir = 'offload', readFileToolName = 'read_file' } = options;
  return clearedNotice(path ?? offloadPath(rootDir, ctx.runId, 'clear', { place, callId }), readFileToolName);
}

function checkedText(text: unknown, { name }: CallPart): string {
  if (typeof text === 'string' && text !== '') return text;
  throw new HoldfastError('hook-failed', `reduction got ${typeof text} for a result of "${name}", where a function is to return a text.`);
}

function checkedCall(said: unknown, call: CallPart, options: ReductionOptions): ClearedCall | undefined {
  if (said === undefined || said === null) return undefined;
  if (!isRecord(said)) return { text: checkedText(said, call) };
  const refuse = (problem: string): never => {
    throw new HoldfastError('hook-failed', `reduction: clear of toolConfig of "${call.name}" returned ${problem}.`);
  };
  const { input, text, offload, ...others } = said;
  const [other] = Object.keys(others);
  if (other !== undefined) return refuse(`an object with "${cut(other)}"; it has input, text and offload`);
  if (input === undefined && text === undefined && offload === undefined) return undefined;
  if (text !== undefined && (typeof text !== 'string' || text === ''))
    return refuse(`a text that is ${text === '' ? 'empty' : typeof text}`);
  const problem = input === undefined ? undefined : notJson(input);
  if (problem !== undefined) return refuse(`an input that is not JSON: ${problem}`);
  if (offload !== undefined) {
    if (!isRecord(offload) || typeof offload['text'] !== 'string') return refuse('an offload that has no text; it is { text, path }');
    const { path } = offload;
    if (path !== undefined && (typeof path !== 'string' || path === '')) return refuse('an offload whose path is no text');
    if (!offloadsCleared(options)) return refuse('an offload, and nothing is stored; write offloadCleared: true beside it');
  }
  return said;
}

const mostAtOnce = 128 * 1024;

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
    for (const [position, clearing] of batch.entries())
      if (clearing.isNotice === true) clearing.text = clearedNotice(String(paths[position]), readFileToolName);
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
  const byPart = new Map<Part, Clearing>();
  for (const clearing of clearings) {
    byPart.set(clearing.result, clearing);
    if (clearing.input !== undefined) byPart.set(clearing.call, clearing);
  }
  return messages.map((message) => {
    if (!message.parts.some((part) => byPart.has(part))) return message;
    const parts = message.parts.map((part) => changedPart(part, byPart.get(part)));
    return message.role === 'tool' ? { ...message, parts, extra: marked(message.extra) } : { ...message, parts };
  });
}

function changedPart(part: Part, clearing: Clearing | undefined): Part {
  if (clearing === undefined) return part;
  const { input, text } = clearing;
  if (part.type === 'tool-call') return input === undefined ? part : { ...part, input };
  if (part.type !== 'tool-result' || text === undefined) return part;
  const { callId, name, isError } = part;
  return { type: 'tool-result', callId, name, output: text, ...(isError === true ? { isError: true } : {}) };
}

function marked(extra: JsonObject | undefined): JsonObject {
  return { ...extra, [mark]: 'cleared' };
}

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
    const hit = hitCalls(round, options, ctx);
    const byCall = resultsByCall(round);
    const outputs = hit.map((call): Json | undefined => byCall.get(call)?.output);
    const shown = withCalls(assistant, hit);
    const made = checkedMessages(
      await options.clearMessageRewriter?.({ assistant: shown, calls: hit.map((call) => ctx.namedCall(call)), results: outputs }, ctx),
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
