import { HoldfastError } from '../../contract/errors';

/** The reason of an abort, as an error. */
export function abortOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new HoldfastError('cancelled', 'The call was cancelled.');
}
