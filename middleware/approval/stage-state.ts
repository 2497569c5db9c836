import { authorOf } from '../../contract/author';
import { defined } from '../../contract/defined';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { People } from '../../contract/people';
import type { Deciders, PlannedStage, PolicyPlan } from '../../contract/policies';
import { isSameAsked, isSameEscalation, joinedStages } from '../../contract/policies';
import type { Answerer } from '../../contract/who-may-answer';
import { mayAnswer } from '../../contract/who-may-answer';
import type { DecisionOfSomebody } from '../../kernel/define/inside';
import { rejection } from './agreement';
import type { PolicyWaiver, WaivingDecision as Given } from './policy-waivers';
import { waiverOf, waivesOf } from './policy-waivers';

export interface Plan extends PolicyPlan {
  readonly name: string;
  readonly isConfigured?: true;
}

export type StagesEnd =
  { readonly runs: true; readonly editedInput?: Json; readonly waiver?: PolicyWaiver } | { readonly runs: false; readonly output: Json };

export interface StageState {
  readonly plan: Plan;
  /** Stages of earlier versions of the policy, which come before the stages of the newest version. */
  readonly kept: readonly PlannedStage[];
  readonly shown: ToolCall;
  readonly editedInput: Json | undefined;
  readonly given: readonly Given[];
  /** When each stage was asked first, by its number. */
  readonly began: ReadonlyMap<number, number>;
  readonly problem: string | undefined;
  /** Since when the present question has waited, across versions of the policy. */
  readonly since: number | undefined;
}

/** A decision with the facts that only the worker knows. */
export interface StageDecision extends DecisionOfSomebody {
  /** The policy as of now, for the call as it was shown or edited. */
  readonly newer?: Plan;
  readonly edited?: ToolCall;
  readonly misfit?: string;
}

export function beginning(plan: Plan, call: ToolCall, problem: string | undefined): StageState {
  return { plan, kept: [], shown: call, editedInput: undefined, given: [], began: new Map(), problem, since: undefined };
}

/** -1: all stages have their decisions. */
export function openStageOf({ plan, given }: StageState): number {
  return plan.stages.findIndex((stage, position) => !isDone(stage, position, given));
}

export function endOfAll({ plan, kept, given, editedInput }: StageState): StagesEnd {
  const waiver = waiverOf(given, { ...plan, stages: plan.stages.slice(kept.length) });
  return { runs: true, ...defined({ editedInput, waiver }) };
}

export function entered(state: StageState, number: number, now: number): StageState {
  return { ...state, began: new Map([[number, now], ...state.began]), since: state.since ?? now };
}

export function nextOf(asked: StageState, number: number, decision: StageDecision, people: People): StageState | StagesEnd {
  const { answer, expired, newer } = decision;
  const state: StageState = { ...asked, problem: undefined, since: undefined };
  const { shown } = state;
  if (expired === true) {
    if (asked.plan.stages[number]?.onExpiry === 'reject') return { runs: false, output: notDecided(shown, 'Nobody decided in time.') };
    return withDecision(state, { stage: number, type: 'expired' });
  }
  switch (answer.type) {
    case 'reject':
      return { runs: false, output: rejection(shown, answer.feedback) };
    case 'respond':
      return { runs: false, output: answer.output };
    case 'delegate':
      return withDecision(state, {
        stage: number,
        type: 'delegate',
        to: answer.to,
        ...authorOf(decision),
        ...defined({ comment: answer.comment }),
      });
    case 'apply-policy': {
      const problem = newer === undefined || newer.version === answer.version ? undefined : otherVersion(newer, answer.version);
      // A newer policy that asks nobody does not let a waiting call through.
      return { ...withNewer(state, newer), problem, since: asked.since };
    }
    case 'approve':
      return approved(state, number, decision, people);
  }
}

function approved(state: StageState, number: number, decision: StageDecision, people: People): StageState {
  const { answer, by, roles, edited, misfit, newer } = decision;
  const { plan } = state;
  const stage = plan.stages[number];
  if (misfit !== undefined) return { ...state, problem: misfit };
  if (answer.type !== 'approve' || stage === undefined) return state;
  // A person who decides in the place of another waives nothing beyond this call.
  const waives = takes(stage, stage, { by, roles }, people) ? waivesOf(answer) : undefined;
  const given: Given = { stage: number, type: 'approve', ...authorOf(decision), ...defined({ comment: answer.comment, waives }) };
  if (edited === undefined || newer === undefined) return withDecision(state, given);
  // Earlier approvals were about other arguments.
  const handedOver = state.given.filter(({ type }) => type === 'delegate');
  const changed: StageState = {
    ...state,
    shown: edited,
    editedInput: answer.editedInput,
    given: [...handedOver, given],
    began: new Map(),
  };
  if (newer.version !== plan.version) return withNewer(changed, newer);
  const stages = [...state.kept, ...newer.stages];
  // An edit may change who decides: approvals stay only where the stage asks the same people.
  const stays = (one: Given): boolean =>
    isSameStage(plan.stages, stages, one) || (one === given && takes(stages[number], stage, { by, roles }, people));
  return { ...changed, plan: { ...newer, stages }, given: changed.given.filter(stays) };
}

function withDecision(state: StageState, decision: Given): StageState {
  return { ...state, given: [...state.given, decision] };
}

/** Stages of a newer version of the policy come beside the present stages. */
function withNewer(state: StageState, newer: Plan | undefined): StageState {
  if (newer?.holds !== true) return state;
  const { stages, places } = joinedStages(state.plan.stages, newer.stages);
  return {
    ...state,
    plan: { ...newer, stages },
    kept: stages.slice(0, stages.length - newer.stages.length),
    given: state.given.flatMap((one) => movedTo(one, stages, places)),
    began: new Map([...state.began].map(([number, at]) => [places[number] ?? number, at])),
  };
}

export function notDecided(call: ToolCall, why: string): Json {
  return `The call of '${call.name}' was not approved. It did not run. ${why}`;
}

function isSameStage(before: readonly PlannedStage[], now: readonly PlannedStage[], { stage }: Given): boolean {
  const [earlier, later] = [before[stage], now[stage]];
  return earlier !== undefined && later !== undefined && isSameAsked(earlier, later);
}

/** Whether a stage accepts a decision of people whom another stage asked before an edit. */
function takes(stage: PlannedStage | undefined, before: PlannedStage, who: Answerer, people: People): boolean {
  if (stage === undefined) return false;
  const isAmong = ({ users = [], roles = [] }: Deciders): boolean =>
    users.length + roles.length === 0 || mayAnswer({ id: '', by: users, roles }, who, 0, people);
  return isAmong(stage.by) || (stage.escalate !== undefined && isSameEscalation(stage, before) && isAmong(stage.escalate.to));
}

/** A stage that does not take the type of the decision is asked again. */
function movedTo({ waives: _, ...one }: Given, stages: readonly PlannedStage[], places: readonly number[]): readonly Given[] {
  const stage = places[one.stage] ?? one.stage;
  const { onExpiry, delegates } = stages[stage] ?? {};
  if (one.type === 'expired' && onExpiry !== 'approve') return [];
  if (one.type === 'delegate' && delegates === false) return [];
  return [{ ...one, stage }];
}

function otherVersion({ name, version }: Plan, wanted: string): string {
  return `Version ${wanted} of the policy "${name}" was applied, and the worker that was asked has version ${version}.`;
}

export function isApprovalOf({ stage, type }: Given, number: number): boolean {
  return stage === number && type === 'approve';
}

function isDone({ need }: PlannedStage, number: number, given: readonly Given[]): boolean {
  if (given.some(({ stage, type }) => stage === number && type === 'expired')) return true;
  return given.filter((one) => isApprovalOf(one, number)).length >= need;
}
