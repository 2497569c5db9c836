import type { WorkflowInterceptors, WorkflowInterceptorsFactory } from '@temporalio/workflow';

/**
 * Conditions are also evaluated between the jobs of an activation, before the code that a job woke has run.
 * `settled` is true only when all code has run as far as it can.
 */
export const activation = { settled: false };

export const interceptors: WorkflowInterceptorsFactory = (): WorkflowInterceptors => ({
  inbound: [],
  outbound: [],
  internals: [
    {
      activate(input, next) {
        activation.settled = false;
        try {
          next(input);
        } finally {
          activation.settled = true;
        }
      },
    },
  ],
});
