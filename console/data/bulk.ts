import type { BulkAction } from '../../contract/service-facts';
import type { CancelRequestBody, RunOutcome } from '../../client/http/index';
import { byNow } from './identity';
import { failureOf, service } from './service';

const atOnce = 50;

interface BulkOptions {
  readonly action: BulkAction;
  readonly isDryRun: boolean;
  readonly how: Pick<CancelRequestBody, 'mode' | 'reason'>;
  readonly onPart: (outcomes: readonly RunOutcome[]) => void;
  readonly signal: AbortSignal;
}

/** A failed request is an error of each run in the part, because the outcome is unknown. */
export async function toMany(ids: readonly string[], options: BulkOptions): Promise<void> {
  const { onPart, signal } = options;
  for (let from = 0; from < ids.length && !signal.aborted; from += atOnce) {
    const part = ids.slice(from, from + atOnce);
    const outcomes = await send(part, options).catch((error: unknown) => part.map((id) => ({ id, error: failureOf(error) })));
    if (!signal.aborted) onPart(outcomes);
  }
}

function send(ids: readonly string[], { action, isDryRun: dryRun, how }: BulkOptions): Promise<readonly RunOutcome[]> {
  if (action === 'cancel') return service.cancelAll(ids, { ...how, ...byNow(), dryRun });
  if (action === 'retry') return service.retryAll(ids, { ...byNow(), dryRun });
  return service.upgradeAll(ids, { dryRun });
}
