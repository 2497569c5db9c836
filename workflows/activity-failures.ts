import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { HoldfastError, isErrorCode, messageOf } from '../contract/errors';
import type { ModelFailure, ToolOutcome } from '../contract/record/wire';
import type { ToolCallRequest } from '../kernel/run/ports';

/** An error of an activity as what it says: the code stands in the type of the failure. */
export function errorOfActivity(error: unknown): HoldfastError {
  const cause = causeOf(error);
  const code = cause instanceof ApplicationFailure && isErrorCode(cause.type) ? cause.type : 'run-failed';
  return new HoldfastError(code, messageOf(cause));
}

/** A model activity that gave no result after all its attempts. */
export function lostModelCall(error: unknown): ModelFailure {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure)
    return { code: 'model-failed', message: `The model gave no answer in time (${cause.timeoutType}).`, retryable: true };
  const { code, message } = errorOfActivity(error);
  const retryable = !(cause instanceof ApplicationFailure && cause.nonRetryable === true);
  return { code: code === 'run-failed' ? 'model-failed' : code, message, retryable };
}

/** A tool activity that gave no result. Of a `once` tool nobody knows then whether it took effect. */
export function lostToolCall(call: ToolCallRequest, error: unknown): ToolOutcome {
  const cause = causeOf(error);
  const timedOut = cause instanceof TimeoutFailure;
  const { code, message } = errorOfActivity(error);
  if (call.facts.effect === 'once' && !isCertainlyUndone(cause)) {
    if (timedOut && cause.timeoutType === 'START_TO_CLOSE') return { type: 'unsettled', timedOut };
    return saysNothing.has(code) ? { type: 'unsettled' } : { type: 'unsettled', why: message };
  }
  return {
    type: 'failed',
    messageId: '',
    error: {
      code: timedOut ? 'tool-timeout' : code.startsWith('tool-') || code === 'hook-failed' ? code : 'tool-failed',
      message: timedOut ? lateness(call, cause) : message,
    },
  };
}

/** Codes of failures that have none of their own: the worker was stopped, or is gone. */
const saysNothing: ReadonlySet<string> = new Set(['run-failed', 'tool-failed']);

function lateness({ tool, facts }: ToolCallRequest, { timeoutType }: TimeoutFailure): string {
  if (timeoutType !== 'HEARTBEAT') return `The tool '${tool}' gave no result within ${facts.timeoutMs / 1000} s.`;
  return (
    `The worker of the tool '${tool}' was not heard of for ${facts.heartbeatMs / 1000} s, in each of ${facts.attempts} attempts: ` +
    'it was killed, or the tool ended its process or blocked it.'
  );
}

/** Errors that the worker's side raises before it calls the tool. */
function isCertainlyUndone(cause: unknown): boolean {
  return cause instanceof ApplicationFailure && cause.type === 'tool-unknown';
}

function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? (error.cause ?? error) : error;
}
