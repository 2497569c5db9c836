import { HoldfastError } from '../../contract/errors';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import type { HookContext, MaybePromise, ModelResponse } from '../../kernel/define/middleware';
import type { Form } from '../checked-options';
import {
  bound,
  checkSettings,
  checkedOptions,
  count,
  flag,
  func,
  isRecord,
  nameForm,
  record,
  refuseFor,
  requiredName,
  text,
} from '../checked-options';
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

const required = (fits: Form): Form => [(value) => value === undefined || isRecord(value), fits[1]];

export function checkedSummarization(options: unknown): SummarizationOptions {
  const checked = checkedOptions<SummarizationOptions>('summarization', options, {
    model: requiredName,
    settings: record,
    trigger: required([isRecord, 'an object with tokens or messages, such as { tokens: 100_000 }']),
    keepMessages: count,
    userMessageTokens: count,
    maxInputTokens: bound,
    tokenCounter: func,
    emitEvents: flag,
    userInstruction: text,
    transcriptPath: [nameForm[0], 'a path'],
    genModelInput: func,
    finalize: func,
    onSummary: func,
    retry: record,
    failover: record,
  });
  const { trigger, keepMessages = 0, retry, failover } = checked;
  checkSettings('summarization', checked.settings);
  for (const field of ['userInstruction', 'maxInputTokens'] as const)
    if (checked.genModelInput !== undefined && checked[field] !== undefined)
      refuseFor('summarization')(`${field} would do nothing beside genModelInput, which makes the whole request; leave one of them out.`);
  if (trigger !== undefined) checkTrigger(trigger, keepMessages);
  if (retry !== undefined)
    checkedOptions<SummaryRetryOptions>('summarization.retry', retry, { maxRetries: count, shouldRetry: func, backoff: func });
  if (failover !== undefined)
    checkedOptions<SummaryFailoverOptions>('summarization.failover', failover, {
      maxRetries: count,
      shouldFailover: func,
      getFailoverModel: func,
    });
  return checked;
}

/** A trigger of 0, and one under what a summary leaves, would summarize before every call. */
function checkTrigger(trigger: Json | object, keepMessages: number): void {
  const { tokens, messages } = checkedOptions<{ tokens?: number; messages?: number }>('summarization.trigger', trigger, {
    tokens: bound,
    messages: bound,
  });
  const refuse = (problem: string): never => {
    throw new HoldfastError('agent-invalid', `summarization.trigger: ${problem}`);
  };
  if (tokens === undefined && messages === undefined) refuse('it has neither tokens nor messages; leave it out, or write one of them.');
  if (messages !== undefined && keepMessages > 0 && messages <= keepMessages + 1)
    refuse(
      `messages is ${messages}, and a summary leaves ${keepMessages + 1} (keepMessages and itself): it would always fire. Write at least ${keepMessages + 2}.`,
    );
}
