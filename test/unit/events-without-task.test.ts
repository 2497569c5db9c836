import type { ActivateInput } from '@temporalio/workflow';
import { asksAgain } from '../../contract/news';

type Jobs = ActivateInput['activation']['jobs'];
type Activate = (input: ActivateInput, next: (input: ActivateInput) => void) => void;

jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<object>('@temporalio/workflow'),
  workflowInfo: () => ({ workflowType: 'agentRun' }),
}));

const scope = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
beforeEach(() => {
  scope.__TEMPORAL_ACTIVATOR__ = { blockedConditions: new Map() };
});
afterEach(() => {
  delete scope.__TEMPORAL_ACTIVATOR__;
});

/** The interceptor of a new run. What has reached the code is in `woken`. */
function run(): { activate(jobs: Jobs, at: { second: number; length: number; size: number }, batchIndex?: number): void; woken: string[] } {
  let activate: Activate = () => undefined;
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: { blockedConditions: new Map(), rethrowSynchronously: false } });
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { interceptors } = require('../../workflows/interceptors') as typeof import('../../workflows/interceptors');
    activate = interceptors().internals?.[0]?.activate as Activate;
  });
  const woken: string[] = [];
  return {
    woken,
    activate: (jobs, { second, length, size }, batchIndex = 0) =>
      activate(
        {
          activation: { jobs, timestamp: { seconds: second, nanos: 0 }, historyLength: length, historySizeBytes: size },
          batchIndex,
        } as unknown as ActivateInput,
        ({ activation }) => woken.push(...(activation.jobs ?? []).flatMap((job) => Object.keys(job))),
      ),
  };
}

const timer: Jobs = [{ fireTimer: { seq: 1 } }];
const signal: Jobs = [{ signalWorkflow: { signalName: 'any', input: [] } }];
const query: Jobs = [{ queryWorkflow: { queryId: 'legacy_query', queryType: 'any' } }];
const task = { second: 1, length: 10, size: 1000 };

describe('events that no task has brought', () => {
  it('do not wake the code, and the query behind them fails with a word', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(timer, { ...task, length: 13 });
    expect(woken).toEqual(['fireTimer']);
    expect(() => activate(query, { ...task, length: 13 })).toThrow(asksAgain);
    expect(woken).toEqual(['fireTimer']);
  });

  it('do not wake the code in a second batch either', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(signal, { ...task, length: 13 });
    activate(timer, { ...task, length: 13 }, 1);
    expect(woken).toEqual(['fireTimer']);
  });

  it('fail a task that comes behind them, so that its code gets all of them at once from the history', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(timer, { ...task, length: 13 });
    expect(() => activate(timer, { second: 2, length: 16, size: 1500 })).toThrow(asksAgain);
    expect(woken).toEqual(['fireTimer']);
  });
});

describe('what wakes the code', () => {
  it('is the first activation of a run, a task, and a query', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(query, task);
    activate(signal, { second: 1, length: 13, size: 1400 });
    activate(signal, { second: 2, length: 16, size: 1400 });
    expect(woken).toEqual(['fireTimer', 'queryWorkflow', 'signalWorkflow', 'signalWorkflow']);
  });

  it('is what comes in the task that the code is in: results of cancels', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate([{ resolveActivity: { seq: 1 } }], task);
    expect(woken).toEqual(['fireTimer', 'resolveActivity']);
  });

  it('is a result before what people send, and the signal of a cancel before the cancel', () => {
    const first = (...jobs: NonNullable<Jobs>): string | undefined => {
      const { activate, woken } = run();
      activate(jobs, task);
      return woken[0];
    };
    const cancel = { cancelWorkflow: { reason: '' } };
    expect(first(...(signal ?? []), cancel)).toBe('signalWorkflow');
    expect(first(...(signal ?? []), cancel, ...(timer ?? []))).toBe('fireTimer');
  });
});
