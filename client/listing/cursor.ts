import { isListOf, isRecord, isString, refusing } from '../../contract/check';
import { shown } from '../../contract/shown';
import type { AskedList, ListTimes } from './list-options';

/** Newest first, then by id. A place never changes. */
export interface RunPlace {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly workflowId: string;
}

/** Oldest first, then by id. */
export interface InterruptPlace {
  readonly since: number;
  readonly id: string;
}

export interface PageEnd {
  readonly run: RunPlace;
  readonly interrupt?: InterruptPlace;
  /** The times of the filter on the first page. */
  readonly times: ListTimes;
}

const version = 1;

export function comparePlaces(one: RunPlace, other: RunPlace): number {
  return other.at - one.at || (one.workflowId < other.workflowId ? -1 : one.workflowId > other.workflowId ? 1 : 0);
}

export function compareInterrupts(one: InterruptPlace, other: InterruptPlace): number {
  return one.since - other.since || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

export function cursorOf({ mark }: AskedList, { run, interrupt, times }: PageEnd): string {
  const place = interrupt === undefined ? [] : [interrupt.since, interrupt.id];
  return Buffer.from(JSON.stringify([version, mark, times, run.at, run.workflowId, ...place])).toString('base64url');
}

/** Throws 'request-invalid' for other texts, and for a cursor with other filters. */
export function pageEndOf({ kind, after, mark }: AskedList): PageEnd | undefined {
  if (after === undefined) return undefined;
  const refuse = refusing(kind, 'request-invalid');
  const parts = partsOf(after) ?? [];
  const [found, known, times, at, workflowId, since, id] = parts;
  if (found === version && isString(known) && known !== mark)
    return refuse(
      'after is of a list with other filters. Give the filters of the page that it comes from, or leave after out to begin anew.',
    );
  const isRun = found === version && known === mark && isTimes(times) && isTime(at) && isString(workflowId);
  if (isRun && kind === 'list' && parts.length === 5) return { run: { at, workflowId }, times };
  if (isRun && kind === 'interrupts' && parts.length === 7 && isTime(since) && isString(id))
    return { run: { at, workflowId }, times, interrupt: { since, id } };
  return refuse(`after must be the "next" of the page before. It is ${shown(after)}.`);
}

function partsOf(cursor: string): readonly unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

function isTimes(value: unknown): value is ListTimes {
  if (!isRecord(value)) return false;
  const known = ['since', 'until', 'waitingSince'];
  return Object.keys(value).every((name) => known.includes(name)) && isListOf(Object.values(value), isTime);
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) < 8.64e15;
}
