import { channel } from 'node:diagnostics_channel';

/** A call of a tool that begins or ends in this process. */
export interface CallAtWork {
  readonly is: 'begin' | 'end';
  /** The same at its begin and at its end. */
  readonly number: number;
  readonly tool: string;
  readonly address: string;
  readonly run: string;
}

/** Told of each call, for whoever watches the process from outside of its loop. */
export const callsAtWork = channel('holdfast:calls-at-work');

let calls = 0;

/** Tells that a call begins. Gives what tells that it ends. */
export function tellAtWork(call: Omit<CallAtWork, 'is' | 'number'>): () => void {
  if (!callsAtWork.hasSubscribers) return () => undefined;
  const told = { ...call, number: (calls += 1) };
  callsAtWork.publish({ ...told, is: 'begin' } satisfies CallAtWork);
  return () => callsAtWork.publish({ ...told, is: 'end' } satisfies CallAtWork);
}
