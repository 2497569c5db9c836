import { ActivityCancellationType } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { ModelFacts, ToolFacts } from '../contract/manifest';

/** The options of a call. A cancelled call is awaited, because it may say how far it came. */
export function activityOptions(activityId: string, facts: ModelFacts | ToolFacts): ActivityOptions {
  return {
    activityId,
    startToCloseTimeout: facts.timeoutMs,
    heartbeatTimeout: facts.heartbeatMs,
    retry: {
      maximumAttempts: isCountedByWorker(facts) ? Infinity : facts.attempts,
      initialInterval: 500,
      backoffCoefficient: 2,
      maximumInterval: 30_000,
    },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
}

/** The server cannot tell which attempts of a waiting call count. */
function isCountedByWorker(facts: ModelFacts | ToolFacts): boolean {
  return 'effect' in facts ? facts.concurrency !== undefined && facts.effect !== 'once' : true;
}
