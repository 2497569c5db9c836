import { count, func, required, shape } from '../../contract/check';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import type { ModelFailure } from '../../contract/record/wire';

export interface ModelError extends ModelFailure {
  /** Of `model-retries-exhausted`: the error of the last call. */
  readonly lastError?: ModelFailure;
}

export interface RetryAttempt {
  /** The number of the call of this model, from 1. */
  readonly attempt: number;
  /** The messages of the request, before the wraps of the agent. */
  readonly input: readonly Message[];
  readonly settings: ModelSettings;
  /** The answer. With an error: what a stream said before it broke. */
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

/** When a model is asked again. The functions are workflow code: they decide at once and always the same, without I/O and clock. */
export interface RetryOptions {
  /** How often after the first call. */
  readonly maxRetries: number;
  /** Sees every ended call, also a call with an answer. Undefined accepts the answer or the error. */
  shouldRetry?(attempt: RetryAttempt): RetryDecision | null | undefined | void;
  /** Which errors are worth another call. Not asked with `shouldRetry`. Default: all. */
  isRetryable?(error: ModelError): boolean;
  /**
   * Milliseconds before the k-th retry, from 1. `random` gives numbers from 0 up to 1, the same on replay; `error` is the failure of the call.
   * Default: 100 doubled each time, up to 10 s, and up to half more.
   */
  backoff?(retry: number, random: () => number, error?: ModelError): number;
  /** A text in place of the error after all calls and models. Undefined: the error stands. Not asked about errors without a model call. */
  giveUp?(error: ModelError): string | undefined | void;
}

export interface FailoverAttempt {
  /** The number of the next model, from 1. The first model is not counted. */
  readonly attempt: number;
  readonly lastError: ModelError;
  /** A rejected answer, or what a stream said before it broke. */
  readonly lastOutput?: Message;
  readonly input: readonly Message[];
  /** The model of the agent or the run. Another model may have been tried first, if it answered last. */
  readonly named: string;
  /** The models tried for this answer, in order. */
  readonly tried: readonly string[];
}

export interface FailoverChoice {
  readonly model: string;
  /** Default: the input of the first model. */
  readonly input?: readonly Message[];
}

/** Other models for a call that one model could not answer after all retries. The functions are workflow code. */
export interface FailoverOptions {
  /** How many other models at most, for one answer. */
  readonly maxRetries: number;
  shouldFailover(output: Message | undefined, error: ModelError, failed: FailoverAttempt): boolean;
  getFailoverModel(attempt: FailoverAttempt): FailoverChoice | null | undefined;
}

export const retryForm = shape({ maxRetries: required(count), shouldRetry: func, isRetryable: func, backoff: func, giveUp: func });
export const failoverForm = shape({ maxRetries: required(count), shouldFailover: required(func), getFailoverModel: required(func) });
