import { AsyncLocalStorage } from 'node:async_hooks';

/** Which call the code at hand belongs to; set by the worker's activity interceptor. */
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

/** Nothing outside of a call. */
export function currentCall(): CallContext | undefined {
  return storage.getStore();
}
