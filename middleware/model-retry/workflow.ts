import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { ModelError } from '../../kernel/define/retry-options';
import type { Backoff } from '../backoff';
import { waitsOf } from '../backoff';
import { checkedOptions, isCount, isFunction, isRecord, isText, isTexts, nameForm, optional } from '../checked-options';
import { checkModelCodes } from '../error-codes';

export interface ModelRetryOptions {
  readonly name?: string;
  /** How often the model is called at most, the first call included. Default 3. */
  readonly attempts?: number;
  readonly backoff?: Backoff;
  /** Which errors are worth another call: their codes, or a function. Default: those that the worker does not hold for final. */
  readonly retryOn?: readonly string[] | ((error: ModelError) => boolean);
  /** `fail` (default): the error stands. Otherwise the text of an answer, with which the agent ends. */
  readonly whenExhausted?: 'fail' | { readonly answer: string | ((error: ModelError) => string) };
}

/** `retry` of an agent in a middleware: the same mechanism, so an agent has one of them. */
export function modelRetry(options: ModelRetryOptions = {}): AgentMiddleware {
  checkedOptions('modelRetry', options, {
    name: nameForm,
    attempts: [optional((value) => isCount(value) && value <= 100), 'a whole number from 1 to 100, the first call included'],
    backoff: [optional(isRecord), 'an object with first, factor, most, jitter'],
    retryOn: [optional((value) => isFunction(value) || isTexts(value)), 'a function of the error, or a list of at least one code'],
    whenExhausted: [optional((value) => value === 'fail' || isAnswer(value)), '"fail" or { answer: a text, or a function of the error }'],
  });
  checkModelCodes('modelRetry', 'retryOn', options.retryOn);
  const { name = 'modelRetry', attempts = 3, backoff = {}, retryOn, whenExhausted = 'fail' } = options;
  const waits = waitsOf('modelRetry', backoff);
  return {
    name,
    retry: {
      maxRetries: attempts - 1,
      isRetryable: isWorthIt(retryOn),
      // A provider that asks to be left alone for longer is.
      backoff: (k, random, error) => Math.max(waits(k, random), error?.retryAfterMs ?? 0),
      ...(whenExhausted === 'fail' ? {} : { giveUp: (error: ModelError) => textFor(whenExhausted.answer, error) }),
    },
  };
}

function isAnswer(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 1 && (isText(value['answer']) || isFunction(value['answer']));
}

function isWorthIt(retryOn: ModelRetryOptions['retryOn']): (error: ModelError) => boolean {
  if (typeof retryOn === 'function') return retryOn;
  return retryOn === undefined ? ({ retryable }) => retryable !== false : ({ code }) => retryOn.includes(code);
}

function textFor(answer: string | ((error: ModelError) => string), error: ModelError): string {
  return typeof answer === 'string' ? answer : answer(error);
}
