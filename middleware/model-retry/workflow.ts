import type { AgentMiddleware } from '../../kernel/define/middleware';
import type { ModelError } from '../../kernel/define/retry-options';
import type { Backoff } from '../backoff';
import { answerOr, attemptsForm, backoffForm, waitsOf } from '../backoff';
import { checkOptions, filled } from '../../contract/check';
import { fits, modelCodes } from '../code-options';

export interface ModelRetryOptions {
  readonly name?: string;
  /** Most calls, the first included. Default: 3. */
  readonly attempts?: number;
  readonly backoff?: Backoff;
  /** Codes, or a function. Default: errors that the worker does not call final. */
  readonly retryOn?: readonly string[] | ((error: ModelError) => boolean);
  /** `fail` (default): the error stands. `answer`: the agent ends with this text. */
  readonly whenExhausted?: 'fail' | { readonly answer: string | ((error: ModelError) => string) };
}

/**
 * Calls a model again after a failure, with waits in the run. `retry` as a middleware: an agent has one of both.
 * @example
 * export const patient = modelRetry({
 *   attempts: 4,
 *   backoff: { first: '2s', most: '5m' },
 *   whenExhausted: { answer: 'Our model is down. Please come back later.' },
 * });
 */
export function modelRetry(options: ModelRetryOptions = {}): AgentMiddleware {
  checkOptions('modelRetry', options, {
    name: filled,
    attempts: attemptsForm,
    backoff: backoffForm,
    retryOn: modelCodes,
    whenExhausted: answerOr('fail', 'the error'),
  });
  const {
    name = 'modelRetry',
    attempts = 3,
    backoff = {},
    retryOn = ({ retryable }) => retryable !== false,
    whenExhausted = 'fail',
  } = options;
  const waits = waitsOf('modelRetry', backoff);
  return {
    name,
    retry: {
      maxRetries: attempts - 1,
      isRetryable: fits(retryOn),
      backoff: (k, random, error) => Math.max(waits(k, random), error?.retryAfterMs ?? 0),
      ...(whenExhausted === 'fail' ? {} : { giveUp: answering(whenExhausted.answer) }),
    },
  };
}

function answering(answer: string | ((error: ModelError) => string)): (error: ModelError) => string {
  return typeof answer === 'string' ? () => answer : answer;
}
