import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { millisecondsOf } from '../../host/history/history-facts';
import { identitiesOf } from './deployment';

type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;

const { PENDING_ACTIVITY_STATE_STARTED: started } = temporal.api.enums.v1.PendingActivityState;
/** Soon another worker may have a call near its heartbeat timeout. */
const nearlyMs = 2000;
const usualHeartbeatMs = 10_000;
const mostRuns = 1000;
const runsAtOnce = 8;

/**
 * Makes the server repeat calls of dead processes of this host without waiting for heartbeat timeouts. `dead`: the marks of these
 * processes, because process numbers repeat. The last attempt of a call is left to its timeout, so the run learns that the effect is
 * unknown.
 */
export async function retryCallsOf(
  dead: readonly string[],
  { connection, namespace, taskQueue }: { readonly connection: Connection; readonly namespace: string; readonly taskQueue: string },
): Promise<number> {
  const { workflowService } = connection;
  const identities = new Set(dead.flatMap(identitiesOf));
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: mostRuns });
  const left = [...(executions ?? [])];
  let retried = 0;
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { workflowId, runId } = next.execution ?? {};
      if (!workflowId || !runId) continue;
      const { pendingActivities } = await workflowService.describeWorkflowExecution({ namespace, execution: { workflowId, runId } });
      const lost = (pendingActivities ?? []).filter((one) => isLost(one, identities));
      // Without the reset, the server offers the run's next task to the dead process for a second.
      if (lost.length > 0) await workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId, runId } });
      for (const activity of lost) {
        await workflowService.respondActivityTaskFailedById({
          namespace,
          workflowId,
          runId,
          activityId: activity.activityId ?? '',
          identity: activity.lastWorkerIdentity ?? '',
          failure: {
            message: 'The process that made this call is gone.',
            source: 'Holdfast',
            // The call made no mistake, so no wait is needed.
            applicationFailureInfo: { type: 'WorkerLost', nextRetryDelay: { nanos: 1e6 } },
          },
        });
        retried += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: runsAtOnce }, work));
  return retried;
}

function isLost(activity: PendingActivity, identities: ReadonlySet<string>): boolean {
  const { state, lastWorkerIdentity, attempt, maximumAttempts, lastHeartbeatTime, lastStartedTime, activityOptions } = activity;
  if (state !== started || !identities.has(lastWorkerIdentity ?? '')) return false;
  if (maximumAttempts && (attempt ?? 1) >= maximumAttempts) return false;
  const heard = Math.max(millisecondsOf(lastHeartbeatTime), millisecondsOf(lastStartedTime));
  const heartbeatMs = millisecondsOf(activityOptions?.heartbeatTimeout) || usualHeartbeatMs;
  return Date.now() - heard < heartbeatMs - nearlyMs;
}
