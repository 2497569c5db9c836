import type { Payload } from '@temporalio/common';
import type { KeptPoint } from '../../contract/record/wire';
import { isRecord } from '../../contract/check';
import { names } from '../../contract/names';
import type { PayloadReader } from './payload-reader';

/** What is read of an event here. */
export interface EndEvent {
  readonly workflowExecutionCanceledEventAttributes?: object | null | undefined;
  readonly workflowExecutionFailedEventAttributes?: object | null | undefined;
  readonly markerRecordedEventAttributes?:
    | {
        readonly markerName?: string | null;
        readonly details?: Readonly<Record<string, { readonly payloads?: readonly Payload[] | null } | null>> | null;
      }
    | null
    | undefined;
}

/**
 * What a run kept when it was cancelled, or failed as an isolated agent, of the newest events of its history, newest first. Undefined: it has not
 * ended so, or kept nothing.
 */
export async function keptPointIn(events: readonly EndEvent[], payloads: PayloadReader): Promise<KeptPoint | undefined> {
  const [end] = events;
  if ((end?.workflowExecutionCanceledEventAttributes ?? end?.workflowExecutionFailedEventAttributes) == null) return undefined;
  for (const { markerRecordedEventAttributes: marker } of events) {
    const [about, result] = ['data', 'result'].map((key) => marker?.details?.[key]?.payloads?.[0]);
    if (about == null || result == null) continue;
    const { activity_type: type } = (await payloads.value(about)) as { readonly activity_type?: unknown };
    if (type !== names.keepActivity) continue;
    const kept = await payloads.value(result);
    return isRecord(kept) && isRecord(kept['point']) ? (kept as unknown as KeptPoint) : undefined;
  }
  return undefined;
}
