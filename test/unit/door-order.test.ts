import type { ActivateInput } from '@temporalio/workflow';
import { names } from '../../contract/names';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Activate = (input: ActivateInput, next: (input: ActivateInput) => void) => void;

jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<object>('@temporalio/workflow'),
  workflowInfo: () => ({ workflowType: 'agentRun' }),
}));

const sandbox = globalThis as { __TEMPORAL_ACTIVATOR__?: { readonly blockedConditions: Map<number, { fn(): boolean }> } };
afterEach(() => delete sandbox.__TEMPORAL_ACTIVATOR__);

async function given(...jobs: readonly Job[]): Promise<readonly Job[]> {
  let activate: Activate = () => undefined;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { interceptors } = require('../../workflows/interceptors') as typeof import('../../workflows/interceptors');
    activate = interceptors().internals?.[0]?.activate as Activate;
  });
  const blockedConditions = new Map<number, { fn(): boolean }>();
  sandbox.__TEMPORAL_ACTIVATOR__ = { blockedConditions };
  const parts: Job[] = [];
  activate({ activation: { jobs: [...jobs], historyLength: 1 }, batchIndex: 0 }, ({ activation }) =>
    parts.push(...(activation.jobs ?? [])),
  );
  // The SDK repeats its conditions until none holds, and removes conditions that held.
  for (let look = 0; look < 3 * jobs.length; look++) {
    await Promise.resolve();
    for (const [key, { fn }] of [...blockedConditions]) if (fn()) blockedConditions.delete(key);
  }
  return parts;
}

const result: Job = { resolveActivity: { seq: 1 } };
const timer: Job = { fireTimer: { seq: 1 } };
const childEnd: Job = { resolveChildWorkflowExecution: { seq: 1 } };
const news: Job = { signalWorkflow: { signalName: names.childSignal, input: [] } };
const answer: Job = { signalWorkflow: { signalName: names.answerSignal, input: [] } };
const update: Job = { doUpdate: { id: 'u', name: names.answerUpdate } };

describe('what comes in one activation is given to the code', () => {
  it('results first, in their order, then what people send', async () => {
    expect(await given(answer, update, timer, result)).toEqual([timer, result, answer, update]);
  });

  it('with the news of isolated agents first', async () => {
    expect(await given(answer, news, update, result, childEnd, timer)).toEqual([news, result, childEnd, timer, answer, update]);
  });
});
