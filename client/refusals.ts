import type { WorkflowUpdateFailedError } from '@temporalio/client';
import { HoldfastError, isErrorCode } from '../contract/errors';
import type { RunStatus, RunView } from '../contract/events';
import { isEnded } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';
import { rootRunId } from '../contract/record/child-runs';
import { withdrawn } from '../contract/interrupts';
import type { AnswerStanding } from './reading/run-reader';

/** Why an interrupt is not open any more that an answer was for. */
export function gone(id: string, { expired, withdrawn: left }: AnswerStanding, known: Interrupt | undefined): HoldfastError {
  if (expired.has(id)) return new HoldfastError('interrupt-expired', `Nobody answered "${id}" in time.`);
  if (left.has(id)) return new HoldfastError('interrupt-withdrawn', withdrawn(id).message);
  return known === undefined
    ? new HoldfastError('interrupt-unknown', `This run waits for no interrupt "${id}".`)
    : new HoldfastError('interrupt-answered', `The interrupt "${id}" was answered meanwhile.`);
}

export function refusedAnswer(error: WorkflowUpdateFailedError): HoldfastError {
  const { type, message } = (error.cause ?? {}) as { type?: unknown; message?: string };
  return new HoldfastError(isErrorCode(type) ? type : 'answer-invalid', message ?? 'The run refused the answer.', { cause: error });
}

export function refusedUpgrade(error: WorkflowUpdateFailedError, status: RunStatus, id: string): HoldfastError {
  const { type, message = error.message } = (error.cause ?? {}) as { type?: unknown; message?: string };
  if (isErrorCode(type)) return new HoldfastError(type, message, { cause: error });
  // The server answers in place of a run that ended before it could move.
  return isEnded(status)
    ? new HoldfastError('run-ended', `The run "${id}" has ended (${status}) before it could move.`, { cause: error })
    : new HoldfastError('upgrade-failed', message, { cause: error });
}

export function ended(id: string, status: string): HoldfastError {
  return new HoldfastError('run-ended', `The run "${id}" has ended (${status}).`);
}

/** Refuses at once the upgrade of a run that cannot move, whatever the newest build says. */
export function checkMoves({ status, error }: Pick<RunView, 'status' | 'error'>, id: string): void {
  if (isEnded(status)) throw ended(id, status);
  if (status === 'stuck') throw new HoldfastError('run-stuck', error?.message ?? 'The run is stuck.');
  const root = rootRunId(id);
  if (root !== id)
    throw new HoldfastError(
      'upgrade-failed',
      `"${id}" is an isolated agent, which runs under the code of the run that it is part of. Upgrade "${root}": it moves when its isolated agents have ended.`,
    );
}

/** The run did not come to a place where it can move. */
export function stillBusy(cause: unknown, id: string, timeout: string): HoldfastError {
  return new HoldfastError(
    'upgrade-failed',
    `The run "${id}" did not come to a place where it can move within ${timeout}: a call or an isolated agent of it is still at work, or no worker serves it. It stays where it is, and may move when it comes to one.`,
    { cause },
  );
}

/** Codes of a run that does not show an interrupt, or cannot say anything about it. */
export const notThere: ReadonlySet<string> = new Set(['interrupt-unknown', 'run-unknown', 'run-stuck']);
