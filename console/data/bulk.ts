import { codeOf, messageOf } from '../../contract/errors';
import type { BulkAction } from '../../contract/service-facts';
import type { CancelRequestBody, RunOutcome } from '../../http/index';
import { claimed } from './identity';
import { service } from './service';

/** So many in one request: each comes back in seconds, and the number goes up meanwhile. */
const atOnce = 50;

interface BulkOptions {
  readonly action: BulkAction;
  readonly isDryRun: boolean;
  readonly how?: Pick<CancelRequestBody, 'mode' | 'reason'>;
  /** Told of each part as it comes. */
  readonly onPart: (outcomes: readonly RunOutcome[]) => void;
  readonly signal: AbortSignal;
}

/** Does it to many runs, in parts. A part that does not come back is an error of each run in it: nobody knows what became of them. */
export async function toMany(ids: readonly string[], { action, isDryRun, how = {}, onPart, signal }: BulkOptions): Promise<void> {
  for (let from = 0; from < ids.length && !signal.aborted; from += atOnce) {
    const part = ids.slice(from, from + atOnce);
    const outcomes = await asked(part, action, isDryRun, how).catch((error: unknown) =>
      part.map((id) => ({ id, error: { code: codeOf(error) ?? 'internal', message: messageOf(error) } })),
    );
    if (!signal.aborted) onPart(outcomes);
  }
}

function asked(
  ids: readonly string[],
  action: BulkAction,
  dryRun: boolean,
  how: Pick<CancelRequestBody, 'mode' | 'reason'>,
): Promise<readonly RunOutcome[]> {
  const { by } = claimed.peek() as { readonly by?: string };
  const who = by === undefined ? {} : { by };
  if (action === 'cancel') return service.cancelAll(ids, { ...how, ...who, dryRun });
  if (action === 'retry') return service.retryAll(ids, { ...who, dryRun });
  return service.upgradeAll(ids, { dryRun });
}
