import { defined } from '../../contract/defined';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Json, Message } from '../../contract/messages/messages';
import { isMessage, textOf } from '../../contract/messages/messages';
import type { AgentMiddleware, AgentState, HookContext } from '../../kernel/define/middleware';
import { traitsOf, withTraits } from '../../kernel/define/traits';
import { contextTokens, countedTokens, estimateTokens } from '../token-count';
import { generateSummary } from './attempts';
import { checkedResult } from './finalizers';
import type { SummarizationOptions, SummaryAttempt, SummaryRequest } from './options';
import { checkedSummarization } from './options';
import { summaryTexts } from './prompts';
import { isMade, summaryMark, withUserMessages } from './user-messages';

const defaultTrigger: NonNullable<SummarizationOptions['trigger']> = { tokens: 160_000 };

/**
 * Replaces messages by another model's summary when the messages grow too long.
 * @example
 * export const compact = summarization({
 *   model: 'openai/gpt-5-mini',
 *   trigger: { tokens: 100_000 },
 *   keepMessages: 6,
 * });
 */
export function summarization(options: SummarizationOptions): AgentMiddleware {
  const checked = checkedSummarization(options);
  const { trigger = defaultTrigger, tokenCounter = contextTokens, finalize } = checked;
  const middleware: AgentMiddleware = {
    name: 'summarization',
    async beforeModelRewriteState(state, ctx) {
      if (!partsOf(state.messages, checked).hasNews) return undefined;
      const isOver =
        (trigger.messages !== undefined && state.messages.length > trigger.messages) ||
        (trigger.tokens !== undefined && countedTokens('summarization', tokenCounter, state, ctx) > trigger.tokens);
      return isOver ? { messages: await summarized(state, ctx, checked) } : undefined;
    },
  };
  const reason = 'The second one would summarize the summary of the first; keep one of them: its trigger takes tokens and messages.';
  const { remembersTools = [] } = traitsOf(finalize ?? {});
  return withTraits(middleware, { onlyOne: reason, offersTools: [], remembersTools });
}

/**
 * Summarizes the messages at once, for hooks, whatever the trigger says.
 * @example
 * export const nightly: AgentMiddleware = {
 *   name: 'nightly',
 *   beforeModelRewriteState: async (state, ctx) =>
 *     state.messages.length < 100 ? undefined : { messages: await summarize(state, ctx, { model: 'openai/gpt-5-mini' }) },
 * };
 */
export async function summarize(state: AgentState, ctx: HookContext, options: SummarizationOptions): Promise<readonly Message[]> {
  return summarized(state, ctx, checkedSummarization(options));
}

interface Parts {
  readonly leading: readonly Message[];
  readonly old: readonly Message[];
  readonly kept: readonly Message[];
  readonly hasNews: boolean;
}

function partsOf(messages: readonly Message[], { keepMessages = 0 }: SummarizationOptions): Parts {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const begin = first === -1 ? messages.length : first;
  let end = Math.max(begin, messages.length - keepMessages);
  while (end > begin && messages[end]?.role === 'tool') end -= 1;
  const old = messages.slice(begin, end);
  return { leading: messages.slice(0, begin), old, kept: messages.slice(end), hasNews: old.some((message) => !isMade(message)) };
}

async function summarized(state: AgentState, ctx: HookContext, options: SummarizationOptions): Promise<readonly Message[]> {
  const { finalize, onSummary, userMessageTokens = 30_000 } = options;
  const send = sender(ctx, options);
  const { messages } = state;
  const { leading, old, kept } = partsOf(messages, options);
  send({ type: 'before_summarize', messages: messages.length, tokens: estimateTokens(messages) });
  const onAttempt = (model: string, { attempt, error }: SummaryAttempt): void =>
    send({ type: 'generate_summary', model, attempt, ...defined({ error }) });
  const response = await generateSummary({ options, ctx, onAttempt }, await requestOf(old, ctx, options));
  const summary = summaryMessage(withUserMessages(textOf(response.message).trim(), old, userMessageTokens), ctx, options);
  const result = [...leading, summary, ...kept];
  const after =
    finalize === undefined ? result : checkedResult(await finalize({ messages, summary, result }, ctx), 'finalize of summarization');
  send({ type: 'after_summarize', messages: after.length, tokens: estimateTokens(after) });
  await onSummary?.({ before: messages, after }, ctx);
  return after;
}

function sender(ctx: HookContext, { emitEvents = false }: SummarizationOptions): (action: Json) => void {
  if (!emitEvents) return () => undefined;
  return (action) => {
    try {
      ctx.sendEvent({ name: 'summarization', action });
    } catch (error) {
      throw new HoldfastError(thrownCodeOf(error) ?? 'hook-failed', `failed to send internal event: ${messageOf(error)}`);
    }
  };
}

async function requestOf(old: readonly Message[], ctx: HookContext, options: SummarizationOptions): Promise<SummaryRequest> {
  const { genModelInput, userInstruction, maxInputTokens } = options;
  if (genModelInput !== undefined) return checkedRequest(await genModelInput(old, ctx));
  const { instructions, request } = summaryTexts[ctx.language];
  const asking: Message = { role: 'user', parts: [{ type: 'text', text: userInstruction ?? request }] };
  return { instructions, messages: [...newest(old, maxInputTokens), asking] };
}

function newest(messages: readonly Message[], mostTokens: number | undefined): readonly Message[] {
  if (mostTokens === undefined) return messages;
  let begin = messages.length;
  for (let tokens = 0; begin > 0; begin--) {
    tokens += estimateTokens(messages.slice(begin - 1, begin));
    if (tokens > mostTokens) break;
  }
  while (messages[begin]?.role === 'tool') begin += 1;
  return messages.slice(begin);
}

function checkedRequest(request: unknown): SummaryRequest {
  const { instructions, messages } = (request ?? {}) as Partial<SummaryRequest>;
  if (typeof instructions === 'string' && Array.isArray(messages) && messages.length > 0 && messages.every(isMessage))
    return { instructions, messages };
  throw new HoldfastError(
    'hook-failed',
    'genModelInput of summarization returned no request; it is to return { instructions, messages }, with at least one message.',
  );
}

function summaryMessage(summary: string, { language }: HookContext, { transcriptPath }: SummarizationOptions): Message {
  const { preamble, goOn, transcript } = summaryTexts[language];
  const hint = transcriptPath === undefined ? [] : [transcript(transcriptPath)];
  return {
    role: 'user',
    parts: [{ type: 'text', text: [preamble, summary, ...hint, goOn].join('\n\n') }],
    extra: { [summaryMark]: 'summary' },
  };
}
