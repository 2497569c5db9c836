import { count, func, required, shape } from '../../contract/check';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import type { ModelFailure } from '../../contract/record/wire';

export interface ModelError extends ModelFailure {
  /** With `model-retries-exhausted`: the error of the last call. */
  readonly lastError?: ModelFailure;
}

export interface RetryAttempt {
  /** The number of the call of this model, from 1. */
  readonly attempt: number;
  /** The messages of the request, before the wraps of the agent. */
  readonly input: readonly Message[];
  readonly settings: ModelSettings;
  /** The answer. With an error: the part of a broken stream. */
  readonly output?: Message;
  readonly error?: ModelError;
}

export interface RetryDecision {
  /** False accepts an answer, and ends with an error. */
  readonly retry: boolean;
  /** Ends with this error. Counts only without `retry`. */
  readonly rewriteError?: Error | string;
  /** The messages of later calls of this model. */
  readonly modifiedInput?: readonly Message[];
  /** The changed input also replaces the messages of the agent. */
  readonly persistModifiedInput?: boolean;
  /** Added to the settings of later calls of this model. */
  readonly additionalSettings?: ModelSettings;
  /** Milliseconds before the next call, instead of `backoff`. */
  readonly backoffMs?: number;
  /** For readers, in the event `model-retry`. */
  readonly rejectReason?: Json;
}

/** When a model is asked again. The functions are deterministic workflow code, without waiting. */
export interface RetryOptions {
  /** Retries after the first call. */
  readonly maxRetries: number;
  /** Judges every ended call, even an answer. Undefined accepts the answer or the error. */
  shouldRetry?(attempt: RetryAttempt): RetryDecision | null | undefined | void;
  /** Which errors are worth another call. Not asked with `shouldRetry`. Default: all. */
  isRetryable?(error: ModelError): boolean;
  /**
   * Milliseconds before the k-th retry, from 1. `random` gives numbers from 0 up to 1, the same on replay. Default: 100 doubled each time,
   * up to 10 s, plus up to half of the wait.
   */
  backoff?(retry: number, random: () => number, error?: ModelError): number;
  /** A text in place of the error after all calls and models. Undefined: the error stands. Only for errors of model calls. */
  giveUp?(error: ModelError): string | undefined | void;
}

export interface FailoverAttempt {
  /** The number of the next model, from 1. The first model is not counted. */
  readonly attempt: number;
  readonly lastError: ModelError;
  /** A rejected answer, or the part of a broken stream. */
  readonly lastOutput?: Message;
  readonly input: readonly Message[];
  /** The model of the agent or the run. A failover model that answered last may have been tried first. */
  readonly named: string;
  /** The models tried for this answer, in order. */
  readonly tried: readonly string[];
}

export interface FailoverChoice {
  readonly model: string;
  /** Default: the input of the first model. */
  readonly input?: readonly Message[];
}

/** Other models for a call, after all retries of a model failed. The functions are workflow code. */
export interface FailoverOptions {
  /** The limit of other models for one answer. */
  readonly maxRetries: number;
  shouldFailover(output: Message | undefined, error: ModelError, failed: FailoverAttempt): boolean;
  getFailoverModel(attempt: FailoverAttempt): FailoverChoice | null | undefined;
}

export const retryForm = shape({ maxRetries: required(count), shouldRetry: func, isRetryable: func, backoff: func, giveUp: func });
export const failoverForm = shape({ maxRetries: required(count), shouldFailover: required(func), getFailoverModel: required(func) });
