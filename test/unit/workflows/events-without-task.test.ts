import type { ActivateInput, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { asksAgain, loadsAgain } from '../../../contract/news';

type Jobs = ActivateInput['activation']['jobs'];

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

function run(): {
  activate(jobs: Jobs, at: { second: number; length: number; size: number; isReplaying?: boolean }, batchIndex?: number): void;
  conclude(...commands: object[]): void;
  woken: string[];
} {
  let internals: Partial<WorkflowInternalsInterceptor> = {};
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: { blockedConditions: new Map(), rethrowSynchronously: false } });
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { interceptors } = require('../../../workflows/interceptors') as typeof import('../../../workflows/interceptors');
    internals = interceptors().internals?.[0] ?? {};
  });
  const woken: string[] = [];
  return {
    woken,
    conclude: (...commands) => void internals.concludeActivation?.({ commands }, (input) => input),
    activate: (jobs, { second, length, size, isReplaying }, batchIndex = 0) =>
      internals.activate?.(
        {
          activation: { jobs, timestamp: { seconds: second, nanos: 0 }, historyLength: length, historySizeBytes: size, isReplaying },
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
  it('do not wake the code, neither in a second batch, and the query behind them fails with a word', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(signal, { ...task, length: 13 });
    activate(timer, { ...task, length: 13 }, 1);
    expect(woken).toEqual(['fireTimer']);
    expect(() => activate(query, { ...task, length: 13 })).toThrow(asksAgain);
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

describe('a task whose history lacks what this run did', () => {
  const call = { scheduleActivity: { seq: 2 } };
  const later = (length: number) => ({ second: 2, length, size: 2000 });

  it('fails, so that the run is loaded again with all events', () => {
    const { activate, conclude, woken } = run();
    activate(timer, task);
    conclude(call);
    expect(() => activate(signal, later(13))).toThrow(loadsAgain);
    expect(woken).toEqual(['fireTimer']);
  });

  it('is none if the history has the end of the last task, its commands and the new task', () => {
    const { activate, conclude, woken } = run();
    activate(timer, task);
    conclude(call, { modifyWorkflowProperties: {} });
    activate(signal, later(15));
    expect(woken).toEqual(['fireTimer', 'signalWorkflow']);
  });

  it('is none if the missing commands were taken back, or make no event', () => {
    const { activate, conclude, woken } = run();
    activate(timer, task);
    conclude(call, { requestCancelActivity: { seq: 2 } }, { cancelTimer: { seq: 1 } }, { updateResponse: {} });
    activate(signal, later(12));
    expect(woken).toEqual(['fireTimer', 'signalWorkflow']);
  });

  it('is known by the commands of all activations of one task', () => {
    const { activate, conclude } = run();
    activate(timer, task);
    conclude(call);
    activate([{ resolveActivity: { seq: 1 } }], task);
    conclude({ startTimer: { seq: 3 } });
    expect(() => activate(signal, later(14))).toThrow(loadsAgain);
  });
});

describe('a query that is a task of its own', () => {
  const replayed = { ...task, isReplaying: true };
  const later = { second: 2, length: 13, size: 1100 };

  it('fails if it may have loaded the run, with events of a task that another worker has', () => {
    const { activate, woken } = run();
    activate(timer, replayed);
    activate(timer, later);
    expect(() => activate(query, later)).toThrow(asksAgain);
    expect(woken).toEqual(['fireTimer', 'fireTimer']);
  });

  it('is answered if the run was loaded with nothing new, or has gone on with two tasks since', () => {
    const { activate, woken } = run();
    activate(timer, replayed);
    activate(query, replayed);
    activate(timer, later);
    activate([{ resolveActivity: { seq: 1 } }], later);
    activate(timer, { second: 3, length: 16, size: 1200 });
    activate(query, { second: 3, length: 16, size: 1200 });
    expect(woken).toEqual(['fireTimer', 'queryWorkflow', 'fireTimer', 'resolveActivity', 'fireTimer', 'queryWorkflow']);
  });

  it('is answered if it comes with a task', () => {
    const { activate, woken } = run();
    activate(timer, replayed);
    activate(timer, later);
    activate([{ queryWorkflow: { queryId: 'of the task', queryType: 'any' } }], later);
    expect(woken).toEqual(['fireTimer', 'fireTimer', 'queryWorkflow']);
  });
});

describe('what wakes the code', () => {
  it('is the first activation of a run, a task, and a query', () => {
    const { activate, woken } = run();
    activate(timer, task);
    activate(signal, { second: 1, length: 13, size: 1400 });
    activate(query, { second: 1, length: 13, size: 1400 });
    activate(signal, { second: 2, length: 16, size: 1400 });
    expect(woken).toEqual(['fireTimer', 'signalWorkflow', 'queryWorkflow', 'signalWorkflow']);
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
