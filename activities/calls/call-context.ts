import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallValues } from './call-values';

export interface CallContext {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly activityType: string;
  readonly attempt: number;
}

const storage = new AsyncLocalStorage<CallContext>();

export function withCall<T>(call: CallContext, run: () => Promise<T>): Promise<T> {
  return storage.run(call, run);
}

/**
 * Returns the call on the worker that this code runs in, for logs and traces of code far from `call`.
 * @example
 * export function log(text: string): void {
 *   const call = currentCall();
 *   console.log(call === undefined ? 'outside' : `${call.runId}, attempt ${call.attempt}`, text);
 * }
 */
export function currentCall(): CallContext | undefined {
  return storage.getStore();
}

const values = new AsyncLocalStorage<CallValues>();

export function withValues<T>(access: CallValues, run: () => Promise<T>): Promise<T> {
  return values.run(access, run);
}

export function currentValues(): CallValues | undefined {
  return values.getStore();
}
