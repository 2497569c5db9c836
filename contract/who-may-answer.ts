import { defined } from './defined';
import type { Failure } from './messages/messages';
import type { People } from './people';
import { isOneOf, people } from './people';

/** Who is asked. Nobody in particular: anybody may answer. */
export interface Asked {
  /** Names of people. */
  readonly by?: readonly string[];
  /** Whoever has one of these roles may answer as well. */
  readonly roles?: readonly string[];
}

/** What happens to an interrupt at a time, while nobody has answered it. */
export type InterruptStep =
  | { readonly at: number; readonly type: 'remind' }
  /** From then on these may answer as well. */
  | (Asked & { readonly at: number; readonly type: 'escalate' });

/** Who may answer an interrupt, and from when on. */
export interface AskedInTime extends Asked {
  readonly id: string;
  /** These may not, whatever their roles are. Given, also empty: whoever answers says who they are. */
  readonly notBy?: readonly string[];
  /** In the order of their times. */
  readonly steps?: readonly InterruptStep[];
}

/** Who answers: a name, and the roles that the back end says this name has. */
export interface Answerer {
  readonly by?: string;
  readonly roles?: readonly string[];
}

/** Who is asked at a time, in milliseconds since 1970: those of the beginning, and those to whom it has gone since. */
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

/** The one place that decides who may answer: the run, the client, and lists ask it. */
export function mayAnswer(interrupt: AskedInTime, who: Answerer, at: number, known: People = people): boolean {
  return whyNot(interrupt, who, at, known) === undefined;
}

/** Why somebody may not answer at a time, with each reason that holds, or nothing. */
export function whyNot(interrupt: AskedInTime, { by, roles = [] }: Answerer, at: number, known: People = people): Failure | undefined {
  const { id, notBy } = interrupt;
  const reasons: string[] = [];
  if (notBy !== undefined && by === undefined)
    reasons.push(`An answer to "${id}" has to say who gives it, with \`by\`; this one came from nobody.`);
  if (by !== undefined && notBy !== undefined && isOneOf(notBy, by, known))
    reasons.push(`"${id}" needs somebody else than ${by}, who ${hadTheirPart}.`);
  const asked = askedAt(interrupt, at);
  // A role without a name would let nobody say who it was.
  const isAsked =
    by !== undefined && (asked.by?.some((one) => known.isAsked(one, by)) || asked.roles?.some((role) => roles.includes(role)));
  if ((asked.by !== undefined || asked.roles !== undefined) && isAsked !== true)
    reasons.push(`Only ${askedText(asked)} may answer "${id}"; this answer came from ${answererText({ by, roles })}.`);
  return reasons.length === 0 ? undefined : { code: 'answer-forbidden', message: reasons.join(' ') };
}

/** Why somebody cannot be another pair of eyes, in words. */
export const hadTheirPart = 'started the run, wrote to this turn of the conversation, or has decided about this call before';

/** Who is asked, in words. */
export function askedText({ by = [], roles = [] }: Asked): string {
  const named = roles.map((role) => `the role "${role}"`);
  return [...by, ...named].join(', ') || 'anybody';
}

function answererText({ by, roles = [] }: { readonly by: string | undefined; readonly roles?: readonly string[] }): string {
  if (by === undefined) return 'nobody';
  return roles.length === 0 ? by : `${by} (${roles.join(', ')})`;
}
