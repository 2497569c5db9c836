import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { WrappedRun } from './wrapped-run';

type Activation = Parameters<Workflow['activate']>[0];
type Completion = Awaited<ReturnType<Workflow['activate']>>;
type Job = NonNullable<Activation['jobs']>[number];

/** How Temporal's core names the query of a task that has nothing else. */
export const onlyQuery = 'legacy_query';

/** Local activities of a run that run: their results have not come to its code. */
export class OpenLocals {
  count = 0;

  /** Of what comes to the code. */
  came({ jobs }: Activation): void {
    this.count -= (jobs ?? []).filter(isResultOfLocal).length;
  }

  /** Of what the code wants done. */
  asked({ successful }: Completion): void {
    this.count += (successful?.commands ?? []).filter(({ scheduleLocalActivity }) => scheduleLocalActivity != null).length;
  }
}

/** Says what may come to a run while a local activity runs. Its task is open then, and Temporal's core may take what comes for the next one. */
export class BesideLocals implements WorkflowCreator {
  constructor(private readonly creator: WorkflowCreator) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    return new RunBesideLocals(await this.creator.createWorkflow(options));
  }

  destroy(): Promise<void> {
    return this.creator.destroy();
  }
}

class RunBesideLocals extends WrappedRun {
  private readonly locals = new OpenLocals();

  async activate(activation: Activation): Promise<Completion> {
    if (this.locals.count > 0) {
      const [query] = (activation.jobs ?? []).flatMap(({ queryWorkflow }) => (queryWorkflow == null ? [] : [queryWorkflow]));
      if (query?.queryId === onlyQuery) return leaves(activation);
      // The server sends queries without an answer again when the task is over.
      if (query !== undefined) return { runId: activation.runId ?? '', successful: { commands: [] } };
    }
    this.locals.came(activation);
    const completion = await this.workflow.activate(activation);
    this.locals.asked(completion);
    return completion;
  }
}

function isResultOfLocal({ resolveActivity }: Job): boolean {
  return resolveActivity?.isLocal === true;
}

/** The run leaves the memory. Its next task has all from the history. */
function leaves({ runId }: Activation): Completion {
  return { runId: runId ?? '', failed: { failure: { message: 'The run is at a call that is over in a moment. Ask it again.' } } };
}
