import { withoutCredentials } from './credentials';
import type { ErrorCode } from './error-table';
import { errorTable } from './error-table';

export { errorTable } from './error-table';
export type { ErrorCode } from './error-table';

/** During a deploy, another worker may have the missing part. */
export const lackingCodes: readonly ErrorCode[] = [
  'tool-unknown',
  'output-unknown',
  'policy-unknown',
  'worker-half-missing',
  'model-unknown',
  'model-key-missing',
];

/**
 * An error with a stable code. Compare codes, not classes: the workflow sandbox is another realm.
 * @example
 * try {
 *   await run.result();
 * } catch (error) {
 *   if (error instanceof HoldfastError) console.error(error.code, error.message, error.fix);
 *   else throw error;
 * }
 */
export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly details: unknown;
  /** What to change. Node prints the fix with an uncaught error. */
  readonly fix: string;
  constructor(code: ErrorCode, message: string, options: { details?: unknown; cause?: unknown } = {}) {
    super(message);
    this.name = 'HoldfastError';
    this.code = code;
    this.details = options.details;
    this.fix = errorTable[code].fix;
    if (options.cause !== undefined) this.cause = options.cause;
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value);
}

/**
 * Returns the code of an error of Holdfast, even of an error from another realm.
 * @example
 * const answer = await run.result().catch((error: unknown) => {
 *   if (codeOf(error) !== 'cancelled') throw error;
 *   return 'Nobody needs the answer any more.';
 * });
 */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = fieldOf(error, 'code');
  return isErrorCode(code) ? code : undefined;
}

/** Whether another try would fail with the same error. */
export function isFinal(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && errorTable[code].status < 500 && errorTable[code].status !== 429;
}

/** A getter may throw. */
function fieldOf(error: unknown, name: string): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    return (error as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** Codes that code of users may throw. */
const anybodys: readonly ErrorCode[] = [
  ...(['input-invalid', 'output-invalid', 'message-invalid', 'value-not-json', 'payload-too-large', 'call-limit'] as const),
  ...(['budget-spent', 'pii-found', 'agent-failed', 'hook-failed', 'callback-failed', 'run-failed'] as const),
];

/** User code cannot claim that the run timed out, was stopped or moves to changed code. */
export function thrownCodeOf(error: unknown): ErrorCode | undefined {
  const code = codeOf(error);
  if (code === undefined || /^(model|tool)-/.test(code) || anybodys.includes(code)) return code;
  return fieldOf(error, 'name') === 'HoldfastError' ? code : undefined;
}

/** Lone surrogates crash a process that encodes the text. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The text of any thrown value, without passwords in URLs. */
export function messageOf(error: unknown): string {
  return wellFormed(withoutCredentials(saidBy(error)));
}

function saidBy(error: unknown): string {
  const message = fieldOf(error, 'message');
  if (typeof message === 'string') return message;
  if (typeof error === 'string') return error;
  for (const text of [JSON.stringify, String]) {
    try {
      const said = text(error) as string | undefined;
      if (said !== undefined) return said;
    } catch {
      // The error's own code throws, too.
    }
  }
  return 'an error that does not say what it is';
}
