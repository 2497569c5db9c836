import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { codeAtHand } from '../../activities/health/code-at-hand';
import { RunsAtHand } from '../../worker/threads/runs-at-hand';

type Completion = Awaited<ReturnType<Workflow['activate']>>;
type Commands = NonNullable<NonNullable<Completion['successful']>['commands']>;

let commands: Commands;
const inner: WorkflowCreator = {
  createWorkflow: ({ info: { runId } }: WorkflowCreateOptions) =>
    Promise.resolve({
      activate: () => Promise.resolve({ runId, successful: { commands } }),
      getAndResetSinkCalls: () => Promise.resolve([]),
      dispose: () => Promise.resolve(),
    }),
  destroy: () => Promise.resolve(),
};
const create = (runId: string): Promise<Workflow> =>
  new RunsAtHand(inner).createWorkflow({ info: { workflowId: 'run', runId } } as WorkflowCreateOptions);
const activate = (run: Workflow): Promise<Completion> => run.activate({ jobs: [] });

describe('the code of a run', () => {
  it('is at hand until the last of its copies has left the memory', async () => {
    const [one, other] = [await create('here'), await create('here')];
    expect(codeAtHand.has('here')).toBe(true);
    await one.dispose();
    await one.dispose();
    expect(codeAtHand.has('here')).toBe(true);
    await other.dispose();
    expect(codeAtHand.has('here')).toBe(false);
  });

  it.each<[string, Commands, number]>([
    ['cancels a call', [{ requestCancelActivity: { seq: 1 } }], 1],
    ['ends', [{ completeWorkflowExecution: {} }], 1],
    ['fails', [{ failWorkflowExecution: {} }], 1],
    ['goes on as new', [{ continueAsNewWorkflowExecution: {} }], 1],
    ['schedules a call', [{ scheduleActivity: { seq: 2 } }], 0],
  ])('that %s lets its calls hear of that: %j, %i', async (_, given, times) => {
    const [heard, others] = [jest.fn(), jest.fn()];
    const [end, endOther] = [codeAtHand.listen('mine', heard), codeAtHand.listen('another', others)];
    commands = given;
    const run = await create('mine');
    await activate(run);
    expect(heard).toHaveBeenCalledTimes(times);
    end();
    endOther();
    await activate(run);
    expect(heard).toHaveBeenCalledTimes(times);
    expect(others).not.toHaveBeenCalled();
    await run.dispose();
  });
});
