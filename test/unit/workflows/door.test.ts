import { setImmediate } from 'node:timers/promises';
import type { ActivateInput } from '@temporalio/workflow';
import { tryUnblockConditions } from '@temporalio/workflow/lib/worker-interface';
import { names } from '../../../contract/names';

type Jobs = NonNullable<ActivateInput['activation']['jobs']>;
type Activate = (input: ActivateInput, next: (input: ActivateInput) => void) => void;

jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<object>('@temporalio/workflow'),
  workflowInfo: () => ({ workflowType: 'agentRun' }),
}));

const activity: Jobs[number] = { resolveActivity: { seq: 1 } };
const timer: Jobs[number] = { fireTimer: { seq: 1 } };
const signal: Jobs[number] = { signalWorkflow: { signalName: 'any', input: [] } };
const update: Jobs[number] = { doUpdate: { name: 'any' } };

const scope = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
afterEach(() => {
  delete scope.__TEMPORAL_ACTIVATOR__;
});

function run(then: (kind: string, wait: (holds: () => boolean) => Promise<void>) => Promise<void> | void = () => undefined) {
  const blockedConditions = new Map<number, { fn(): boolean; resolve(): void }>();
  scope.__TEMPORAL_ACTIVATOR__ = { blockedConditions, rethrowSynchronously: false, maybeRethrowWorkflowTaskError: () => undefined };
  let conditions = 0;
  const wait = (fn: () => boolean): Promise<void> =>
    new Promise((resolve) => void blockedConditions.set(++conditions, { fn, resolve: () => resolve() }));
  let activate: Activate = () => undefined;
  let activation: { readonly settled: boolean } | undefined;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const module = require('../../../workflows/interceptors') as typeof import('../../../workflows/interceptors');
    activate = module.interceptors().internals?.[0]?.activate as Activate;
    ({ activation } = module);
  });
  const log: string[] = [];
  const code = async (kinds: readonly string[]): Promise<void> => {
    log.push(kinds.join(' and '));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    for (const kind of kinds) await then(kind, wait);
    log.push(`${kinds.join(' and ')} is done`);
  };
  return {
    log,
    rests: () => activation?.settled,
    /** As the SDK: checks conditions in between, until none holds. */
    async activate(...jobs: Jobs): Promise<void> {
      const historyLength = log.length + 1;
      const given = {
        activation: { jobs, historyLength, historySizeBytes: historyLength, timestamp: { seconds: historyLength } },
        batchIndex: 0,
      };
      activate(given as unknown as ActivateInput, ({ activation: part }) => {
        void code((part.jobs ?? []).flatMap((job) => Object.keys(job)));
        tryUnblockConditions();
      });
      do await setImmediate();
      while (tryUnblockConditions() > 0);
    },
  };
}

describe('what comes in one activation', () => {
  it('is handed out one thing each time the code rests: results as they came, then signals, then updates', async () => {
    const { activate, log, rests } = run();
    await activate(update, signal, timer, activity);
    expect(log).toEqual([
      'fireTimer',
      'fireTimer is done',
      'resolveActivity',
      'resolveActivity is done',
      'signalWorkflow',
      'signalWorkflow is done',
      'doUpdate',
      'doUpdate is done',
    ]);
    expect(rests()).toBe(true);
  });

  it('is handed out with the news of isolated agents first', async () => {
    const { activate, log } = run();
    const news: Jobs[number] = { signalWorkflow: { signalName: names.childSignal, input: [] } };
    await activate(update, news, activity, { resolveChildWorkflowExecution: { seq: 1 } }, timer);
    expect(log.filter((line) => !line.includes(' is done'))).toEqual([
      ...['signalWorkflow', 'resolveActivity', 'resolveChildWorkflowExecution', 'fireTimer', 'doUpdate'],
    ]);
  });

  it('makes the same of the code when it comes in several activations', async () => {
    const one = run();
    await one.activate(timer, activity, signal);
    const other = run();
    await other.activate(timer);
    await other.activate(activity);
    await other.activate(signal);
    expect(one.log).toEqual(other.log);
  });

  it('waits while a condition holds, and while the code that the condition wakes is at work', async () => {
    const { activate, log } = run(async (kind, wait) => {
      if (kind !== 'fireTimer') return;
      await wait(() => true);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      await wait(() => true);
    });
    await activate(timer, activity);
    expect(log).toEqual(['fireTimer', 'fireTimer is done', 'resolveActivity', 'resolveActivity is done']);
  });

  it('wakes code that waits for what comes later in it', async () => {
    let signalled = false;
    const { activate, log } = run(async (kind, wait) => {
      if (kind === 'signalWorkflow') signalled = true;
      if (kind === 'fireTimer') await wait(() => signalled);
    });
    await activate(signal, timer);
    expect(log).toEqual(['fireTimer', 'signalWorkflow', 'signalWorkflow is done', 'fireTimer is done']);
  });

  it('is one thing where it is the start of the run, or a query', async () => {
    const { activate, log } = run();
    await activate({ initializeWorkflow: {} }, signal);
    await activate({ queryWorkflow: { queryId: 'one' } }, { queryWorkflow: { queryId: 'two' } });
    expect(log.filter((line) => !line.includes(' is done'))).toEqual([
      'initializeWorkflow and signalWorkflow',
      'queryWorkflow and queryWorkflow',
    ]);
  });
});
