import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { CancelRequest } from '../contract/cancel';
import { names } from '../contract/names';
import { HoldfastError } from '../contract/errors';
import type { CancelOutcome } from './cancel';
import { cancelOutcomeOf } from './cancel';
import type { Run } from './run';

/** Sends a request. Without one the server itself cancels the run. One that stops everything at once goes both ways: histories have the server's. */
export async function askToStop(handle: WorkflowHandle, request: CancelRequest | undefined): Promise<void> {
  if (request === undefined) return void (await handle.cancel());
  await handle.signal(names.cancelSignal, request);
  if (!request.modes.includes('now') || !request.recursive) return;
  await handle.cancel().catch((error: unknown) => {
    // The signal was enough.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

/** Waits for the end of a run that was asked to stop, and tells what became of that. `since`: behind an earlier end it may have gone on. */
export async function cancelOutcome(run: Run<unknown>, since: number): Promise<CancelOutcome> {
  for await (const event of run.events({ deltas: false }))
    if (event.type === 'run-end' && event.time >= since) return cancelOutcomeOf(event);
  throw new HoldfastError('request-invalid', `The run "${run.id}" has not ended: it is ${(await run.view()).status}.`);
}
