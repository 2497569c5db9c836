import { HoldfastError, codeOf } from '../../contract/plain/errors';

/** Ends the run on purpose, from any callback or tool: code `stopped`. Calls beside it are cancelled. No option and no custom value clears it. */
export class StopError extends HoldfastError {
  constructor(message: string) {
    super('stopped', message);
  }
}

/** By code and name: behind a border, or from another realm, the class is gone, and `stopped` is a word of others too. */
export function isStop(error: unknown): boolean {
  return codeOf(error) === 'stopped' && (error as { readonly name?: unknown }).name === 'HoldfastError';
}
