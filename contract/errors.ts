import { withoutCredentials } from './credentials';
import type { ErrorCode } from './error-table';
import { errorTable } from './error-table';

export { errorTable } from './error-table';
export type { ErrorCode } from './error-table';

/** "This worker lacks it" may be different on the next one, during a deploy. */
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
  /** What to change. Node prints it with an error that nobody catches. */
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

/** The code of any thrown thing, also of one from another realm. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = fieldOf(error, 'code');
  return isErrorCode(code) ? code : undefined;
}

/** A field of any thrown thing. A getter that throws itself says nothing. */
function fieldOf(error: unknown, name: string): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    return (error as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** What a model, a tool, and a check that a layer makes may be said to have done by anybody's code. */
const anybodys: readonly ErrorCode[] = [
  ...(['input-invalid', 'output-invalid', 'message-invalid', 'value-not-json', 'payload-too-large', 'call-limit'] as const),
  ...(['budget-spent', 'pii-found', 'agent-failed', 'hook-failed', 'callback-failed', 'run-failed'] as const),
];

/**
 * The code of what code in a run threw, if it counts. What Holdfast made, or somebody made as a HoldfastError, has the code that it has.
 * Other errors cannot say that the run timed out, was stopped or goes on under changed code: that is not theirs to know.
 */
export function thrownCodeOf(error: unknown): ErrorCode | undefined {
  const code = codeOf(error);
  if (code === undefined || /^(model|tool)-/.test(code) || anybodys.includes(code)) return code;
  return fieldOf(error, 'name') === 'HoldfastError' ? code : undefined;
}

/** Half of a pair of UTF-16, which a model may send and a text may be cut into, is no text for others: a short one of them ends the process that encodes it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The text of any thrown thing: people throw strings, objects and nothing at all. No URL in it has a password. */
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
