import type { GivenDecision, PolicyDecision } from '../../contract/decisions';
import { canonicalJson } from '../../contract/messages/messages';
import type { People } from '../../contract/people';
import { isOneOf } from '../../contract/people';
import type { PlannedStage, PolicyPlan } from '../../contract/policies';
import { demandOf } from '../../contract/policies';
import { sha256 } from '../../contract/sha256';

/** `stage` counts from 0. */
export interface WaivingDecision extends GivenDecision {
  readonly waives?: { readonly upTo: number };
}

/** All people who decided about a call waive further questions. */
export interface PolicyWaiver {
  /** Absent: every amount. */
  readonly upTo?: number;
  readonly version: string;
  /** Hash of the asked people, whose decisions alone a waiver spares. */
  readonly asked: string;
  /** With four eyes: the waiver's givers, whose own calls still need a decision. */
  readonly by?: readonly string[];
}

interface WaivedCall {
  readonly policy: string;
  readonly tool: string;
  readonly plan: PolicyPlan;
  readonly writers: readonly string[];
  readonly people: People;
}

export function waivesOf({ forRestOfRun, upTo }: Extract<PolicyDecision, { type: 'approve' }>): WaivingDecision['waives'] {
  if (upTo !== undefined) return { upTo };
  return forRestOfRun === true ? { upTo: Infinity } : undefined;
}

/** No person waives another person's decision. */
export function waiverOf(
  given: readonly WaivingDecision[],
  { version, stages }: Pick<PolicyPlan, 'version' | 'stages'>,
): PolicyWaiver | undefined {
  const counting = given.filter(({ type }) => type !== 'delegate');
  const amounts = counting.map(({ waives }) => waives?.upTo).filter((upTo) => upTo !== undefined);
  if (counting.length === 0 || amounts.length < counting.length) return undefined;
  const least = Math.min(...amounts);
  const by = counting.map((one) => one.by).filter((name) => name !== undefined);
  return {
    version,
    asked: askedIn(stages),
    ...(least === Infinity ? {} : { upTo: least }),
    ...(stages.some(({ fourEyes }) => fourEyes) ? { by } : {}),
  };
}

export function textOfWaiver(policy: string, tool: string, waiver: PolicyWaiver): string {
  return canonicalJson({ policy, tool, ...waiver });
}

export function isWaived(waivers: readonly string[], { policy, tool, plan, writers, people }: WaivedCall): boolean {
  const asked = askedIn(plan.stages);
  const amount = plan.amount?.value;
  return waivers.some((text) => {
    const waiver = waiverIn(text);
    if (waiver?.policy !== policy || waiver.tool !== tool || waiver.version !== plan.version || waiver.asked !== asked) return false;
    if (waiver.by?.some((name) => isOneOf(writers, name, people)) === true) return false;
    // A negative amount does not count as a small amount.
    return waiver.upTo === undefined || (amount !== undefined && amount >= 0 && amount <= waiver.upTo);
  });
}

function waiverIn(text: string): (PolicyWaiver & { readonly policy: string; readonly tool: string }) | undefined {
  try {
    return JSON.parse(text) as PolicyWaiver & { readonly policy: string; readonly tool: string };
  } catch {
    return undefined;
  }
}

function askedIn(stages: readonly PlannedStage[]): string {
  return sha256(canonicalJson(stages.map(demandOf))).slice(0, 12);
}
