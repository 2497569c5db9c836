import type { MaybePromise } from '../../contract/maybe-promise';
import { modelSettings } from '../../contract/model-settings';
import type { Message, ModelSettings } from '../../contract/messages/messages';
import type { HookContext, ModelResponse } from '../../kernel/define/middleware';
import { bound, checkOptions, count, filled, flag, func, refusing, required, shape, text } from '../../contract/check';
import type { TokenCounter } from '../token-count';
import type { SummaryFinalizer } from './finalizers';

/** What a model is asked for a summary with. */
export interface SummaryRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
}

/** A call for a summary that has ended, with an answer or with an error. */
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
  /** Milliseconds before the k-th retry, from 1. Default: about a second, then twice as long each time up to 10 seconds and half of it. */
  readonly backoff?: (k: number) => number;
}

/** How the model before ended, for whoever chooses the next one. */
export interface SummaryFailoverAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly lastError: { readonly code: string; readonly message: string };
  readonly lastResponse?: ModelResponse;
  /** What the first model was asked. */
  readonly request: SummaryRequest;
}

export interface SummaryFailoverOptions {
  /** Default: 3. */
  readonly maxRetries?: number;
  /** Default: every error, and an answer without text. */
  readonly shouldFailover?: (ended: SummaryAttempt) => boolean;
  /** The next model, and what it is asked where that is something else. Default: the same model and the same request. */
  readonly getFailoverModel?: (attempt: SummaryFailoverAttempt) => { readonly model: string; readonly messages?: readonly Message[] };
}

export interface SummarizationOptions {
  /** The model that summarizes. */
  readonly model: string;
  readonly settings?: ModelSettings;
  /** With more tokens or more messages than this there is a summary. Default: 160,000 tokens. */
  readonly trigger?: { readonly tokens?: number; readonly messages?: number };
  /** How many of the newest messages stay behind the summary. A call and its results stay together. Default: 0. */
  readonly keepMessages?: number;
  /** What of the user's own words stays in the summary, in tokens. Default: 30,000. */
  readonly userMessageTokens?: number;
  /** The most tokens that the model which summarizes is given; the oldest messages are left out. Default: no bound. */
  readonly maxInputTokens?: number;
  /** Default: what the last answer reported, with an estimate of what came after it. */
  readonly tokenCounter?: TokenCounter;
  /** Sends the events `before_summarize`, `generate_summary` and `after_summarize`, as `custom` events. Default: false. */
  readonly emitEvents?: boolean;
  /** What the model is told behind the conversation, instead of the built-in text. */
  readonly userInstruction?: string;
  /** Where the whole conversation can be read. It is told behind the summary. */
  readonly transcriptPath?: string;
  /** Makes the whole request. */
  readonly genModelInput?: (messages: readonly Message[], ctx: HookContext) => MaybePromise<SummaryRequest>;
  /** Says what the messages are to be. */
  readonly finalize?: SummaryFinalizer;
  /** Looks on when there is a summary. */
  readonly onSummary?: (
    change: { readonly before: readonly Message[]; readonly after: readonly Message[] },
    ctx: HookContext,
  ) => MaybePromise<void>;
  /** Default: the server makes a call again that failed in passing. */
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

/** A trigger of 0, and one under what a summary leaves, would summarize before every call. */
function checkTrigger({ tokens, messages }: NonNullable<SummarizationOptions['trigger']>, keepMessages: number): void {
  const refuse = refusing('summarization.trigger');
  if (tokens === undefined && messages === undefined) refuse('it has neither tokens nor messages; leave it out, or write one of them.');
  if (messages !== undefined && keepMessages > 0 && messages <= keepMessages + 1)
    refuse(
      `messages is ${messages}, and a summary leaves ${keepMessages + 1} (keepMessages and itself): it would always fire. Write at least ${keepMessages + 2}.`,
    );
}
