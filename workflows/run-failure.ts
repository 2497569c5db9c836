import { ApplicationFailure, CancelledFailure } from '@temporalio/workflow';
import { defined } from '../contract/defined';
import { messageOf, thrownCodeOf, wellFormed } from '../contract/errors';
import { limits } from '../contract/limits';
import type { RetryPoint } from '../contract/record/wire';
import { isCancellation } from '../kernel/effects/errors';
import type { Left } from '../kernel/run/run-end';
import type { FailedChildDetails } from './temporal-children';
import { CannotGoOnHere } from './upgrade';

export function isGoingOn(error: unknown): boolean {
  return error instanceof CannotGoOnHere || (error as { name?: unknown } | null)?.name === 'ContinueAsNew';
}

/** Other errors than Temporal's failures would fail the workflow task for ever. */
export function failureOfRun(error: unknown, details: [FailedChildDetails | Left | null, RetryPoint?] | undefined): unknown {
  if (isCancellation(error)) return error instanceof CancelledFailure ? error : new CancelledFailure('The run was cancelled.');
  if (error instanceof ApplicationFailure || isGoingOn(error)) return error;
  return ApplicationFailure.create({
    message: wellFormed(messageOf(error).slice(0, limits.errorMessage)),
    type: thrownCodeOf(error) ?? 'run-failed',
    nonRetryable: true,
    ...defined({ details }),
  });
}
