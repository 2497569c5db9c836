import type { WorkflowInfo } from '@temporalio/workflow';
import { limits } from '../../../contract/limits';
import { ContinueAsNewWish } from '../../../workflows/continue-as-new';

const info = { historyLength: 10, historySize: 1000, continueAsNewSuggested: false };
jest.mock('@temporalio/workflow', () => ({ workflowInfo: (): Partial<WorkflowInfo> => info }));

function wish(of: Partial<typeof info>, came: Partial<ContinueAsNewWish> = {}): readonly [isSoon: boolean, isUrgent: boolean] {
  Object.assign(info, { historyLength: 10, historySize: 1000, continueAsNewSuggested: false }, of);
  const made = Object.assign(new ContinueAsNewWish(), came);
  return [made.isSoon, made.isUrgent];
}

describe('a run continues as new', () => {
  it('not before it is large', () => {
    expect(wish({ historyLength: 4000, historySize: 3_900_000 }, { signals: 7999, updates: 1499 })).toEqual([false, false]);
  });

  it('before its next turn when the server suggests it', () => {
    expect(wish({ historyLength: 4096, continueAsNewSuggested: true })).toEqual([true, false]);
  });

  it('also where its code waits at twice that size, at so many signals or updates, and when somebody asks', () => {
    const both = [true, true];
    expect(wish({ historyLength: limits.eventsPerRun })).toEqual(both);
    expect(wish({ historySize: limits.historyBytes })).toEqual(both);
    expect(wish({}, { signals: limits.signalsPerRun })).toEqual(both);
    expect(wish({}, { updates: limits.updatesPerRun })).toEqual(both);
    expect(wish({}, { isAsked: true })).toEqual(both);
  });
});
