import { defined } from './defined';
import type { Failure } from './messages/messages';
import type { People } from './people';
import { isOneOf, people } from './people';

/** Absent: anybody may answer. */
export interface Asked {
  readonly by?: readonly string[];
  readonly roles?: readonly string[];
}

export type InterruptStep =
  | { readonly at: number; readonly type: 'remind' }
  /** From then on these people may answer, too. */
  | (Asked & { readonly at: number; readonly type: 'escalate' });

export interface AskedInTime extends Asked {
  readonly id: string;
  /** People who may not answer, whatever their roles. If set, an answerer must have a name. */
  readonly notBy?: readonly string[];
  /** In order of time. */
  readonly steps?: readonly InterruptStep[];
}

/** A name, and the roles that the back end claims for the name. */
export interface Answerer {
  readonly by?: string;
  readonly roles?: readonly string[];
}

/** Returns the people asked at a time in milliseconds since 1970, with all escalations since the opening. */
export function askedAt({ by, roles, steps = [] }: Omit<AskedInTime, 'id'>, at: number): Asked {
  if (by === undefined && roles === undefined) return {};
  const gone = steps.filter((step) => step.type === 'escalate' && step.at <= at) as readonly Asked[];
  if (gone.length === 0) return defined({ by, roles });
  const all = [{ by, roles }, ...gone];
  const namesOf = (lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined => {
    const found = [...new Set(lists.flatMap((list) => list ?? []))];
    return found.length === 0 ? undefined : found;
  };
  return defined({ by: namesOf(all.map((asked) => asked.by)), roles: namesOf(all.map((asked) => asked.roles)) });
}

/** The only decision about who may answer, shared by run, client and lists. */
export function mayAnswer(interrupt: AskedInTime, who: Answerer, at: number, known: People = people): boolean {
  return whyNot(interrupt, who, at, known) === undefined;
}

export function whyNot(interrupt: AskedInTime, { by, roles = [] }: Answerer, at: number, known: People = people): Failure | undefined {
  const { id, notBy } = interrupt;
  const reasons: string[] = [];
  if (notBy !== undefined && by === undefined)
    reasons.push(`An answer to "${id}" has to say who gives it, with \`by\`; this one came from nobody.`);
  if (by !== undefined && notBy !== undefined && isOneOf(notBy, by, known))
    reasons.push(`"${id}" needs somebody else than ${by}, who ${hadTheirPart}.`);
  const asked = askedAt(interrupt, at);
  // A role without a name would hide the answerer.
  const isAsked =
    by !== undefined && (asked.by?.some((one) => known.isAsked(one, by)) || asked.roles?.some((role) => roles.includes(role)));
  if ((asked.by !== undefined || asked.roles !== undefined) && isAsked !== true)
    reasons.push(`Only ${askedText(asked)} may answer "${id}"; this answer came from ${answererText({ by, roles })}.`);
  return reasons.length === 0 ? undefined : { code: 'answer-forbidden', message: reasons.join(' ') };
}

export const hadTheirPart = 'started the run, wrote to this turn of the conversation, or has decided about this call before';

export function askedText({ by = [], roles = [] }: Asked): string {
  const named = roles.map((role) => `the role "${role}"`);
  return [...by, ...named].join(', ') || 'anybody';
}

function answererText({ by, roles = [] }: { readonly by: string | undefined; readonly roles?: readonly string[] }): string {
  if (by === undefined) return 'nobody';
  return roles.length === 0 ? by : `${by} (${roles.join(', ')})`;
}
