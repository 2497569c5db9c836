import type { ErrorCode } from '../../contract/errors';

/** An error with this code, and with a message that is this text or fits this pattern. */
export function errorOf(code: ErrorCode, message?: unknown): Error {
  const said = message instanceof RegExp ? (expect.stringMatching(message) as unknown) : message;
  return expect.objectContaining({ code, ...(said === undefined ? {} : { message: said }) }) as Error;
}

export function failure(code: ErrorCode, message?: unknown): { readonly status: string; readonly error: Error } {
  return { status: 'failed', error: errorOf(code, message) };
}
