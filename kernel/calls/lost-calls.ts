import type { Failure } from '../../contract/messages/messages';
import type { ModelFailure, ToolOutcome } from '../../contract/record/wire';
import type { ToolCallRequest } from '../run/ports';

export interface Lost extends Failure {
  /** For a timeout: whether the worker was alive. Undefined: another failure. */
  readonly tookTooLong?: boolean;
}

type LostCall = Pick<ToolCallRequest, 'reconcile'> & { readonly facts: Pick<ToolCallRequest['facts'], 'effect'> };

/** A lost `once` call may have taken effect, unless the worker lacked the tool. */
export function lostToolCall({ facts, reconcile }: LostCall, { code, message, tookTooLong }: Lost): ToolOutcome {
  if (reconcile === true && code !== 'tool-unknown') return { type: 'unsettled', why: message };
  if (facts.effect === 'once' && code !== 'tool-unknown') {
    if (tookTooLong === true) return { type: 'unsettled', timedOut: true };
    return tookTooLong === false || saysNothing.has(code) ? { type: 'unsettled' } : { type: 'unsettled', why: message };
  }
  const isOfTools = code.startsWith('tool-') || code === 'hook-failed';
  return { type: 'failed', messageId: '', error: { code: isOfTools ? code : 'tool-failed', message } };
}

/** The same text for both timers, of the worker and of the server. */
export function outOfTime(tool: string, timeoutMs: number): string {
  return `The tool '${tool}' gave no result within ${timeoutMs / 1000} s.`;
}

export function lostModelCall({ code, message }: Failure, retryable: boolean): ModelFailure {
  return { code: code === 'run-failed' ? 'model-failed' : code, message, retryable };
}

/** Codes that say only that the worker was stopped or is gone. */
const saysNothing: ReadonlySet<string> = new Set(['run-failed', 'tool-failed']);
