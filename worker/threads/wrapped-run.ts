import type { Workflow } from '@temporalio/worker/lib/workflow/interface';

/** A workflow that does something beside what another one does. */
export abstract class WrappedRun implements Workflow {
  constructor(protected readonly workflow: Workflow) {}

  abstract activate(...given: Parameters<Workflow['activate']>): ReturnType<Workflow['activate']>;

  getAndResetSinkCalls(): ReturnType<Workflow['getAndResetSinkCalls']> {
    return this.workflow.getAndResetSinkCalls();
  }

  dispose(): Promise<void> {
    return this.workflow.dispose();
  }
}
