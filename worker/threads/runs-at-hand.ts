import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { codeAtHand } from '../../activities/health/code-at-hand';
import { WrappedRun } from './wrapped-run';

type Completion = Awaited<ReturnType<Workflow['activate']>>;
type Command = NonNullable<NonNullable<NonNullable<Completion['successful']>['commands']>[number]>;

/** Lets calls in this process know whether the code of their run is here, and when it tells calls to stop. They ask the server less often then. */
export class RunsAtHand implements WorkflowCreator {
  constructor(private readonly creator: WorkflowCreator) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    return new RunAtHand(await this.creator.createWorkflow(options), options.info.runId);
  }

  destroy(): Promise<void> {
    return this.creator.destroy();
  }
}

class RunAtHand extends WrappedRun {
  private readonly leave: () => void;

  constructor(
    workflow: Workflow,
    private readonly runId: string,
  ) {
    super(workflow);
    this.leave = codeAtHand.came(runId);
  }

  activate(...given: Parameters<Workflow['activate']>): Promise<Completion> {
    const completing = this.workflow.activate(...given);
    completing.then(
      ({ successful }) => (successful?.commands ?? []).some(stopsCalls) && codeAtHand.stops(this.runId),
      () => undefined,
    );
    return completing;
  }

  override dispose(): Promise<void> {
    this.leave();
    return super.dispose();
  }
}

/** Calls that are left when their run ends are told to stop, too. */
function stopsCalls(command: Command): boolean {
  const { requestCancelActivity, completeWorkflowExecution, failWorkflowExecution } = command;
  const { cancelWorkflowExecution, continueAsNewWorkflowExecution } = command;
  return [
    requestCancelActivity,
    completeWorkflowExecution,
    failWorkflowExecution,
    cancelWorkflowExecution,
    continueAsNewWorkflowExecution,
  ].some((one) => one != null);
}
