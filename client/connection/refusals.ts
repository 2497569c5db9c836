import type { WorkflowUpdateFailedError } from '@temporalio/client';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, isErrorCode } from '../../contract/errors';
import type { RunStatus, RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import { rootRunId } from '../../contract/record/child-runs';
import type { Failure } from '../../contract/messages/messages';

export function errorOf({ code, message }: Failure, otherwise: ErrorCode, cause?: unknown): HoldfastError {
  return new HoldfastError(isErrorCode(code) ? code : otherwise, message, { cause });
}

export function refusedAnswer(error: WorkflowUpdateFailedError): HoldfastError {
  return errorOf(failureOf(error, 'The run refused the answer.'), 'answer-invalid', error);
}

export function refusedUpgrade(error: WorkflowUpdateFailedError, status: RunStatus, id: string): HoldfastError {
  const failure = failureOf(error, error.message);
  // The server answers for a run that ended before the move.
  if (!isErrorCode(failure.code) && isEnded(status))
    return new HoldfastError('run-ended', `The run "${id}" has ended (${status}) before it could move.`, { cause: error });
  return errorOf(failure, 'upgrade-failed', error);
}

function failureOf({ cause }: WorkflowUpdateFailedError, otherwise: string): Failure {
  const { type, message = otherwise } = (cause ?? {}) as { type?: unknown; message?: string };
  return { code: String(type), message };
}

export function ended(id: string, status: string, cause?: unknown): HoldfastError {
  return new HoldfastError('run-ended', `The run "${id}" has ended (${status}).`, { cause });
}

export function stuck({ error }: Pick<RunView, 'error'>, cause?: unknown): HoldfastError {
  return new HoldfastError('run-stuck', error?.message ?? 'The run is stuck.', { cause });
}

/** No build can move an ended or stuck run. */
export function checkMoves(view: Pick<RunView, 'status' | 'error'>, id: string): void {
  if (isEnded(view.status)) throw ended(id, view.status);
  if (view.status === 'stuck') throw stuck(view);
  const root = rootRunId(id);
  if (root !== id)
    throw new HoldfastError(
      'upgrade-failed',
      `"${id}" is an isolated agent, which runs under the code of the run that it is part of. Upgrade "${root}": it moves when its isolated agents have ended.`,
    );
}

export function stillBusy(cause: unknown, id: string, timeout: string): HoldfastError {
  return new HoldfastError(
    'upgrade-failed',
    `The run "${id}" did not come to a place where it can move within ${timeout}: a call or an isolated agent of it is still at work, or no worker serves it. It stays where it is, and may move when it comes to one.`,
    { cause },
  );
}

/** Codes of a run that does not show the interrupt. */
export const notThere: ReadonlySet<string> = new Set(['interrupt-unknown', 'run-unknown', 'run-stuck']);
