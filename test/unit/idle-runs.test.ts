import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { codeAtHand } from '../../activities/health/code-at-hand';
import { names } from '../../contract/names';
import type { RunKey } from '../../worker/threads/idle-runs';
import { IdleRuns } from '../../worker/threads/idle-runs';

type Activation = Parameters<Workflow['activate']>[0];
type Commands = NonNullable<NonNullable<Awaited<ReturnType<Workflow['activate']>>['successful']>['commands']>;

const idleMs = 30_000;
const work: Activation = { runId: 'first', jobs: [{ fireTimer: { seq: 1 } }] };
const queryOf = (queryId: string, queryType: string = names.leaveQuery): Activation => ({
  runId: 'first',
  jobs: [{ queryWorkflow: { queryId, queryType } }],
});

class Creator implements WorkflowCreator {
  readonly activated: Activation[] = [];
  readonly disposed: string[] = [];
  commands: Commands = [];

  createWorkflow({ info: { runId } }: WorkflowCreateOptions): Promise<Workflow> {
    return Promise.resolve({
      activate: (activation: Activation) => {
        this.activated.push(activation);
        return Promise.resolve({ runId, successful: { commands: this.commands } });
      },
      getAndResetSinkCalls: () => Promise.resolve([]),
      dispose: () => Promise.resolve(void this.disposed.push(runId)),
    });
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

const creator = (): { inner: Creator; runs: IdleRuns; asked: RunKey[]; ends: (() => void)[] } => {
  const inner = new Creator();
  const asked: RunKey[] = [];
  const ends: (() => void)[] = [];
  const query = (run: RunKey): Promise<void> => {
    asked.push(run);
    return new Promise((_, reject) => ends.push(() => reject(new Error('The query failed.'))));
  };
  return { inner, runs: new IdleRuns(inner, { idleMs, query }), asked, ends };
};
const create = (runs: IdleRuns, runId = 'first'): Promise<Workflow> =>
  runs.createWorkflow({ info: { workflowId: `id of ${runId}`, runId } } as WorkflowCreateOptions);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a run without a task', () => {
  it('stays while a call of it is under way in this process', async () => {
    const { runs, asked } = creator();
    const run = await create(runs);
    await run.activate(work);
    const end = codeAtHand.listen('first', () => undefined);
    jest.advanceTimersByTime(3 * idleMs);
    expect(asked).toEqual([]);
    end();
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(1);
  });

  it('is sent the query to leave when the idle time is over, once', async () => {
    const { runs, asked } = creator();
    const run = await create(runs);
    await run.activate(work);
    jest.advanceTimersByTime(idleMs - 1);
    expect(asked).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(asked).toEqual([{ workflowId: 'id of first', runId: 'first' }]);
    jest.advanceTimersByTime(10 * idleMs);
    expect(asked).toHaveLength(1);
  });

  it('has its time begin anew with each task', async () => {
    const { runs, asked } = creator();
    const run = await create(runs);
    for (let task = 0; task < 5; task++) {
      await run.activate(work);
      jest.advanceTimersByTime(idleMs - 1);
    }
    expect(asked).toEqual([]);
  });

  it('is not asked when it has left, and not when the worker ends', async () => {
    const { inner, runs, asked } = creator();
    const [first, second] = [await create(runs), await create(runs, 'second')];
    await first.activate(work);
    await second.activate(work);
    await first.dispose();
    expect(inner.disposed).toEqual(['first']);
    await runs.destroy();
    jest.advanceTimersByTime(idleMs);
    expect(asked).toEqual([]);
  });

  it('is not idle while a local activity runs, however long that takes, and its code gets a query to leave that was on its way', async () => {
    const { inner, runs, asked } = creator();
    const run = await create(runs);
    await run.activate(work);
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(1);
    inner.commands = [{ scheduleLocalActivity: { seq: 1 } }];
    await run.activate(work);
    jest.advanceTimersByTime(10 * idleMs);
    expect(asked).toHaveLength(1);
    inner.commands = [];
    await run.activate(queryOf('legacy_query'));
    expect(inner.activated).toHaveLength(3);
    jest.advanceTimersByTime(10 * idleMs);
    await run.activate({ runId: 'first', jobs: [{ resolveActivity: { seq: 1, isLocal: true } }] });
    expect(asked).toHaveLength(1);
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(2);
  });

  it('waits for its turn when many are idle: four are asked at a time, and one that fails lets the next go', async () => {
    const { runs, asked, ends } = creator();
    for (let position = 0; position < 6; position++) await (await create(runs, `${position}`)).activate(work);
    jest.advanceTimersByTime(idleMs);
    expect(asked.map(({ runId }) => runId)).toEqual(['0', '1', '2', '3']);
    ends[2]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(asked.map(({ runId }) => runId)).toEqual(['0', '1', '2', '3', '4']);
  });
});

describe('the query to leave', () => {
  it('fails the task that has nothing else, so that the core lets go of the run, and does not reach its code', async () => {
    const { inner, runs } = creator();
    const run = await create(runs);
    expect(await run.activate(queryOf('legacy_query'))).toMatchObject({ runId: 'first', failed: { failure: {} } });
    expect(inner.activated).toEqual([]);
  });

  it('reaches the code when it comes late, which refuses it behind events without a task: the run is not idle any more', async () => {
    const { inner, runs, asked } = creator();
    const run = await create(runs);
    await run.activate(work);
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(1);
    await run.activate(work);
    await run.activate(queryOf('legacy_query'));
    expect(inner.activated.at(-1)).toEqual(queryOf('legacy_query'));
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(2);
    expect(await run.activate(queryOf('legacy_query'))).toMatchObject({ failed: { failure: {} } });
  });

  it('sends a run away that came into the memory for it alone, also where its code has called a local activity', async () => {
    const { inner, runs } = creator();
    const run = await create(runs);
    inner.commands = [{ scheduleLocalActivity: { seq: 1 } }];
    await run.activate(work);
    expect(await run.activate(queryOf('legacy_query'))).toMatchObject({ failed: { failure: {} } });
  });

  it('reaches the code when it comes with other work, which must not fail, and the idle time begins anew', async () => {
    const { inner, runs, asked } = creator();
    const run = await create(runs);
    await run.activate(queryOf('7'));
    expect(inner.activated).toEqual([queryOf('7')]);
    jest.advanceTimersByTime(idleMs);
    expect(asked).toHaveLength(1);
  });

  it('is told from the queries of others, which reach the code', async () => {
    const { inner, runs } = creator();
    const run = await create(runs);
    await run.activate(queryOf('legacy_query', names.statusQuery));
    expect(inner.activated).toHaveLength(1);
  });
});
