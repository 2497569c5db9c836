import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { HoldfastError, isErrorCode, messageOf } from '../contract/errors';
import type { ModelFailure, ToolOutcome } from '../contract/record/wire';
import { lostModelCall, lostToolCall, outOfTime } from '../kernel/calls/lost-calls';
import { isCancellation } from '../kernel/effects/errors';
import type { ToolCallRequest } from '../kernel/run/ports';

function errorOfActivity(error: unknown): HoldfastError {
  const cause = causeOf(error);
  const code = cause instanceof ApplicationFailure && isErrorCode(cause.type) ? cause.type : 'run-failed';
  return new HoldfastError(code, messageOf(cause));
}

export async function coded<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isCancellation(error)) throw error;
    throw errorOfActivity(error);
  }
}

export function lostModelActivity(error: unknown): ModelFailure {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure)
    return lostModelCall({ code: 'model-failed', message: `The model gave no answer in time (${cause.timeoutType}).` }, true);
  return lostModelCall(errorOfActivity(error), !(cause instanceof ApplicationFailure && cause.nonRetryable === true));
}

export function lostToolActivity(call: ToolCallRequest, error: unknown): ToolOutcome {
  const cause = causeOf(error);
  if (!(cause instanceof TimeoutFailure)) return lostToolCall(call, errorOfActivity(error));
  return lostToolCall(call, {
    code: 'tool-timeout',
    message: lateness(call, cause),
    tookTooLong: cause.timeoutType === 'START_TO_CLOSE',
  });
}

function lateness({ tool, facts }: ToolCallRequest, { timeoutType }: TimeoutFailure): string {
  if (timeoutType !== 'HEARTBEAT') return outOfTime(tool, facts.timeoutMs);
  return (
    `The worker of the tool '${tool}' was not heard of for ${facts.heartbeatMs / 1000} s, in each of ${facts.attempts} attempts: ` +
    'it was killed, or the tool ended its process or blocked it.'
  );
}

function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? (error.cause ?? error) : error;
}
