import { isAbsentOr, isFilled, isRecord, isStrings } from './check';
import { defined } from './defined';
import type { Json } from './messages/messages';
import { canonicalJson } from './messages/messages';

/** People by name, and everyone with one of the roles. */
export interface Deciders {
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
}

export interface PlannedStage {
  readonly name?: string;
  /** Without users and roles: any named person. */
  readonly by: Deciders;
  readonly need: number;
  readonly fourEyes: boolean;
  readonly remind: readonly string[];
  readonly escalate?: { readonly after: string; readonly to: Deciders };
  readonly expires?: string;
  readonly onExpiry: 'approve' | 'reject';
  readonly delegates: boolean;
}

export interface PolicyRun {
  readonly id: string;
  readonly agent: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly hasUnnamedWriter?: true;
}

export interface CallForPolicy {
  readonly tool: string;
  readonly input: Json;
}

export interface PolicyPlan {
  readonly version: string;
  /** Whether people must decide. */
  readonly holds: boolean;
  readonly stages: readonly PlannedStage[];
  readonly amount?: { readonly path: string; readonly value: number };
}

export interface PolicyRequest {
  readonly policy: string;
  readonly call: CallForPolicy;
  readonly run: PolicyRun;
}

export interface PolicySource {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
  /** Tells the model of edits, which the agent does for policies of the configuration. */
  readonly saysEdits: boolean;
  plan(call: CallForPolicy, run: PolicyRun): PolicyPlan;
}

// The configuration and the agents module may load two copies of the package.
const mark = Symbol.for('holdfast.policy');

export function withPolicySource<Given extends object>(given: Given, source: PolicySource): Given {
  return Object.assign(given, { [mark]: source });
}

export function policySourceOf(value: unknown): PolicySource | undefined {
  return isRecord(value) ? (value as { readonly [mark]?: PolicySource })[mark] : undefined;
}

export function problemOfPolicies(policies: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(policies)) {
    const source = policySourceOf(value);
    if (source === undefined) return `policies.${name} is no policy; make it with policy({ … }) from holdfast/middleware`;
    if (source.name !== name)
      return `policies.${name} has the name "${source.name}"; a policy of the configuration has the name of its key`;
    if (source.saysEdits) return `policies.${name} has edits, which the agent says: approvalsBy("${name}", { edits: … })`;
  }
  return undefined;
}

export interface JoinedStages {
  readonly stages: readonly PlannedStage[];
  readonly places: readonly number[];
  readonly added: readonly PlannedStage[];
}

/** Adds newer demands to earlier ones. A newer stage replaces an earlier stage of the same people, unless it asks less. */
export function joinedStages(earlier: readonly PlannedStage[], newer: readonly PlannedStage[]): JoinedStages {
  const free = new Set(newer.keys());
  const heirs = earlier.map((stage) => {
    const heir = [...free].find((position) => covers(newer[position] as PlannedStage, stage));
    if (heir !== undefined) free.delete(heir);
    return heir;
  });
  const kept = earlier.filter((_, position) => heirs[position] === undefined);
  let before = 0;
  const places = heirs.map((heir) => (heir === undefined ? before++ : kept.length + heir));
  const isMore = (stage: PlannedStage, position: number): boolean => {
    const of = earlier[heirs.indexOf(position)];
    return of === undefined || demandOf(of) !== demandOf(stage);
  };
  return { stages: [...kept, ...newer], places, added: newer.filter(isMore) };
}

interface AskedByPolicy {
  readonly agent: string;
  readonly tool: string;
  readonly input: Json;
  readonly policy: { readonly version: string; readonly plan?: readonly PlannedStage[]; readonly hasUnnamedWriter?: true };
}

/** Stages that a newer version adds to a waiting call. */
export function addedBy(source: PolicySource, asked: AskedByPolicy, run: Omit<PolicyRun, 'agent'>): readonly PlannedStage[] {
  const { agent, tool, input, policy } = asked;
  if (policy.plan === undefined || policy.version === source.version) return [];
  const { holds, stages } = source.plan({ tool, input }, { ...run, agent, ...defined({ hasUnnamedWriter: policy.hasUnnamedWriter }) });
  return holds ? joinedStages(policy.plan, stages).added : [];
}

function covers(newer: PlannedStage, earlier: PlannedStage): boolean {
  return (
    peopleOf(newer.by) === peopleOf(earlier.by) &&
    newer.need >= earlier.need &&
    (newer.fourEyes || !earlier.fourEyes) &&
    (newer.escalate === undefined || escalationOf(newer) === escalationOf(earlier)) &&
    (approvesAfter(newer) === undefined || approvesAfter(newer) === approvesAfter(earlier)) &&
    (!newer.delegates || earlier.delegates)
  );
}

export function demandOf(stage: PlannedStage): string {
  const { need, fourEyes, delegates, by } = stage;
  return canonicalJson([peopleOf(by), need, fourEyes, escalationOf(stage), approvesAfter(stage) ?? null, delegates]);
}

export function isSameAsked(one: PlannedStage, other: PlannedStage): boolean {
  return peopleOf(one.by) === peopleOf(other.by);
}

export function isSameEscalation(one: PlannedStage, other: PlannedStage): boolean {
  return escalationOf(one) === escalationOf(other);
}

function peopleOf({ users = [], roles = [] }: Deciders): string {
  return canonicalJson([[...users].sort(), [...roles].sort()]);
}

function escalationOf({ escalate }: PlannedStage): string {
  return escalate === undefined ? '' : `${escalate.after} ${peopleOf(escalate.to)}`;
}

function approvesAfter({ expires, onExpiry }: PlannedStage): string | undefined {
  return onExpiry === 'approve' ? expires : undefined;
}

/** Anybody who reaches the server can write a memo. */
export function isPlan(value: unknown): value is readonly PlannedStage[] {
  return Array.isArray(value) && value.every(isStage);
}

function isStage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, by, need, fourEyes, remind, escalate, expires, onExpiry, delegates } = value;
  return (
    isAbsentOr(name, isFilled) &&
    isDeciders(by) &&
    typeof need === 'number' &&
    typeof fourEyes === 'boolean' &&
    isStrings(remind) &&
    isAbsentOr(escalate, (given) => isRecord(given) && isFilled(given['after']) && isDeciders(given['to'])) &&
    isAbsentOr(expires, isFilled) &&
    (onExpiry === 'approve' || onExpiry === 'reject') &&
    typeof delegates === 'boolean'
  );
}

function isDeciders(value: unknown): boolean {
  return isRecord(value) && [value['users'], value['roles']].every((names) => isAbsentOr(names, isStrings));
}
