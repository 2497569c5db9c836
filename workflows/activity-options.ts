import { ActivityCancellationType } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { ModelFacts, ToolFacts } from '../contract/manifest';

/** How a call of a model or a tool is scheduled. One that is told to stop is waited for: it may say how far it came. */
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

/** Calls that may have to wait: which of their attempts count, the server cannot tell. */
function isCountedByWorker(facts: ModelFacts | ToolFacts): boolean {
  return 'effect' in facts ? facts.concurrency !== undefined && facts.effect !== 'once' : true;
}
