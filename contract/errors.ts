import { withoutCredentials } from './credentials';
import type { ErrorCode } from './error-table';
import { errorTable } from './error-table';

export { errorTable } from './error-table';
export type { ErrorCode } from './error-table';

/** Another worker may have it, during a deploy. */
export const lackingCodes: readonly ErrorCode[] = [
  'tool-unknown',
  'output-unknown',
  'policy-unknown',
  'worker-half-missing',
  'model-unknown',
  'model-key-missing',
];

/** An error with a stable code. Compare codes, never classes: the workflow sandbox is another realm. */
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

/** The code of any thrown value, also from another realm. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = fieldOf(error, 'code');
  return isErrorCode(code) ? code : undefined;
}

/** A getter that throws gives nothing. */
function fieldOf(error: unknown, name: string): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    return (error as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** Codes that anybody's code may use, for models, tools and checks of layers. */
const anybodys: readonly ErrorCode[] = [
  ...(['input-invalid', 'output-invalid', 'message-invalid', 'value-not-json', 'payload-too-large', 'call-limit'] as const),
  ...(['budget-spent', 'pii-found', 'agent-failed', 'hook-failed', 'callback-failed', 'run-failed'] as const),
];

/**
 * The code of a thrown value, if it counts. Errors of Holdfast keep their code. Other errors cannot say that the run timed out, was stopped or goes
 * on with changed code.
 */
export function thrownCodeOf(error: unknown): ErrorCode | undefined {
  const code = codeOf(error);
  if (code === undefined || /^(model|tool)-/.test(code) || anybodys.includes(code)) return code;
  return fieldOf(error, 'name') === 'HoldfastError' ? code : undefined;
}

/** Half a surrogate pair, from a model or from cutting a text, ends a process that encodes it. */
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
      // Its own code throws, too.
    }
  }
  return 'an error that does not say what it is';
}
