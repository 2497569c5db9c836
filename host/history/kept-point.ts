import type { KeptPoint } from '../../contract/record/wire';
import { isRecord } from '../../contract/check';
import { names } from '../../contract/names';
import type { FactEvent } from './history-facts';
import type { PayloadReader } from './payload-reader';

type EndEvent = Pick<
  FactEvent,
  'workflowExecutionCanceledEventAttributes' | 'workflowExecutionFailedEventAttributes' | 'activityTaskScheduledEventAttributes'
>;

/** `pages`: newest first. Signals may come between the point and the end. */
export async function keptPointIn(pages: AsyncIterable<readonly EndEvent[]>, payloads: PayloadReader): Promise<KeptPoint | undefined> {
  let end: EndEvent | undefined;
  for await (const events of pages) {
    end ??= events[0];
    if ((end?.workflowExecutionCanceledEventAttributes ?? end?.workflowExecutionFailedEventAttributes) == null) return undefined;
    for (const { activityTaskScheduledEventAttributes: scheduled } of events) {
      if (scheduled?.activityType?.name !== names.keepActivity) continue;
      const [input] = scheduled.input?.payloads ?? [];
      const kept = input === undefined ? undefined : await payloads.value(input);
      return isRecord(kept) && isRecord(kept['point']) ? (kept as unknown as KeptPoint) : undefined;
    }
  }
  return undefined;
}
