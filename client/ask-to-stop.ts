import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { CancelRequest } from '../contract/cancel';
import { names } from '../contract/names';

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
