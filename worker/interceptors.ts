import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { withCall } from '../activities/calls/call-context';

/** Sets the context of a call, so that code deep inside a tool knows which run it works for. */
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

/** The same for these activities only. */
export function interceptorFor(activityTypes: readonly string[]): ActivityInterceptorsFactory {
  return (context) => (activityTypes.includes(context.info.activityType) ? callInterceptor(context) : {});
}
