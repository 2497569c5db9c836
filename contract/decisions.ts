import type { Signed } from './access';
import { isAbsentOr, isBoolean, isFilled, isRecord, isString } from './check';
import type { Json } from './messages/messages';
import type { People } from './people';
import { isOneOf, people } from './people';
import type { PlannedStage } from './policies';
import { hadTheirPart } from './who-may-answer';

/** A human decision about a tool call. */
export type ApprovalDecision =
  | {
      readonly type: 'approve';
      readonly editedInput?: Json;
      readonly forRestOfRun?: boolean;
      /** Also approves later calls up to this amount, if the policy names one. */
      readonly upTo?: number;
      /** The reason, for readers of the log. */
      readonly comment?: string;
    }
  | { readonly type: 'reject'; readonly feedback?: string; readonly comment?: string }
  | { readonly type: 'respond'; readonly output: Json; readonly comment?: string };

/** A decision under a policy, which an asked person can also delegate. */
export type PolicyDecision =
  | ApprovalDecision
  | { readonly type: 'delegate'; readonly to: string; readonly comment?: string }
  /** Not a decision: brings the questions of a newer policy version. */
  | { readonly type: 'apply-policy'; readonly version: string };

export interface AskingPolicy {
  readonly name: string;
  /** A hash of the policy's content. */
  readonly version: string;
  readonly stage: { readonly number: number; readonly of: number; readonly name?: string; readonly need: number };
  /** Earlier decisions about the arguments, oldest first. */
  readonly given: readonly GivenDecision[];
  /** The amount that `upTo` bounds. */
  readonly amount?: { readonly path: string; readonly value: number };
  /** Set if asked people may not delegate. */
  readonly delegates?: false;
  /** An unnamed person wrote to the turn, so four eyes need two people. */
  readonly hasUnnamedWriter?: true;
  /** Set for a policy of the configuration, because the configuration may change while the call waits. */
  readonly plan?: readonly PlannedStage[];
  /** Since when the call has waited, in milliseconds since 1970. Set after `apply-policy`. */
  readonly since?: number;
}

export interface GivenDecision extends Signed {
  readonly stage: number;
  /** `expired`: nobody decided in time, which counts as consent. */
  readonly type: 'approve' | 'delegate' | 'expired';
  /** The person who received the decision. */
  readonly to?: string;
  readonly comment?: string;
}

/** The part of the policy stored with a decision. */
export type DecidedPolicy = Pick<AskingPolicy, 'name' | 'version'>;

const kinds = 'an approval takes { "type": "approve" }, { "type": "reject" } or { "type": "respond", "output": … }';

/** `by`: the person who decides. */
export function misfitOfDecision(
  decision: Json,
  { policy, notBy = [] }: { readonly policy?: AskingPolicy; readonly notBy?: readonly string[] },
  by?: string,
  known: People = people,
): string | undefined {
  if (!isRecord(decision)) return kinds;
  const comment = isAbsentOr(decision['comment'], isString) ? undefined : 'comment is a text';
  switch (decision['type']) {
    case 'approve':
      return (
        onlyKeys(decision, ['type', 'editedInput', 'forRestOfRun', 'upTo', 'comment']) ??
        (isAbsentOr(decision['forRestOfRun'], isBoolean) ? undefined : 'forRestOfRun is true or false') ??
        misfitOfUpTo(decision, policy) ??
        comment
      );
    case 'reject':
      return (
        onlyKeys(decision, ['type', 'feedback', 'comment']) ??
        (isAbsentOr(decision['feedback'], isString) ? undefined : 'feedback is a text') ??
        comment
      );
    case 'respond':
      return onlyKeys(decision, ['type', 'output', 'comment']) ?? ('output' in decision ? undefined : 'respond needs an output') ?? comment;
    case 'delegate': {
      const { to } = decision;
      if (policy === undefined) return `only where a policy asks a decision can be handed on; ${kinds}`;
      if (policy.delegates === false) return 'the policy lets nobody hand this decision on';
      if (!isFilled(to)) return 'delegate needs "to", the name of a person';
      if (by !== undefined && known.isSame(to, by)) return `${to} decides already`;
      if (isOneOf(notBy, to, known)) return `${to} ${hadTheirPart}, and cannot decide`;
      return onlyKeys(decision, ['type', 'to', 'comment']) ?? comment;
    }
    case 'apply-policy':
      if (!appliesPolicy(decision, policy)) return 'only where a policy of the configuration asks another version of it can be applied';
      return isFilled(decision['version']) ? onlyKeys(decision, ['type', 'version']) : 'apply-policy needs the version of the policy';
    default:
      return policy === undefined ? kinds : `${kinds}, or { "type": "delegate", "to": "…" }`;
  }
}

/** Anybody may apply a newer version of the policy. */
export function appliesPolicy(answer: unknown, policy: AskingPolicy | undefined): boolean {
  return policy?.plan !== undefined && isPolicyApplied(answer);
}

export function isPolicyApplied(answer: unknown): boolean {
  return isRecord(answer) && answer['type'] === 'apply-policy';
}

function misfitOfUpTo({ upTo, editedInput }: Readonly<Record<string, unknown>>, policy: AskingPolicy | undefined): string | undefined {
  if (upTo === undefined) return undefined;
  if (policy?.amount === undefined) return 'upTo has no meaning here: no policy names an amount';
  const { path, value } = policy.amount;
  if (typeof upTo !== 'number' || !Number.isFinite(upTo)) return 'upTo is a number';
  return upTo < value && editedInput === undefined ? `upTo is ${upTo}, and the ${path} of this call is ${value}` : undefined;
}

function onlyKeys(decision: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  const unknown = Object.keys(decision).find((key) => !known.includes(key));
  return unknown === undefined ? undefined : `"${unknown}" is not a field of this decision; it has ${known.join(', ')}`;
}
