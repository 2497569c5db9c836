import type { Failure } from '../../contract/messages/messages';
import type { ModelFailure, ToolOutcome } from '../../contract/record/wire';
import type { ToolCallRequest } from '../run/ports';

/** What an engine knows of a call that no worker gave a result of. */
export interface Lost extends Failure {
  /** Of a call whose time ran out: whether its worker was there. Undefined: something else went wrong. */
  readonly tookTooLong?: boolean;
}

type LostCall = Pick<ToolCallRequest, 'reconcile'> & { readonly facts: Pick<ToolCallRequest['facts'], 'effect'> };

/** Of a `once` tool nobody knows whether it took effect, unless the worker said that it does not have it. */
export function lostToolCall({ facts, reconcile }: LostCall, { code, message, tookTooLong }: Lost): ToolOutcome {
  if (reconcile === true && code !== 'tool-unknown') return { type: 'unsettled', why: message };
  if (facts.effect === 'once' && code !== 'tool-unknown') {
    if (tookTooLong === true) return { type: 'unsettled', timedOut: true };
    return tookTooLong === false || saysNothing.has(code) ? { type: 'unsettled' } : { type: 'unsettled', why: message };
  }
  const isOfTools = code.startsWith('tool-') || code === 'hook-failed';
  return { type: 'failed', messageId: '', error: { code: isOfTools ? code : 'tool-failed', message } };
}

/** What is said of a call whose time is up, whichever timer says so first: that of its worker or that of the server. */
export function outOfTime(tool: string, timeoutMs: number): string {
  return `The tool '${tool}' gave no result within ${timeoutMs / 1000} s.`;
}

export function lostModelCall({ code, message }: Failure, retryable: boolean): ModelFailure {
  return { code: code === 'run-failed' ? 'model-failed' : code, message, retryable };
}

/** Codes of failures that have none of their own: the worker was stopped, or is gone. */
const saysNothing: ReadonlySet<string> = new Set(['run-failed', 'tool-failed']);
