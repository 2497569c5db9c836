import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { ErrorCode } from '../../contract/errors';
import { codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { ShownRun } from '../../client/http/index';
import { service } from './service';

const longestPauseMs = 5_000;

/** Errors of the run itself, for which a retry is useless. */
const lasting: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>(['run-unknown', 'run-id-invalid', 'request-invalid']);

interface FollowOptions {
  readonly from?: number;
  readonly onEvent: (event: RunEvent | Delta) => void;
  /** The next stream repeats the text of open calls. */
  readonly onBreak?: () => void;
  readonly onView?: (view: ShownRun) => void;
  readonly signal: AbortSignal;
}

/** Yields each event once, also over an outage. Throws errors of the run itself. */
export async function followLog(id: string, { from = 0, onEvent, onBreak, onView, signal }: FollowOptions): Promise<void> {
  let next = from;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      for await (const event of service.liveEvents(id, { from: next, signal })) {
        failures = 0;
        if (!isDelta(event)) {
          if (event.offset < next) continue;
          next = event.offset + 1;
        }
        onEvent(event);
      }
      // A stream also ends with the service.
      const view = await service.view(id);
      if (signal.aborted) return;
      onView?.(view);
      if (isEnded(view.status) && next >= view.nextOffset) return;
    } catch (error) {
      if (signal.aborted) return;
      if (lasting.has(codeOf(error))) throw error;
    }
    onBreak?.();
    await new Promise((resolve) => setTimeout(resolve, Math.min(longestPauseMs, 250 * 2 ** failures)));
  }
}
