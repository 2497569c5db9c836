import type { Message, Part } from '../../contract/messages/messages';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { bound, checkOptions, count, flag, func, names, text } from '../../contract/check';
import { withTraits } from '../../kernel/define/traits';
import type { TokenCounter } from '../token-count';
import { contextTokens, countedTokens, estimateTokens } from '../token-count';
import type { ResultPart } from '../tool-rounds';

export interface ContextEditingOptions {
  /** Clears above this number of tokens. Default: 100,000. */
  readonly triggerTokens?: number;
  /** Number of newest results that stay. Default: 3. */
  readonly keep?: number;
  /** Clears nothing if fewer tokens would go. Default: 0. */
  readonly clearAtLeastTokens?: number;
  /** Tools whose results stay. */
  readonly excludeTools?: readonly string[];
  /** Clears arguments, too. Default: false. */
  readonly clearToolInputs?: boolean;
  /** Replaces a result. Default: `[cleared]`. */
  readonly placeholder?: string;
  /** Default: `contextTokens`. */
  readonly tokenCounter?: TokenCounter;
}

const mark = 'contextEditing';

/**
 * Clears the results of old tool calls for good when the messages grow too long.
 * @example
 * export const tidy = contextEditing({
 *   triggerTokens: 60_000,
 *   keep: 5,
 *   excludeTools: ['findOrder'],
 * });
 */
export function contextEditing(options?: ContextEditingOptions): AgentMiddleware {
  const {
    triggerTokens = 100_000,
    keep = 3,
    clearAtLeastTokens = 0,
    excludeTools = [],
    clearToolInputs = false,
    placeholder = '[cleared]',
    tokenCounter = contextTokens,
  } = checkOptions<ContextEditingOptions>('contextEditing', options, {
    triggerTokens: bound,
    keep: count,
    clearAtLeastTokens: count,
    excludeTools: names,
    clearToolInputs: flag,
    placeholder: text,
    tokenCounter: func,
  });
  const middleware: AgentMiddleware = {
    name: 'contextEditing',
    beforeModelRewriteState(state, ctx) {
      const { messages } = state;
      const results = messages.filter(({ role }) => role === 'tool');
      const old = new Set(keep === 0 ? results : results.slice(0, -keep));
      const stays = (part: ResultPart): boolean => excludeTools.includes(ctx.nameOfTool(part.name));
      if (![...old].some((message) => isClearable(message, stays))) return undefined;
      if (countedTokens('contextEditing', tokenCounter, state, ctx) <= triggerTokens) return undefined;
      const edited = messages.map((message) =>
        old.has(message) && isClearable(message, stays) ? clearedResult(message, placeholder, stays) : message,
      );
      const whole = clearToolInputs ? withoutInputs(messages, edited) : edited;
      if (clearAtLeastTokens > 0 && estimateTokens(messages) - estimateTokens(whole) < clearAtLeastTokens) return undefined;
      return { messages: whole };
    },
  };
  return withTraits(middleware, { isNumbered: true, offersTools: [], remembersTools: excludeTools });
}

function isClearable({ parts, extra }: Message, stays: (part: ResultPart) => boolean): boolean {
  return extra?.[mark] === undefined && parts.some((part) => part.type === 'tool-result' && !stays(part));
}

function clearedResult(message: Message, placeholder: string, stays: (part: ResultPart) => boolean): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool-result' || stays(part)) return part;
    const { type, callId, name, isError } = part;
    return { type, callId, name, output: placeholder, ...(isError === true ? { isError } : {}) };
  });
  return { ...message, parts, extra: { ...message.extra, [mark]: 'cleared' } };
}

function withoutInputs(before: readonly Message[], after: readonly Message[]): readonly Message[] {
  return after.map((message, at) => {
    if (message.role !== 'assistant') return message;
    const cleared = new Set<string>();
    for (let end = at + 1; after[end]?.role === 'tool'; end++)
      if (after[end] !== before[end]) for (const part of after[end]?.parts ?? []) if (part.type === 'tool-result') cleared.add(part.callId);
    if (cleared.size === 0) return message;
    const parts = message.parts.map((part): Part => (part.type === 'tool-call' && cleared.has(part.id) ? { ...part, input: {} } : part));
    return { ...message, parts };
  });
}
