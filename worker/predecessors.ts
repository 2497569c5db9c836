import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { millisecondsOf } from '../host/history/history-facts';
import { identitiesOf } from './deployment';

type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;

/** Of the state of a call that a worker has. */
const { PENDING_ACTIVITY_STATE_STARTED: started } = temporal.api.enums.v1.PendingActivityState;
/** The server notices by itself what is nearly over, and the call may be another worker's by then. */
const nearlyMs = 2000;
const usualHeartbeatMs = 10_000;
const mostRuns = 1000;
const runsAtOnce = 8;

/**
 * Makes calls again at once that processes of this host had when they died, in place of waiting for their heartbeats. Only what the server would call
 * again: the last attempt of a call, such as of a `once` tool, ends by its timeout, as the run must hear that nobody knows what became of it.
 */
export async function retryCallsOf(
  deadPids: readonly number[],
  { connection, namespace, taskQueue }: { readonly connection: Connection; readonly namespace: string; readonly taskQueue: string },
): Promise<number> {
  if (deadPids.length === 0) return 0;
  const { workflowService } = connection;
  const dead = new Set(deadPids.flatMap(identitiesOf));
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: mostRuns });
  const left = [...(executions ?? [])];
  let retried = 0;
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { workflowId, runId } = next.execution ?? {};
      if (!workflowId || !runId) continue;
      const { pendingActivities } = await workflowService.describeWorkflowExecution({ namespace, execution: { workflowId, runId } });
      const lost = (pendingActivities ?? []).filter((one) => isLost(one, dead));
      // Else the server offers the run's next task to the dead process first, for a second.
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
            // The call did nothing wrong that one would have to wait for.
            applicationFailureInfo: { type: 'WorkerLost', nextRetryDelay: { nanos: 1_000_000 } },
          },
        });
        retried += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: runsAtOnce }, work));
  return retried;
}

function isLost(activity: PendingActivity, dead: ReadonlySet<string>): boolean {
  const { state, lastWorkerIdentity, attempt, maximumAttempts, lastHeartbeatTime, lastStartedTime, activityOptions } = activity;
  if (state !== started || !dead.has(lastWorkerIdentity ?? '')) return false;
  if (maximumAttempts && (attempt ?? 1) >= maximumAttempts) return false;
  const heard = Math.max(millisecondsOf(lastHeartbeatTime), millisecondsOf(lastStartedTime));
  const heartbeatMs = millisecondsOf(activityOptions?.heartbeatTimeout) || usualHeartbeatMs;
  return Date.now() - heard < heartbeatMs - nearlyMs;
}
