import type { ErrorCode } from '../../contract/errors';

/** An error with this code, and with a message that is this text or fits this pattern. */
export function errorOf(code: ErrorCode, message?: unknown): Error {
  const said = message instanceof RegExp ? (expect.stringMatching(message) as unknown) : message;
  return expect.objectContaining({ code, ...(said === undefined ? {} : { message: said }) }) as Error;
}

/** An error with this code, and with a message that contains this text or fits this pattern. */
export function errorSaying(code: ErrorCode, part: string | RegExp = ''): Error {
  return errorOf(code, typeof part === 'string' ? expect.stringContaining(part) : part);
}

export function failure(code: ErrorCode, message?: unknown): { readonly status: string; readonly error: Error } {
  return { status: 'failed', error: errorOf(code, message) };
}

export function failureSaying(code: ErrorCode, part?: string | RegExp): { readonly status: string; readonly error: Error } {
  return { status: 'failed', error: errorSaying(code, part) };
}
