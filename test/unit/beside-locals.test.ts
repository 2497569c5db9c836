import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface';
import { BesideLocals } from '../../worker/threads/beside-locals';

type Activation = Parameters<Workflow['activate']>[0];
type Job = NonNullable<Activation['jobs']>[number];
type Command = NonNullable<NonNullable<Awaited<ReturnType<Workflow['activate']>>['successful']>['commands']>[number];

const answer: Command = { respondToQuery: { queryId: '1', succeeded: {} } };
const query: Job = { queryWorkflow: { queryId: '1', queryType: 'holdfast-status' } };
const cameBack: Job = { resolveActivity: { seq: 1, isLocal: true } };

/** A run whose code has `commands` with its next activation. */
async function run(): Promise<{
  readonly workflow: Workflow;
  activate(job: Job, ...commands: Command[]): Promise<readonly Command[]>;
  readonly reached: Job[];
}> {
  const reached: Job[] = [];
  let next: Command[] = [];
  const workflow = await new BesideLocals({
    createWorkflow: () =>
      Promise.resolve({
        activate: ({ jobs }: Activation) => (
          reached.push(...(jobs ?? [])),
          Promise.resolve({ runId: 'first', successful: { commands: next } })
        ),
        getAndResetSinkCalls: () => Promise.resolve([]),
        dispose: () => Promise.resolve(),
      }),
    destroy: () => Promise.resolve(),
  }).createWorkflow({} as WorkflowCreateOptions);
  return {
    workflow,
    reached,
    async activate(job, ...commands) {
      next = commands;
      const { successful, failed } = await workflow.activate({ runId: 'first', jobs: [job] });
      expect(failed ?? undefined).toBeUndefined();
      return successful?.commands ?? [];
    },
  };
}

describe('a query that came with a task', () => {
  it('has no answer while a local activity runs, as an answer would complete the task', async () => {
    const { activate, reached } = await run();
    await activate({ fireTimer: { seq: 1 } }, { scheduleLocalActivity: { seq: 1 } });
    expect(await activate(query, answer)).toEqual([]);
    expect(reached).toEqual([{ fireTimer: { seq: 1 } }]);
  });

  it('is answered when the code has the results of all local activities', async () => {
    const { activate } = await run();
    await activate({ fireTimer: { seq: 1 } }, { scheduleLocalActivity: { seq: 1 } });
    await activate(cameBack, { scheduleLocalActivity: { seq: 2 } });
    expect(await activate(query, answer)).toEqual([]);
    await activate(cameBack);
    expect(await activate(query, answer)).toEqual([answer]);
  });

  it('is answered at once in a run without a local activity, whatever else it waits for', async () => {
    const { activate } = await run();
    await activate({ fireTimer: { seq: 1 } }, { scheduleActivity: { seq: 1 } });
    expect(await activate(query, answer)).toEqual([answer]);
  });
});

it('a query that is a task of its own sends a run away while a local activity runs, as its task would never end', async () => {
  const { workflow, activate, reached } = await run();
  const asks: Job = { queryWorkflow: { queryId: 'legacy_query', queryType: 'holdfast-status' } };
  expect(await activate(asks, answer)).toEqual([answer]);
  await activate({ fireTimer: { seq: 1 } }, { scheduleLocalActivity: { seq: 1 } });
  reached.length = 0;
  expect(await workflow.activate({ runId: 'first', jobs: [asks] })).toMatchObject({ failed: { failure: {} } });
  expect(reached).toEqual([]);
});
