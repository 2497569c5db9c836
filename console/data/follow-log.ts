import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { ErrorCode } from '../../contract/errors';
import { codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { ShownRun } from '../../http/index';
import { service } from './service';

const longestPauseMs = 5_000;

/** What is wrong with the run itself: to ask again would not help. */
const lasting: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>(['run-unknown', 'run-id-invalid', 'request-invalid']);

interface FollowOptions {
  readonly from?: number;
  readonly onEvent: (event: RunEvent | Delta) => void;
  /** The stream has broken: what calls had said so far is said again from its beginning. */
  readonly onBreak?: () => void;
  /** How the run stood where a stream ended. */
  readonly onView?: (view: ShownRun) => void;
  readonly signal: AbortSignal;
}

/** Follows a log until its run has ended. Each event comes once, also when the service was away in between. Throws what is wrong with the run itself. */
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
      // A service that stops ends its streams, too.
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
