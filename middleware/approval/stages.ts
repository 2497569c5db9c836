import type { AskingPolicy } from '../../contract/decisions';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { ToolCall } from '../../contract/messages/messages';
import type { People } from '../../contract/people';
import { isOneOf } from '../../contract/people';
import type { Deciders, PlannedStage } from '../../contract/policies';
import type { DecisionOfSomebody, Eyes, StartedWith } from '../../kernel/define/inside';
import { insideOf } from '../../kernel/define/inside';
import type { HookContext } from '../../kernel/define/middleware';
import type { WaivingDecision as Given } from './policy-waivers';
import type { Plan, StageDecision, StagesEnd } from './stage-state';
import { beginning, endOfAll, entered, isApprovalOf, nextOf, notDecided, openStageOf } from './stage-state';

export interface Asking {
  readonly plan: Plan;
  readonly planOf: (call: ToolCall) => MaybePromise<Plan>;
}

/** Asks one question for each decision. */
export async function decideByStages(call: ToolCall, ctx: HookContext, asking: Asking, why: string | undefined): Promise<StagesEnd> {
  const inside = insideOf(ctx);
  let state = beginning(asking.plan, call, why);
  for (;;) {
    const number = openStageOf(state);
    const stage = state.plan.stages[number];
    if (stage === undefined) return endOfAll(state);
    const { since, problem } = state;
    const now = ctx.now();
    state = entered(state, number, now);
    const passed = now - (state.began.get(number) ?? now);
    const { eyes, startedWith } = inside;
    const { given, plan, shown } = state;
    const who = whoOf({ stage, number, given, passed, startedBy: startedWith.startedBy, eyes });
    const lack = lackOf(stage, who, eyes.people, given.filter((one) => isApprovalOf(one, number)).length);
    if (lack !== undefined) return { runs: false, output: notDecided(call, lack) };
    const policy = { ...askingPolicy(plan, number, given, startedWith), ...defined({ since }) };
    const decided = await inside.decide(shown, { ...who, ...timesOf(stage, passed), ...defined({ problem }) }, policy);
    const next = nextOf(state, number, await withFacts(decided, shown, ctx, asking), eyes.people);
    if ('runs' in next) return next;
    state = next;
  }
}

/** Asks the worker for the newer policy, and for the meaning of edited arguments. */
async function withFacts(decided: DecisionOfSomebody, shown: ToolCall, ctx: HookContext, asking: Asking): Promise<StageDecision> {
  const { answer, expired } = decided;
  if (expired === true) return decided;
  if (answer.type === 'apply-policy') return { ...decided, newer: await asking.planOf(shown) };
  if (answer.type !== 'approve' || answer.editedInput === undefined) return decided;
  const parsed = await ctx.parse(shown.name, answer.editedInput);
  if (!parsed.ok) return { ...decided, misfit: parsed.message };
  const edited = { ...shown, input: parsed.input ?? answer.editedInput, inputHash: parsed.hash };
  return { ...decided, edited, newer: await asking.planOf(edited) };
}

interface Who {
  readonly by?: readonly string[];
  readonly roles?: readonly string[];
  readonly notBy: readonly string[];
}

interface InStage {
  readonly stage: PlannedStage;
  readonly number: number;
  readonly given: readonly Given[];
  readonly passed: number;
  readonly startedBy: string | undefined;
  readonly eyes: Eyes;
}

function whoOf({ stage, number, given, passed, startedBy, eyes: { writers, people } }: InStage): Who {
  const here = given.filter((one) => one.stage === number);
  const handed = here.filter(({ type }) => type === 'delegate');
  const seen = (stage.fourEyes ? given : here).filter(({ type }) => type === 'approve');
  const out = [...(stage.fourEyes ? [startedBy, ...writers] : []), ...[...seen, ...handed].map(({ by }) => by)];
  const notBy = [...new Set(out.filter((name) => name !== undefined))];
  const { escalate } = stage;
  const own: Deciders = { users: [...(stage.by.users ?? []), ...handed.map(({ to }) => to ?? '')], roles: stage.by.roles ?? [] };
  const isOfAnybody = (stage.by.users ?? []).length + (stage.by.roles ?? []).length === 0;
  // Anybody may decide while handed-over decisions do not fill the stage.
  if (isOfAnybody && here.filter(({ type }) => type === 'approve').length + othersIn(own.users ?? [], notBy, people).length < stage.need)
    return { notBy };
  const isLate = escalate !== undefined && millisecondsOf(escalate.after, 'hook-failed') <= passed;
  const left = (asked: readonly Deciders[]): Pick<Who, 'by' | 'roles'> => ({
    by: [...new Set(asked.flatMap(({ users = [] }) => users))].filter((name) => !isOneOf(notBy, name, people)),
    roles: [...new Set(asked.flatMap(({ roles = [] }) => roles))],
  });
  const first = left([own]);
  const isEmpty = first.by?.length === 0 && first.roles?.length === 0;
  const now = escalate !== undefined && (isLate || isEmpty) ? left([own, escalate.to]) : first;
  // An emptied list does not become a stage of anybody: `lackOf` refuses the empty list.
  if (now.by?.length === 0 && now.roles?.length === 0) return { notBy, by: [] };
  return { notBy, ...defined({ by: nothing(now.by), roles: nothing(now.roles) }) };
}

function nothing(list: readonly string[] | undefined): readonly string[] | undefined {
  return list?.length === 0 ? undefined : list;
}

/** Why the stage can never end. Roles are not resolved here. */
function lackOf({ need, escalate }: PlannedStage, { by, roles, notBy }: Who, people: People, have: number): string | undefined {
  if (by === undefined || roles !== undefined || escalate?.to.roles !== undefined) return undefined;
  const ever = othersIn([...by, ...(escalate?.to.users ?? [])], notBy, people);
  if (ever.length >= need - have) return undefined;
  const left = ever.length === 0 ? 'nobody is left who may decide' : `only ${ever.join(', ')} may still decide`;
  return `Its policy needs ${need - have} more ${need - have === 1 ? 'person' : 'people'}, and ${left}.`;
}

function othersIn(names: readonly string[], than: readonly string[], people: People): readonly string[] {
  const others = names.filter((name) => !isOneOf(than, name, people));
  return others.filter((name, position) => !isOneOf(others.slice(0, position), name, people));
}

type AskOptions = NonNullable<Parameters<HookContext['approve']>[1]>;

function timesOf({ remind, escalate, expires, onExpiry }: PlannedStage, passed: number): Omit<AskOptions, keyof Who> {
  const left = (duration: string): number => millisecondsOf(duration, 'hook-failed') - passed;
  const reminders = remind.map(left).filter((milliseconds) => milliseconds > 0);
  const isToCome = escalate !== undefined && left(escalate.after) > 0;
  return {
    ...(reminders.length === 0 ? {} : { remind: reminders.map((milliseconds) => `${milliseconds}ms`) }),
    ...(isToCome
      ? { escalate: { after: `${left(escalate.after)}ms`, ...defined({ by: escalate.to.users, roles: escalate.to.roles }) } }
      : {}),
    ...(expires === undefined ? {} : { deadline: `${Math.max(1, left(expires))}ms`, onDeadline: { type: onExpiry } }),
  };
}

function askingPolicy(plan: Plan, number: number, given: readonly Given[], { hasUnnamedWriter }: StartedWith): AskingPolicy {
  const { stages, amount } = plan;
  const { name, need = 1, delegates } = stages[number] ?? {};
  return {
    name: plan.name,
    version: plan.version,
    stage: { number: number + 1, of: stages.length, need, ...defined({ name }) },
    given: given.map(({ waives: _, ...one }) => ({ ...one, stage: one.stage + 1 })),
    ...defined({ amount }),
    ...(delegates === false ? { delegates } : {}),
    ...(plan.isConfigured === true ? { plan: stages, ...defined({ hasUnnamedWriter }) } : {}),
  };
}
