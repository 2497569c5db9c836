import { defined } from '../contract/defined';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { withoutCredentials } from '../contract/credentials';
import type { ErrorCode } from '../contract/errors';
import { lackingCodes, wellFormed } from '../contract/errors';
import { jsonSize, limits } from '../contract/limits';
import type { Message, Usage } from '../contract/messages/messages';
import { isMessage, notJson } from '../contract/messages/messages';
import type { CallModelResult, RetryMode } from '../contract/record/wire';
import { keyRefusedText } from './models/asked-model';
import type { ErrorFacts } from './models/providers/error-facts';
import { factsOf } from './models/providers/error-facts';

export interface Verdict {
  readonly kind: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly waitsFor?: 'turn' | 'provider';
  readonly message: string;
}

interface FailureKind {
  readonly kind: string;
  readonly is: (facts: ErrorFacts) => boolean;
  readonly retryable: boolean;
  /** Default: the error's own code, or `model-failed`. */
  readonly code?: ErrorCode;
}

const againCodes: readonly ErrorCode[] = [...lackingCodes, 'model-response-empty', 'waiting-for-turn'];

const retryableStatus = [408, 409, 425];
const tooLongStatus = [undefined, 400, 413, 422, 500];
const tooLong = [
  /prompt is too long/i,
  /input is too long/i,
  /maximum context length/i,
  /exceeds? the maximum number of (input )?tokens/i,
  /reduce the length of the (messages|input|prompt)/i,
  /exceed[^.]{0,60}context (length|window|limit|size)/i,
  /context (length|window|limit|size)[^.]{0,40}exceed/i,
];
const usedUp = ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active', 'billing_error'];
const filtered = ['content_filter', 'content_policy_violation', 'moderation_blocked'];
const busy = [
  ...['overloaded_error', 'overloaded', 'api_error', 'timeout_error', 'service_unavailable'],
  ...['server_error', 'internal_server_error', 'internal_error'],
  ...['unavailable', 'deadline_exceeded', 'internal', 'aborted'],
];
const throttled = ['rate_limit_error', 'rate_limit_exceeded', 'resource_exhausted'];
const wrong = [
  ...['invalid_request_error', 'not_found_error', 'request_too_large'],
  ...['invalid_argument', 'failed_precondition', 'not_found', 'model_not_found'],
];
const keyRefused = [
  ...['authentication_error', 'invalid_api_key', 'api_key_invalid', 'unauthenticated'],
  ...['permission_error', 'permission_denied'],
];
const garbled = [
  'AI_InvalidResponseDataError',
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
];
const unsupported = [
  ...['AI_UnsupportedFunctionalityError', 'AI_NoSuchModelError', 'AI_LoadAPIKeyError', 'AI_LoadSettingError'],
  ...['AI_InvalidPromptError', 'AI_InvalidArgumentError'],
];
const network = [
  ...['econnreset', 'econnrefused', 'econnaborted', 'enotfound', 'eai_again', 'etimedout', 'epipe', 'ehostunreach', 'enetunreach'],
  ...['err_stream_premature_close'],
];
const networkWords = /^(fetch failed|failed to fetch|terminated|socket hang up|network error|other side closed)\b|^cannot connect to api/i;

const isOneOf =
  (words: readonly string[]) =>
  (facts: ErrorFacts): boolean =>
    words.some((word) => facts.words.has(word));
const isNamed =
  (names: readonly string[]) =>
  (facts: ErrorFacts): boolean =>
    facts.names.some((name) => names.includes(name));

/** Whether the error's words count more than its status, which is missing or invented by the client. */
function isOwnWord({ status }: ErrorFacts): boolean {
  return status === undefined || status >= 500 || status < 400;
}

/** The first matching row decides, so exact rows stand first. docs/reference/models.md repeats the table. */
export const failureKinds: readonly FailureKind[] = [
  { kind: 'own-again', is: ({ own }) => own !== undefined && (own.retryable ?? againCodes.includes(own.code)), retryable: true },
  { kind: 'own', is: ({ own }) => own !== undefined, retryable: false },
  {
    kind: 'context-exceeded',
    is: (facts) =>
      facts.words.has('context_length_exceeded') ||
      (tooLongStatus.includes(facts.status) && tooLong.some((pattern) => pattern.test(facts.message))),
    retryable: false,
    code: 'model-context-exceeded',
  },
  { kind: 'quota-used-up', is: (facts) => facts.status === 402 || isOneOf(usedUp)(facts), retryable: false },
  { kind: 'refused', is: isOneOf(filtered), retryable: false, code: 'model-refused' },
  // Google answers a wrong key with status 400.
  {
    kind: 'key-refused',
    is: (facts) =>
      facts.status === 401 ||
      facts.status === 403 ||
      (facts.status === 400 && /\bAPI key not valid\b/i.test(facts.message)) ||
      (isOwnWord(facts) && isOneOf(keyRefused)(facts)),
    retryable: false,
    code: 'model-key-refused',
  },
  // OpenAI's client invents a status for a failed answer.
  {
    kind: 'answer-failed',
    is: (facts) => facts.status === 400 && isOneOf(['server_error', 'rate_limit_exceeded'])(facts),
    retryable: true,
  },
  // Anthropic's client invents a status for an error at the start of a stream.
  {
    kind: 'request-wrong',
    is: (facts) => isOwnWord(facts) && isOneOf(wrong)(facts),
    retryable: false,
  },
  { kind: 'throttled', is: (facts) => facts.status === 429 || (isOwnWord(facts) && isOneOf(throttled)(facts)), retryable: true },
  { kind: 'http-again', is: ({ status = 0 }) => retryableStatus.includes(status) || status >= 500, retryable: true },
  { kind: 'http-refused', is: ({ status = 0 }) => status >= 400, retryable: false },
  { kind: 'provider-busy', is: isOneOf(busy), retryable: true },
  {
    kind: 'network',
    is: (facts) =>
      isOneOf(network)(facts) ||
      [...facts.words].some((word) => word.startsWith('und_err_') && word !== 'und_err_invalid_arg') ||
      networkWords.test(facts.message) ||
      networkWords.test(facts.cause ?? ''),
    retryable: true,
  },
  { kind: 'not-supported', is: isNamed(unsupported), retryable: false },
  { kind: 'answer-garbled', is: (facts) => isNamed(garbled)(facts) || facts.status !== undefined, retryable: true },
  { kind: 'client-says-again', is: ({ flag }) => flag === true, retryable: true },
  { kind: 'client-says-no', is: ({ flag }) => flag === false, retryable: false },
  { kind: 'defect', is: ({ names }) => ['TypeError', 'ReferenceError', 'RangeError'].includes(names[0] ?? ''), retryable: false },
  { kind: 'unknown', is: () => true, retryable: true },
];

export function classify(error: unknown): Verdict {
  const facts = factsOf(error);
  const row = failureKinds.find(({ is }) => is(facts)) as FailureKind;
  const wait = row.retryable ? facts.retryAfterMs : undefined;
  return {
    kind: row.kind,
    code: row.code ?? facts.own?.code ?? 'model-failed',
    retryable: row.retryable,
    message: textOf(facts, row.kind),
    ...defined({ retryAfterMs: wait, waitsFor: row.retryable ? waitsForOf(facts, row.kind) : undefined }),
  };
}

/** A busy provider, or a provider with a time to wait, has not failed. */
function waitsForOf({ own, retryAfterMs }: ErrorFacts, kind: string): Verdict['waitsFor'] {
  if (own?.code === 'waiting-for-turn') return 'turn';
  return kind === 'throttled' || retryAfterMs !== undefined ? 'provider' : undefined;
}

export interface BrokenAnswer {
  readonly said: Message;
  readonly usage?: Usage;
}

/** Undefined: the server has to repeat the call, as another worker may have the missing part. */
export function failedResult(
  verdict: Verdict,
  retries: RetryMode | null | undefined,
  left: BrokenAnswer | undefined,
): Pick<CallModelResult, 'failed' | 'partial' | 'usage'> | undefined {
  const { code, retryable, retryAfterMs } = verdict;
  const failed = { code, message: verdict.message.slice(0, limits.errorMessage) };
  const isOfServer = retryable && (lackingCodes.includes(code) || code === 'waiting-for-turn');
  const inKernel = typeof retries === 'string' && !isOfServer;
  const spent = left?.usage === undefined ? {} : { usage: left.usage };
  if (!inKernel) return retryable ? undefined : { failed, ...spent };
  const partial = retries === 'kernel-partial' && isKept(left?.said) ? left?.said : undefined;
  return {
    failed: { ...failed, retryable, ...defined({ retryAfterMs }) },
    ...defined({ partial }),
    ...spent,
  };
}

/** A broken answer that is not JSON or is too large would fail the call once more. */
function isKept(said: Message | undefined): said is Message {
  return said !== undefined && said.parts.length > 0 && isMessage(said) && notJson(said) === undefined && jsonSize(said) <= limits.message;
}

const longestText = 1000;
const longestGarbled = 200;

/** Shortens the provider's words, as garbled answers can be long. */
function textOf({ message, cause, status, asked }: ErrorFacts, kind: string): string {
  const whole = kind === 'network' && cause !== undefined && cause !== '' ? `${message}: ${cause}` : message;
  const most = kind === 'answer-garbled' ? longestGarbled : longestText;
  const redacted = redact(whole);
  const short = redacted.length > most ? `${redacted.slice(0, most)}…` : redacted;
  const text = status === undefined ? short : `${short === '' ? 'The provider gave no reason' : short} (HTTP ${status})`;
  return kind === 'key-refused' && asked !== undefined ? keyRefusedText(asked, text) : text;
}

const secrets: readonly [RegExp, string][] = [
  [/\bBearer\s+(?=\S*\d)[\w.~+/=*-]{6,}/gi, 'Bearer [key]'],
  [/\bsk-[\w*.-]{4,}/g, '[key]'],
  [/\bAIza[\w-]{10,}/g, '[key]'],
  [/\b(gsk|xai|pk|rk)[-_][\w-]{16,}/g, '[key]'],
  [/([?&]key=)[^&\s"']+/g, '$1[key]'],
  [/((?:x-)?api[-_]?key["']?\s*[:=]\s*["']?)[^\s"',}]{6,}/gi, '$1[key]'],
];

/** Providers quote keys and headers, and a history must hold no secret. */
export function redact(text: string): string {
  return secrets.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), withoutCredentials(text));
}

export function activityFailure(
  code: string,
  message: string,
  options: { readonly retryable: boolean; readonly retryAfterMs?: number; readonly benign?: boolean },
): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: wellFormed(withoutCredentials(message).slice(0, 4096)),
    nonRetryable: !options.retryable,
    ...defined({ nextRetryDelay: options.retryAfterMs }),
    ...(options.benign === true ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}

/** Removes credentials from the error of a stopped call. */
export function asThrown(error: unknown): unknown {
  const { message, name } = (error ?? {}) as { message?: unknown; name?: unknown };
  if (typeof message !== 'string') return error;
  const clean = wellFormed(withoutCredentials(message));
  return clean === message ? error : ApplicationFailure.create({ message: clean, type: wellFormed(String(name)) });
}

/** Only the message tells why the server stops an activity. */
export function isCancelledByRun(signal: AbortSignal): boolean {
  return signal.aborted && (signal.reason as { message?: unknown } | undefined)?.message === 'CANCELLED';
}

export function isCancelled(error: unknown, signal: AbortSignal): boolean {
  return error instanceof CancelledFailure || (signal.aborted && (error as { name?: unknown } | null)?.name !== undefined);
}
