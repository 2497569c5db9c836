import type { AskingPolicy } from '../../contract/decisions';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, ToolCall } from '../../contract/messages/messages';
import type { People } from '../../contract/people';
import { isOneOf } from '../../contract/people';
import type { Deciders, PlannedStage, PolicyPlan } from '../../contract/policies';
import { isSameAsked, isSameEscalation, joinedStages } from '../../contract/policies';
import type { Answerer } from '../../contract/who-may-answer';
import { mayAnswer } from '../../contract/who-may-answer';
import type { Eyes, StartedWith } from '../../kernel/define/inside';
import { insideOf } from '../../kernel/define/inside';
import type { HookContext } from '../../kernel/define/middleware';
import { rejection } from './agreement';
import type { PolicyWaiver, WaivingDecision as Given } from './policy-waivers';
import { waiverOf, waivesOf } from './policy-waivers';

export interface Plan extends PolicyPlan {
  readonly name: string;
  /** The configuration's policy may change while the call waits. */
  readonly isConfigured?: true;
}

type StagesEnd =
  { readonly runs: true; readonly editedInput?: Json; readonly waiver?: PolicyWaiver } | { readonly runs: false; readonly output: Json };

export interface Asking {
  readonly plan: Plan;
  readonly planOf: (call: ToolCall) => MaybePromise<Plan>;
}

/** A decision counts for the shown arguments. */
export async function decideByStages(call: ToolCall, ctx: HookContext, asking: Asking, why: string | undefined): Promise<StagesEnd> {
  const inside = insideOf(ctx);
  const began = new Map<number, number>();
  let { plan } = asking;
  let shown = call;
  let editedInput: Json | undefined;
  let problem = why;
  let since: number | undefined;
  let given: readonly Given[] = [];
  let kept: readonly PlannedStage[] = [];
  const beside = (newer: Plan): void => {
    const { stages, places } = joinedStages(plan.stages, newer.stages);
    kept = stages.slice(0, stages.length - newer.stages.length);
    given = given.flatMap((one) => movedTo(one, stages, places));
    const times = [...began].map(([number, at]) => [places[number] ?? number, at] as const);
    began.clear();
    for (const [number, at] of times) began.set(number, at);
    plan = { ...newer, stages };
  };
  for (;;) {
    const number = plan.stages.findIndex((stage, position) => !isDone(stage, position, given));
    const stage = plan.stages[number];
    if (stage === undefined) {
      const waiver = waiverOf(given, { ...plan, stages: plan.stages.slice(kept.length) });
      return { runs: true, ...defined({ editedInput, waiver }) };
    }
    const now = ctx.now();
    const passed = now - (began.get(number) ?? now);
    began.set(number, now - passed);
    const { eyes, startedWith } = inside;
    const who = whoOf({ stage, number, given, passed, startedBy: startedWith.startedBy, eyes });
    const lack = lackOf(stage, who, eyes.people, given.filter((one) => isApprovalOf(one, number)).length);
    if (lack !== undefined) return { runs: false, output: notDecided(call, lack) };
    const policy = { ...askingPolicy(plan, number, given, startedWith), ...defined({ since }) };
    const { answer, by, roles, expired } = await inside.decide(
      shown,
      { ...who, ...timesOf(stage, passed), ...defined({ problem }) },
      policy,
    );
    problem = undefined;
    const waitedSince = since ?? now;
    since = undefined;
    if (expired === true) {
      if (stage.onExpiry === 'reject') return { runs: false, output: notDecided(call, 'Nobody decided in time.') };
      given = [...given, { stage: number, type: 'expired' }];
      continue;
    }
    if (answer.type === 'apply-policy') {
      since = waitedSince;
      const newer = await asking.planOf(shown);
      if (newer.version !== answer.version) problem = otherVersion(newer, answer.version);
      // A newer policy that asks no person does not let a waiting call through.
      if (newer.holds) beside(newer);
      continue;
    }
    const { comment } = answer;
    if (answer.type === 'reject') return { runs: false, output: rejection(call, answer.feedback) };
    if (answer.type === 'respond') return { runs: false, output: answer.output };
    if (answer.type === 'delegate') {
      given = [...given, { stage: number, type: 'delegate', to: answer.to, ...defined({ by, comment }) }];
      continue;
    }
    // A delegate waives nothing beyond this call.
    const waives = takes(stage, stage, { by, roles }, eyes.people) ? waivesOf(answer) : undefined;
    const decision: Given = { stage: number, type: 'approve', ...defined({ by, comment, waives }) };
    if (answer.editedInput === undefined) {
      given = [...given, decision];
      continue;
    }
    const parsed = await ctx.parse(call.name, answer.editedInput);
    if (!parsed.ok) {
      problem = parsed.message;
      continue;
    }
    editedInput = answer.editedInput;
    shown = { ...call, input: parsed.input ?? answer.editedInput, inputHash: parsed.hash };
    // Earlier approvals were about other arguments.
    given = [...given.filter(({ type }) => type === 'delegate'), decision];
    began.clear();
    const edited = await asking.planOf(shown);
    if (edited.version !== plan.version) {
      if (edited.holds) beside(edited);
      continue;
    }
    const newer = { ...edited, stages: [...kept, ...edited.stages] };
    // An edit may change the deciders: approvals stay only where the stage asks the same people.
    const { stages } = plan;
    given = given.filter(
      (one) =>
        isSameStage(stages, newer.stages, one) || (one === decision && takes(newer.stages[number], stage, { by, roles }, eyes.people)),
    );
    plan = newer;
  }
}

function notDecided(call: ToolCall, why: string): Json {
  return `The call of '${call.name}' was not approved. It did not run. ${why}`;
}

function isSameStage(before: readonly PlannedStage[], now: readonly PlannedStage[], { stage }: Given): boolean {
  const [earlier, later] = [before[stage], now[stage]];
  return earlier !== undefined && later !== undefined && isSameAsked(earlier, later);
}

function takes(stage: PlannedStage | undefined, before: PlannedStage, who: Answerer, people: People): boolean {
  if (stage === undefined) return false;
  const isAmong = ({ users = [], roles = [] }: Deciders): boolean =>
    users.length + roles.length === 0 || mayAnswer({ id: '', by: users, roles }, who, 0, people);
  return isAmong(stage.by) || (stage.escalate !== undefined && isSameEscalation(stage, before) && isAmong(stage.escalate.to));
}

/** A stage that does not take the decision's type asks again. */
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

function isApprovalOf({ stage, type }: Given, number: number): boolean {
  return stage === number && type === 'approve';
}

function isDone({ need }: PlannedStage, number: number, given: readonly Given[]): boolean {
  if (given.some(({ stage, type }) => stage === number && type === 'expired')) return true;
  return given.filter((one) => isApprovalOf(one, number)).length >= need;
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
  // Any person may decide while handed-over decisions do not fill the stage.
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
  // `lackOf` refuses an emptied list, which must not mean any person.
  if (now.by?.length === 0 && now.roles?.length === 0) return { notBy, by: [] };
  return { notBy, ...defined({ by: nothing(now.by), roles: nothing(now.roles) }) };
}

function nothing(list: readonly string[] | undefined): readonly string[] | undefined {
  return list?.length === 0 ? undefined : list;
}

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
