import type { GivenDecision, PolicyDecision } from '../../contract/decisions';
import { canonicalJson } from '../../contract/messages/messages';
import type { People } from '../../contract/people';
import { isOneOf } from '../../contract/people';
import type { PlannedStage, PolicyPlan } from '../../contract/policies';
import { demandOf } from '../../contract/policies';
import { sha256 } from '../../contract/sha256';

/** A decision about the arguments of one call as they are, which may spare the people of a policy others. `stage` counts from 0. */
export interface WaivingDecision extends GivenDecision {
  readonly waives?: { readonly upTo: number };
}

/** What all who decided about a call want to be asked no more. */
export interface PolicyWaiver {
  /** Absent: it holds for every amount. */
  readonly upTo?: number;
  readonly version: string;
  /** Whom the policy asked, as a hash: a waiver spares nobody else. */
  readonly asked: string;
  /** Who gave it, where that counts: with four eyes it does not hold for what one of them has asked for. */
  readonly by?: readonly string[];
}

/** A policy that looks whether people have waived a call. */
interface WaivedCall {
  readonly policy: string;
  readonly tool: string;
  readonly plan: PolicyPlan;
  /** Who started the run, or wrote to the turn. */
  readonly writers: readonly string[];
  readonly people: People;
}

export function waivesOf({ forRestOfRun, upTo }: Extract<PolicyDecision, { type: 'approve' }>): WaivingDecision['waives'] {
  if (upTo !== undefined) return { upTo };
  return forRestOfRun === true ? { upTo: Infinity } : undefined;
}

/** All who decided have to say so: nobody waives the decision of another. */
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

/** A waiver as the run keeps it. */
export function textOfWaiver(policy: string, tool: string, waiver: PolicyWaiver): string {
  return canonicalJson({ policy, tool, ...waiver });
}

/** Whether people want to be asked no more about such a call. */
export function isWaived(waivers: readonly string[], { policy, tool, plan, writers, people }: WaivedCall): boolean {
  const asked = askedIn(plan.stages);
  const amount = plan.amount?.value;
  return waivers.some((text) => {
    const waiver = waiverIn(text);
    if (waiver?.policy !== policy || waiver.tool !== tool || waiver.version !== plan.version || waiver.asked !== asked) return false;
    if (waiver.by?.some((name) => isOneOf(writers, name, people)) === true) return false;
    // A payment of less than nothing is another one than a small payment.
    return waiver.upTo === undefined || (amount !== undefined && amount >= 0 && amount <= waiver.upTo);
  });
}

/** Approvals without a policy keep theirs beside it, as a text of another form. */
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
