import type { ToolCall } from '../../../contract/messages/messages';
import { people } from '../../../contract/people';
import type { PlannedStage } from '../../../contract/policies';
import type { Plan, StageDecision, StageState } from '../../../middleware/approval/stage-state';
import { beginning, endOfAll, entered, nextOf, openStageOf } from '../../../middleware/approval/stage-state';

const stage = (user: string, others: Partial<PlannedStage> = {}): PlannedStage => ({
  by: { users: [user] },
  need: 1,
  fourEyes: false,
  remind: [],
  onExpiry: 'reject',
  delegates: true,
  ...others,
});
const planOf = (version: string, ...stages: readonly PlannedStage[]): Plan => ({ name: 'refunds', version, holds: true, stages });
const call = (amount: number): ToolCall => ({ id: 'c', name: 'refund', input: { amount }, inputHash: `hash of ${amount}` });
const plan = planOf('v1', stage('ada'), stage('ben', { onExpiry: 'approve' }));
const approve = (by: string, others: Partial<StageDecision> = {}): StageDecision => ({ answer: { type: 'approve' }, by, ...others });

/** The state, or the end, after decisions about the stages that are open one after another. */
function after(decisions: readonly StageDecision[], from: Plan = plan) {
  let state: StageState = beginning(from, call(100), undefined);
  for (const [time, decision] of decisions.entries()) {
    const next = nextOf(entered(state, openStageOf(state), 1000 * (time + 1)), openStageOf(state), decision, people);
    if ('runs' in next) return { ...state, end: next };
    state = next;
  }
  const number = openStageOf(state);
  return {
    ...state,
    end: number === -1 ? endOfAll(state) : undefined,
    asks: state.plan.stages[number]?.by.users,
    given: state.given.map(({ stage: at, type, by }) => [at, type, by ?? null]),
  };
}

describe('a policy with a stage of ada and a stage of ben', () => {
  it.each<[string, readonly StageDecision[], object]>([
    ['asks ada first', [], { asks: ['ada'], end: undefined }],
    ['asks ben after ada', [approve('ada')], { asks: ['ben'], given: [[0, 'approve', 'ada']] }],
    ['lets the call run after both', [approve('ada'), approve('ben')], { end: { runs: true } }],
    [
      'counts silence as consent where the stage says so',
      [approve('ada'), { answer: null as never, expired: true }],
      { end: { runs: true } },
    ],
    [
      'ends the call where silence means no',
      [{ answer: null as never, expired: true }],
      { end: { runs: false, output: expect.stringContaining('Nobody decided in time.') as string } },
    ],
    [
      'ends the call at a rejection',
      [approve('ada'), { answer: { type: 'reject', feedback: 'Too much.' }, by: 'ben' }],
      { end: { runs: false, output: expect.stringContaining('They said: Too much.') as string } },
    ],
    [
      'answers in place of the tool',
      [{ answer: { type: 'respond', output: { paid: 0 } }, by: 'ada' }],
      { end: { runs: false, output: { paid: 0 } } },
    ],
    [
      'asks the same stage again after a delegation',
      [{ answer: { type: 'delegate', to: 'cyn' }, by: 'ada' }],
      { asks: ['ada'], given: [[0, 'delegate', 'ada']] },
    ],
    [
      'says why edited arguments do not fit, and keeps earlier arguments',
      [{ answer: { type: 'approve', editedInput: 'x' }, by: 'ada', misfit: 'amount is a number' }],
      { asks: ['ada'], given: [], problem: 'amount is a number', editedInput: undefined },
    ],
    [
      'asks about edited arguments from the first stage that asks other people',
      [
        approve('ada'),
        {
          answer: { type: 'approve', editedInput: { amount: 5 } },
          by: 'ben',
          edited: call(5),
          newer: planOf('v1', stage('cyn'), stage('ben')),
        },
      ],
      { asks: ['cyn'], given: [[1, 'approve', 'ben']], editedInput: { amount: 5 }, shown: call(5) },
    ],
    [
      'asks stages of a newer version besides, and moves decisions with their stages',
      [approve('ada'), { answer: { type: 'apply-policy', version: 'v2' }, newer: planOf('v2', stage('dan'), stage('ada')) }],
      { asks: ['ben'], given: [[2, 'approve', 'ada']], problem: undefined, since: 2000 },
    ],
    [
      'says that the worker has another version than the applied one',
      [{ answer: { type: 'apply-policy', version: 'v3' }, newer: { ...planOf('v2'), holds: false } }],
      { asks: ['ada'], problem: expect.stringContaining('Version v3') as string },
    ],
  ])('%s', (_, decisions, expected) => {
    expect(after(decisions)).toMatchObject(expected);
  });

  it('keeps the time of the first question about a stage when the stage is asked again', () => {
    const { began } = after([{ answer: { type: 'delegate', to: 'cyn' }, by: 'ada' }, approve('cyn')]);
    expect(began.get(0)).toBe(1000);
  });

  it('lets all calls of the run pass only when each person of the policy waives', () => {
    const waiving: StageDecision = { answer: { type: 'approve', forRestOfRun: true }, by: 'ada' };
    expect(after([waiving, approve('ben')]).end).toEqual({ runs: true });
    expect(after([waiving, { ...waiving, by: 'ben' }]).end).toMatchObject({ runs: true, waiver: { version: 'v1' } });
  });
});
