import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { CancelRequest } from '../contract/cancel';
import { names } from '../contract/names';
import type { CancelOutcome } from './cancel';
import { cancelOutcomeOf } from './cancel';
import type { Run } from './run';

/** Sends a request. Without one the server itself cancels the run, whatever version of Holdfast its code has. */
export async function askToStop(handle: WorkflowHandle, request: CancelRequest | undefined): Promise<void> {
  if (request === undefined) return void (await handle.cancel());
  await handle.signal(names.cancelSignal, request);
  if (!request.modes.includes('now') || !request.recursive) return;
  await handle.cancel().catch((error: unknown) => {
    // The signal was enough.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

/** Waits for the end of a run that was asked to stop, and tells what became of that. */
export async function cancelOutcome(run: Run<unknown>): Promise<CancelOutcome> {
  const events = run.events({ deltas: false });
  while ((await events.next()).done !== true);
  return cancelOutcomeOf(await run.view());
}
