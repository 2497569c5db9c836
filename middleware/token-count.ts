import { HoldfastError } from '../contract/errors';
import { jsonSize, utf8Length } from '../contract/limits';
import type { Message, Part } from '../contract/messages/messages';
import type { AgentState, HookContext } from '../kernel/define/middleware';

/** Runs in the workflow: no I/O. */
export type TokenCounter = (state: AgentState, ctx: HookContext) => number;

const bytesPerToken = 4;
const tokensPerFile = 2000;
const known = new WeakMap<Message, number>();

/**
 * Estimates the tokens of messages: a quarter of the bytes, and 2,000 for each file.
 * @example
 * export const brief: AgentMiddleware = {
 *   name: 'brief',
 *   beforeModelRewriteState: ({ messages }) => (estimateTokens(messages) > 50_000 ? { messages: messages.slice(-10) } : undefined),
 * };
 */
export function estimateTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) tokens += estimateOf(message);
  return tokens;
}

export function tokensOfText(text: string): number {
  return Math.ceil(utf8Length(text) / bytesPerToken);
}

/**
 * Estimates the tokens of the next request: the last answer's tokens plus an estimate of later messages, or an estimate of all.
 * @example
 * export const warning: AgentMiddleware = {
 *   name: 'warning',
 *   beforeModelRewriteState(state, ctx) {
 *     if (contextTokens(state, ctx) > 100_000) ctx.sendEvent('long', null);
 *   },
 * };
 */
export function contextTokens({ messages }: AgentState, { lastAnswer }: Pick<HookContext, 'lastAnswer'>): number {
  if (lastAnswer === undefined || lastAnswer.position >= messages.length) return estimateTokens(messages);
  return lastAnswer.tokens + estimateTokens(messages.slice(lastAnswer.position + 1));
}

export function countedTokens(middleware: string, counter: TokenCounter, state: AgentState, ctx: HookContext): number {
  const tokens: unknown = counter(state, ctx);
  if (typeof tokens === 'number' && tokens >= 0) return tokens;
  throw new HoldfastError('hook-failed', `tokenCounter of ${middleware} returned ${String(tokens)}; it is to return a number, at once.`);
}

function estimateOf(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  let bytes = 0;
  let files = 0;
  for (const part of message.parts) {
    bytes += bytesOf(part);
    files += filesIn(part);
  }
  const tokens = Math.ceil(bytes / bytesPerToken) + files * tokensPerFile;
  if (Object.isFrozen(message)) known.set(message, tokens);
  return tokens;
}

function bytesOf(part: Part): number {
  if (part.type === 'text' || part.type === 'reasoning') return utf8Length(part.text);
  if (part.type === 'file') return 0;
  if (part.type === 'tool-call') return utf8Length(part.name) + jsonSize(part.input);
  if (part.type !== 'tool-result') return jsonSize(part);
  if (part.multipart === true) return (part.output as unknown as readonly Part[]).reduce((sum, item) => sum + bytesOf(item), 0);
  return typeof part.output === 'string' ? utf8Length(part.output) : jsonSize(part.output);
}

function filesIn(part: Part): number {
  if (part.type === 'file') return 1;
  if (part.type !== 'tool-result' || part.multipart !== true) return 0;
  return (part.output as unknown as readonly Part[]).reduce((sum, item) => sum + filesIn(item), 0);
}
