import { createHash } from 'node:crypto';
import type { Form, Forms } from '../../contract/check';
import {
  bound,
  filled,
  flag,
  form,
  isFilledList,
  isFilled,
  isRecord,
  isString,
  misfit,
  oneOf,
  problemOfFields,
  refusing,
  sentence,
} from '../../contract/check';
import { defined } from '../../contract/defined';
import { parseDuration } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { ListStatus } from '../../contract/events';
import { listStatuses } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import { isAnyRunId } from '../../contract/record/child-runs';
import { isName, nameProblem } from '../../contract/names';
import { shown } from '../../contract/shown';

/** A time such as "2026-11-23T08:00:00Z" or "2026-11-23", or an age such as "2h". */
export type ListTime = string | Date;

/** Filters of interrupts. Absent fields do not filter. */
interface InterruptFilter {
  readonly agent?: string;
  /** Runs with this tag, or with all of these tags. */
  readonly tag?: string | readonly string[];
  /** Runs started by this name. */
  readonly startedBy?: string;
  /** Runs that began at this time or later. */
  readonly since?: ListTime;
  /** Runs that began before this time. */
  readonly until?: ListTime;
  /** Interrupts that this name may answer, including interrupts for anybody. */
  readonly mayAnswer?: string;
  /** Roles of the name in `mayAnswer`. */
  readonly role?: string | readonly string[];
  /** Interrupts that opened at this time or earlier. */
  readonly waitingSince?: ListTime;
}

export interface InterruptListOptions extends InterruptFilter {
  /** The most rows. Default 50, at most 1,000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

export interface ListOptions extends InterruptListOptions {
  readonly status?: ListStatus;
  /** Runs whose id begins with this text. */
  readonly id?: string;
  /** Isolated agents of this run, by run id. Other lists leave them out. */
  readonly parent?: string;
  /** Adds the total number of runs, by another query. */
  readonly total?: boolean;
}

export interface RunFilter extends ListTimes {
  readonly tenant: string;
  readonly status?: ListStatus;
  readonly id?: string;
  readonly agent?: string;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly parent?: string;
  readonly mayAnswer?: string;
  readonly roles: readonly string[];
}

/** Fixed by the first page of a list. */
export interface ListTimes {
  readonly since?: number;
  readonly until?: number;
  readonly waitingSince?: number;
}

const usualLimit = 50;
const mostRows = 1000;

export const listTime: Form = {
  wanted: 'a time such as "2026-11-23T08:00:00Z" or "2026-11-23", or how long ago it is, such as "2h" or "3d"',
  problem: (value, option) => (timeOf(value, 0) === undefined ? misfit(option, listTime.wanted, value) : undefined),
};

/** PostgreSQL stores no NUL. */
const isFindable = (value: unknown): boolean => isFilled(value) && !value.includes('\u0000');
const findable = form(isFindable, 'a string that is not blank, without the character NUL');
const areFindable = (value: unknown): boolean => isFindable(value) || (isFilledList(value) && value.length > 0 && value.every(isFindable));

const filters: Forms<InterruptFilter> = {
  agent: {
    wanted: 'the name of an agent',
    problem: (value) => {
      if (!isName(value)) throw new HoldfastError('agent-unknown', `No agent can be named ${shown(value)}: ${nameProblem(value) ?? ''}.`);
      return undefined;
    },
  },
  tag: form(areFindable, 'a tag, or an array of at least one, without the character NUL'),
  startedBy: findable,
  since: listTime,
  until: listTime,
  mayAnswer: findable,
  role: form(areFindable, 'a role, or an array of at least one, without the character NUL'),
  waitingSince: listTime,
};

const page = {
  // Fewer rows than asked for would look like the whole list.
  limit: { ...bound, problem: (value: unknown, option: string) => bound.problem(value, option) ?? tooMany(value, option) },
  after: filled,
};

function tooMany(value: unknown, option: string): string | undefined {
  return (value as number) > mostRows ? misfit(option, `at most ${mostRows}; the page says how to get the next ones`, value) : undefined;
}

const forms: { readonly list: Forms<ListOptions>; readonly interrupts: Forms<InterruptListOptions> } = {
  list: {
    ...filters,
    ...page,
    status: oneOf(...listStatuses),
    id: form((value) => isString(value) && /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/.test(value), 'the beginning of the id of a run'),
    parent: {
      wanted: 'the id of a run',
      problem: (value) => {
        if (!isAnyRunId(value)) throw new HoldfastError('run-id-invalid', `${shown(value)} is no id of a run.`);
        return undefined;
      },
    },
    total: flag,
  },
  interrupts: { ...filters, ...page },
};

type ListKind = keyof typeof forms;

/** Relative times are not resolved yet. `mark` identifies the filters. */
export interface AskedList {
  readonly kind: ListKind;
  readonly filter: Omit<RunFilter, keyof ListTimes>;
  readonly times: Readonly<Partial<Record<keyof ListTimes, ListTime>>>;
  readonly limit: number;
  readonly after?: string;
  readonly total: boolean;
  readonly mark: string;
}

/** A misspelled filter would give a wrong list. */
export function askedList(kind: ListKind, tenant: string, options: ListOptions): AskedList {
  const refuse = refusing(kind, 'request-invalid');
  const given: unknown = options;
  if (!isRecord(given)) return refuse(`the options must be an object, not ${shown(given)}.`);
  const problem = problemOfFields(given, forms[kind]) ?? contradiction(options);
  if (problem !== undefined) return refuse(sentence(problem));
  const { tag = [], role = [], since, until, waitingSince, limit = usualLimit, after, total, ...others } = options;
  const filter = {
    ...defined(others),
    ...(kind === 'interrupts' ? { status: 'waiting' as const } : {}),
    tenant,
    tags: [...new Set(typeof tag === 'string' ? [tag] : tag)],
    roles: [...new Set(typeof role === 'string' ? [role] : role)],
  };
  const times = defined({ since, until, waitingSince });
  return { kind, filter, times, limit, total: total === true, mark: markOf([kind, filter, times]), ...defined({ after }) };
}

/** SQLite's full-text search for tags breaks at a quote, and finds no backslash or control character. */
export function isAskable(text: string): boolean {
  return !/["\\\u0000-\u001f\u007f]/.test(text);
}

function contradiction({ status, id, parent, tag, startedBy, mayAnswer, role, waitingSince, total }: ListOptions): string | undefined {
  if (role !== undefined && mayAnswer === undefined) return 'role says what else the name of mayAnswer may answer; give mayAnswer as well';
  const waits = mayAnswer === undefined ? (waitingSince === undefined ? undefined : 'waitingSince') : 'mayAnswer';
  if (waits !== undefined && status !== undefined && status !== 'waiting' && status !== 'open')
    return `${waits} is for runs that wait, and status is "${status}"; leave one of them out`;
  if (waits !== undefined && total === true) return `total counts on the server, which does not know ${waits}; leave one of them out`;
  const tags = typeof tag === 'string' ? [tag] : (tag ?? []);
  if (total === true && ![...tags, startedBy ?? ''].every(isAskable))
    return 'total counts on the server, which cannot look for a text with ", \\ or a control character; leave one of them out';
  if (parent !== undefined && id !== undefined) return 'id is that of a run that somebody started; leave it out with parent';
  const ofRoot = tag === undefined ? (startedBy === undefined ? undefined : 'startedBy') : 'tag';
  if (parent !== undefined && ofRoot !== undefined)
    return `${ofRoot} is one of the run that somebody started, and isolated agents have none; leave it out with parent`;
  return undefined;
}

/** Rounds relative times to seconds, so that equal lists share a query. */
export function filterOf({ filter, times }: AskedList, now: number): RunFilter {
  const second = Math.floor(now / 1000) * 1000;
  const at = (name: keyof ListTimes): number | undefined => timeOf(times[name], second);
  return { ...filter, ...defined({ since: at('since'), until: at('until'), waitingSince: at('waitingSince') }) };
}

const timeText = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

export function timeOf(value: unknown, now: number): number | undefined {
  if (value instanceof Date) return numberOf(value.getTime());
  if (typeof value !== 'string') return undefined;
  const ago = parseDuration(value);
  if (ago !== undefined) return now - ago;
  return timeText.test(value) ? numberOf(Date.parse(value)) : undefined;
}

function numberOf(milliseconds: number): number | undefined {
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

function markOf(asked: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(asked))))
    .digest('base64url')
    .slice(0, 12);
}
