import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;

/** How Temporal's core names the query of a task that has nothing else. */
export const onlyQuery = 'legacy_query';

/** Local activities of a run that run: their results have not come to its code. */
export class OpenLocals {
  count = 0;

  /** Of what comes to the code. */
  came({ jobs }: Activation): void {
    this.count -= (jobs ?? []).filter(({ resolveActivity }) => resolveActivity?.isLocal === true).length;
  }

  /** Of what the code wants done. */
  asked({ successful }: Completion): void {
    this.count += (successful?.commands ?? []).filter(({ scheduleLocalActivity }) => scheduleLocalActivity != null).length;
  }
}

/**
 * Lets queries wait while a local activity runs. Temporal's core completes a task as soon as it has the answer to a query. The result of a local
 * activity that ended at that moment is then in the history before the code has it. What comes with the next task comes to the code before the result,
 * and in a replay behind it.
 */
export class PatientQueries implements WorkflowCreator {
  constructor(private readonly creator: WorkflowCreator) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    return new PatientRun(await this.creator.createWorkflow(options));
  }

  destroy(): Promise<void> {
    return this.creator.destroy();
  }
}

class PatientRun implements Workflow {
  private readonly locals = new OpenLocals();

  constructor(private readonly workflow: Workflow) {}

  async activate(activation: Activation): Promise<Completion> {
    if (this.locals.count > 0 && hasQueriesBeside(activation)) return unanswered(activation);
    this.locals.came(activation);
    const completion = await this.workflow.activate(activation);
    this.locals.asked(completion);
    return completion;
  }

  getAndResetSinkCalls(): ReturnType<Workflow['getAndResetSinkCalls']> {
    return this.workflow.getAndResetSinkCalls();
  }

  dispose(): Promise<void> {
    return this.workflow.dispose();
  }
}

/** Queries that came with a task. They have an activation of their own, when all other work of the task is done or waits for local activities. */
function hasQueriesBeside({ jobs }: Activation): boolean {
  return (jobs ?? []).some(({ queryWorkflow }) => queryWorkflow != null && queryWorkflow.queryId !== onlyQuery);
}

/** The server sends queries without an answer again when the task is over. */
function unanswered({ runId }: Activation): Completion {
  return { runId: runId ?? '', successful: { commands: [] } };
}
