import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { withCall } from '../activities/calls/call-context';

/** For code deep inside a tool. */
export const callInterceptor: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) =>
      withCall(
        {
          workflowId: info.workflowExecution?.workflowId ?? '',
          runId: info.workflowExecution?.runId ?? '',
          activityId: info.activityId,
          activityType: info.activityType,
          attempt: info.attempt,
        },
        () => next(input),
      ),
  },
});

export function interceptorFor(activityTypes: readonly string[]): ActivityInterceptorsFactory {
  return (context) => (activityTypes.includes(context.info.activityType) ? callInterceptor(context) : {});
}
