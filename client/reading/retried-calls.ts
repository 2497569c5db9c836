import type { temporal } from '@temporalio/proto';
import type { RetriedCall } from '../../contract/events';
import { failureOf, millisecondsOf } from '../../host/history/history-facts';

type PendingActivities = temporal.api.workflow.v1.IPendingActivityInfo[] | null | undefined;

export function retriedCalls(pending: PendingActivities, errorOf = failureOf): readonly RetriedCall[] {
  return (pending ?? []).flatMap(({ activityId, attempt, lastFailure, scheduledTime }) => {
    if (!activityId || !lastFailure) return [];
    const nextAttemptAt = millisecondsOf(scheduledTime);
    return [{ address: activityId, attempt: attempt ?? 1, nextAttemptAt, error: errorOf(lastFailure) }];
  });
}
