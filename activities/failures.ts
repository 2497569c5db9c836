import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ErrorCode } from '../contract/plain/errors';
import { codeOf, messageOf } from '../contract/plain/errors';

export interface Verdict {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly message: string;
}

interface ProviderError {
  readonly statusCode?: number;
  readonly status?: number;
  readonly isRetryable?: boolean;
  readonly code?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

const retryableStatus = new Set([408, 409, 425, 429]);

/** The one place that says whether a failure of a model provider is worth another attempt. */
export function classify(error: unknown): Verdict {
  const message = messageOf(error);
  const { statusCode, status, isRetryable, code, responseHeaders } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as ProviderError;
  const http = statusCode ?? status;
  if (codeOf(error) !== undefined) return { retryable: false, message };
  if (http !== undefined) {
    const retryable = retryableStatus.has(http) || http >= 500;
    const retryAfterMs = retryable ? retryAfter(responseHeaders) : undefined;
    return { retryable, message: `${message} (HTTP ${http})`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if (typeof isRetryable === 'boolean') return { retryable: isRetryable, message };
  if (error instanceof TypeError && typeof code !== 'string' && !/fetch/i.test(message)) return { retryable: false, message };
  return { retryable: true, message };
}

/** "This worker lacks it" may be different on the next one, during a deploy. */
const lackingCodes = new Set(['tool-unknown', 'worker-half-missing', 'model-unknown', 'model-key-missing']);

/** What becomes of a model call that failed. */
export function modelVerdict(error: unknown): Verdict & { readonly code: ErrorCode } {
  const code = codeOf(error) ?? 'model-failed';
  return lackingCodes.has(code) ? { code, retryable: true, message: messageOf(error) } : { code, ...classify(error) };
}

function retryAfter(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const milliseconds = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(milliseconds) && headers?.['retry-after-ms'] !== undefined) return milliseconds;
  const text = headers?.['retry-after'];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** A failure for Temporal to retry, or not. */
export function activityFailure(code: string, message: string, options: { retryable: boolean; retryAfterMs?: number }): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: message.slice(0, 4096),
    nonRetryable: !options.retryable,
    ...(options.retryAfterMs === undefined ? {} : { nextRetryDelay: options.retryAfterMs }),
  });
}

export function isCancelled(error: unknown, signal: AbortSignal): boolean {
  return error instanceof CancelledFailure || (signal.aborted && (error as { name?: unknown } | null)?.name !== undefined);
}
