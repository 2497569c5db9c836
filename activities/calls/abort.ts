import { HoldfastError } from '../../contract/errors';

/** The reason of an abort, as an error. A DOMException of another realm is no `Error` here. */
export function abortOf({ reason }: AbortSignal): Error {
  const { message } = (reason ?? {}) as { message?: unknown };
  return typeof message === 'string' ? (reason as Error) : new HoldfastError('cancelled', 'The call was cancelled.');
}
