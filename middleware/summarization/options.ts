import type { MaybePromise } from '../../contract/maybe-promise';
import { modelSettings } from '../../contract/model-settings';
import type { Message, ModelSettings } from '../../contract/messages/messages';
import type { HookContext, ModelResponse } from '../../kernel/define/middleware';
import { bound, checkOptions, count, filled, flag, func, refusing, required, shape, text } from '../../contract/check';
import type { TokenCounter } from '../token-count';
import type { SummaryFinalizer } from './finalizers';

export interface SummaryRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
}

export interface SummaryAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly response?: ModelResponse;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface SummaryRetryOptions {
  /** Default: 3. */
  readonly maxRetries?: number;
  /** Default: every error, and an answer without text. */
  readonly shouldRetry?: (ended: SummaryAttempt) => boolean;
  /** Milliseconds before the k-th retry, from 1. Default: one second, doubled up to 10, plus up to half. */
  readonly backoff?: (k: number) => number;
}

export interface SummaryFailoverAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly lastError: { readonly code: string; readonly message: string };
  readonly lastResponse?: ModelResponse;
  readonly request: SummaryRequest;
}

export interface SummaryFailoverOptions {
  /** Default: 3. */
  readonly maxRetries?: number;
  /** Default: every error, and an answer without text. */
  readonly shouldFailover?: (ended: SummaryAttempt) => boolean;
  /** Default: the same model and request. */
  readonly getFailoverModel?: (attempt: SummaryFailoverAttempt) => { readonly model: string; readonly messages?: readonly Message[] };
}

export interface SummarizationOptions {
  readonly model: string;
  readonly settings?: ModelSettings;
  /** Summarizes above one of the bounds. Default: 160,000 tokens. */
  readonly trigger?: { readonly tokens?: number; readonly messages?: number };
  /** Newest messages that stay. Calls keep their results. Default: 0. */
  readonly keepMessages?: number;
  /** Tokens of the user's words in the summary. Default: 30,000. */
  readonly userMessageTokens?: number;
  /** Most tokens for the summarizing model; the oldest messages go first. Default: no bound. */
  readonly maxInputTokens?: number;
  /** Default: `contextTokens`. */
  readonly tokenCounter?: TokenCounter;
  /** Sends `before_summarize`, `generate_summary` and `after_summarize` as `custom` events. Default: false. */
  readonly emitEvents?: boolean;
  /** After the conversation, in place of the built-in text. */
  readonly userInstruction?: string;
  /** The place of the whole conversation, named after the summary. */
  readonly transcriptPath?: string;
  readonly genModelInput?: (messages: readonly Message[], ctx: HookContext) => MaybePromise<SummaryRequest>;
  readonly finalize?: SummaryFinalizer;
  readonly onSummary?: (
    change: { readonly before: readonly Message[]; readonly after: readonly Message[] },
    ctx: HookContext,
  ) => MaybePromise<void>;
  /** Default: the server repeats calls that failed in passing. */
  readonly retry?: SummaryRetryOptions;
  readonly failover?: SummaryFailoverOptions;
}

export function checkedSummarization(options: unknown): SummarizationOptions {
  const checked = checkOptions<SummarizationOptions>('summarization', options, {
    model: required(filled),
    settings: modelSettings,
    trigger: shape({ tokens: bound, messages: bound }, 'an object with tokens or messages, such as { tokens: 100_000 }'),
    keepMessages: count,
    userMessageTokens: count,
    maxInputTokens: bound,
    tokenCounter: func,
    emitEvents: flag,
    userInstruction: text,
    transcriptPath: filled,
    genModelInput: func,
    finalize: func,
    onSummary: func,
    retry: shape({ maxRetries: count, shouldRetry: func, backoff: func }),
    failover: shape({ maxRetries: count, shouldFailover: func, getFailoverModel: func }),
  });
  const { trigger, keepMessages = 0 } = checked;
  for (const field of ['userInstruction', 'maxInputTokens'] as const)
    if (checked.genModelInput !== undefined && checked[field] !== undefined)
      refusing('summarization')(`${field} would do nothing beside genModelInput, which makes the whole request; leave one of them out.`);
  if (trigger !== undefined) checkTrigger(trigger, keepMessages);
  return checked;
}

function checkTrigger({ tokens, messages }: NonNullable<SummarizationOptions['trigger']>, keepMessages: number): void {
  const refuse = refusing('summarization.trigger');
  if (tokens === undefined && messages === undefined) refuse('it has neither tokens nor messages; leave it out, or write one of them.');
  if (messages !== undefined && keepMessages > 0 && messages <= keepMessages + 1)
    refuse(
      `messages is ${messages}, and a summary leaves ${keepMessages + 1} (keepMessages and itself): it would always fire. Write at least ${keepMessages + 2}.`,
    );
}
