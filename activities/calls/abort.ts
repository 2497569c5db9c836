import { HoldfastError } from '../../contract/errors';

/** Why a call was told to stop, as something to throw. */
export function abortOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new HoldfastError('cancelled', 'The call was cancelled.');
}
