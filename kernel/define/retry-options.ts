import { count, func, required, shape } from '../../contract/check';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import type { ModelFailure } from '../../contract/record/wire';

/** Why a model call gave no answer. */
export interface ModelError extends ModelFailure {
  /** Of `model-retries-exhausted`: the error of the last call. */
  readonly lastError?: ModelFailure;
}

/** One call of a model that has ended. */
export interface RetryAttempt {
  /** Which call of this model it was, from 1. */
  readonly attempt: number;
  /** The messages of the request, before the wraps of the agent. */
  readonly input: readonly Message[];
  readonly settings: ModelSettings;
  /** The answer. Together with an error: what a stream had said when it broke. */
  readonly output?: Message;
  readonly error?: ModelError;
}

export interface RetryDecision {
  /** False accepts an answer, and ends with an error. */
  readonly retry: boolean;
  /** Ends with this error instead. Counts only without `retry`. */
  readonly rewriteError?: Error | string;
  /** What the following calls of this model are asked with. */
  readonly modifiedInput?: readonly Message[];
  /** The changed input also replaces the messages of the agent, for good. */
  readonly persistModifiedInput?: boolean;
  /** Added to the settings of the following calls of this model. */
  readonly additionalSettings?: ModelSettings;
  /** How long to wait before the next call, instead of what `backoff` says. */
  readonly backoffMs?: number;
  /** For readers, in the event `model-retry`. */
  readonly rejectReason?: Json;
}

/**
 * When a model is asked again. The functions are workflow code: they decide at once and always the same, without I/O and clock.
 */
export interface RetryOptions {
  /** How often after the first call. */
  readonly maxRetries: number;
  /** Sees every call that has ended, also one with an answer. Nothing returned accepts the answer, or the error. */
  shouldRetry?(attempt: RetryAttempt): RetryDecision | null | undefined | void;
  /** Which errors are worth another call. Not asked beside `shouldRetry`. Default: all. */
  isRetryable?(error: ModelError): boolean;
  /**
   * Milliseconds to wait before the k-th retry, from 1; `random` gives numbers from 0 up to 1 that are the same on replay, and `error` is what the call failed with. Default: 100
   * doubled each time, up to 10 s, and up to half of that more.
   */
  backoff?(retry: number, random: () => number, error?: ModelError): number;
  /**
   * The text of an answer in place of the error, when no call and no other model is left. Nothing returned: the error stands. Not asked
   * about errors that no call of a model is to blame for.
   */
  giveUp?(error: ModelError): string | undefined | void;
}

/** What led to the question for another model. */
export interface FailoverAttempt {
  /** Which model is asked for, from 1; the one that was tried first is not counted. */
  readonly attempt: number;
  readonly lastError: ModelError;
  /** What the last model had said: an answer that was rejected, or what a stream had said when it broke. */
  readonly lastOutput?: Message;
  readonly input: readonly Message[];
  /** The model that the agent, or the run, names. Another one may have been tried first, as it answered last. */
  readonly named: string;
  /** Which models were tried for this answer, in their order. */
  readonly tried: readonly string[];
}

export interface FailoverChoice {
  readonly model: string;
  /** Default: what the first model was asked with. */
  readonly input?: readonly Message[];
}

/** Other models for a call that one model could not answer, with all its retries. The functions are workflow code. */
export interface FailoverOptions {
  /** How many other models at most, for one answer. */
  readonly maxRetries: number;
  shouldFailover(output: Message | undefined, error: ModelError, failed: FailoverAttempt): boolean;
  getFailoverModel(attempt: FailoverAttempt): FailoverChoice | null | undefined;
}

export const retryForm = shape({ maxRetries: required(count), shouldRetry: func, isRetryable: func, backoff: func, giveUp: func });
export const failoverForm = shape({ maxRetries: required(count), shouldFailover: required(func), getFailoverModel: required(func) });
