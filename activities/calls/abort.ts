import { HoldfastError } from '../../contract/errors';

/** A DOMException of another realm is not an `Error` of this realm. */
export function abortOf({ reason }: AbortSignal): Error {
  const { message } = (reason ?? {}) as { message?: unknown };
  return typeof message === 'string' ? (reason as Error) : new HoldfastError('cancelled', 'The call was cancelled.');
}
