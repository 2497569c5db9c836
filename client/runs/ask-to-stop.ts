import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { CancelRequest } from '../../contract/cancel';
import { names } from '../../contract/names';

/**
 * Without a request, the server cancels the run. A stop of all work needs both signal and cancel, because histories show the server's
 * cancel.
 */
export async function askToStop(handle: WorkflowHandle, request: CancelRequest | undefined): Promise<void> {
  if (request === undefined) return void (await handle.cancel());
  await handle.signal(names.cancelSignal, request);
  if (!request.modes.includes('now') || !request.recursive) return;
  await handle.cancel().catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}
