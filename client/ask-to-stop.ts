import type { WorkflowHandle } from '@temporalio/client';
import type { CancelRequest } from '../contract/cancel';
import { names } from '../contract/names';
import { HoldfastError } from '../contract/errors';
import type { CancelOutcome } from './cancel';
import { cancelOutcomeOf } from './cancel';
import type { Run } from './run';

/** Sends a request. Without one the server itself cancels the run. */
export async function askToStop(handle: WorkflowHandle, request: CancelRequest | undefined): Promise<void> {
  await (request === undefined ? handle.cancel() : handle.signal(names.cancelSignal, request));
}

/** Waits for the end of a run that was asked to stop, and tells what became of that. `since`: behind an earlier end it may have gone on. */
export async function cancelOutcome(run: Run<unknown>, since: number): Promise<CancelOutcome> {
  for await (const event of run.events({ deltas: false }))
    if (event.type === 'run-end' && event.time >= since) return cancelOutcomeOf(event);
  throw new HoldfastError('request-invalid', `The run "${run.id}" has not ended: it is ${(await run.view()).status}.`);
}
