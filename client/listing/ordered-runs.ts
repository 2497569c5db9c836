import type { AskPage, ListedExecution } from '../reading/executions';
import type { RunPlace } from './cursor';
import { comparePlaces } from './cursor';

interface OrderedList {
  readonly ask: AskPage;
  readonly clauses: readonly string[];
  readonly isOpenOnly: boolean;
  readonly since?: number;
  readonly until?: number;
  /** `isIncluded`: with the run at this place. */
  readonly after?: RunPlace & { readonly isIncluded: boolean };
  readonly want: number;
}

export interface PlacedRun {
  readonly place: RunPlace;
  readonly execution: ListedExecution;
}

interface Window {
  /** Inclusive bounds. Undefined: unbounded. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** `floor`: the latest start of the remaining runs. Absent: no runs remain. */
interface Found {
  readonly runs: readonly PlacedRun[];
  readonly floor?: number;
}

const largestPage = 1000;
/** Reads runs of the cursor's millisecond again. */
const spare = 10;

/**
 * Runs by start, newest first. Servers list open runs by the start of the last execution, then ended runs by end, so a reader would miss
 * runs that move. Here each query bounds the start of the run, which never changes.
 */
export async function* orderedRuns(list: OrderedList): AsyncGenerator<PlacedRun> {
  const { since, until, after } = list;
  let to = until === undefined ? undefined : until - 1;
  if (after !== undefined) to = to === undefined ? after.at : Math.min(to, after.at);
  for (;;) {
    const { runs, floor } = await newestIn(list, { from: since, to });
    yield* runs;
    if (floor === undefined || (since !== undefined && floor < since)) return;
    to = floor;
  }
}

function isBehind(place: RunPlace, after: OrderedList['after']): boolean {
  if (after === undefined) return true;
  const order = comparePlaces(after, place);
  return order < 0 || (order === 0 && after.isIncluded);
}

/** If the order of a page leaves the newest runs open, reads all runs since the oldest candidate. */
async function newestIn(list: OrderedList, whole: Window): Promise<Found> {
  const { want, isOpenOnly, after } = list;
  let from = whole.from;
  let size = Math.min(largestPage, isOpenOnly ? want + spare : Math.max(100, 2 * want + spare));
  for (;;) {
    const query = [...list.clauses, ...clausesOf({ from, to: whole.to })].join(' AND ');
    const runs = new Map<string, PlacedRun>();
    let token: Uint8Array | undefined;
    do {
      const page = await list.ask(query, size, token);
      for (const execution of page.executions) take(runs, execution);
      token = page.token;
      const sorted = [...runs.values()]
        .filter(({ place }) => isBehind(place, after))
        .sort((one, other) => comparePlaces(one.place, other.place));
      if (token === undefined) return { runs: sorted, ...(from === whole.from ? {} : { floor: (from ?? 0) - 1 }) };
      const bound = latestBehind(page.executions, isOpenOnly);
      const sure = sorted.filter(({ place }) => place.at > bound);
      if (sure.length >= want) return { runs: sure, floor: bound };
      const oldest = sorted[want - 1]?.place.at;
      if (oldest !== undefined && (from === undefined || oldest > from)) {
        from = oldest;
        break;
      }
      // Too many runs of one millisecond: the server's order has to do.
    } while (size === largestPage);
    size = Math.min(largestPage, 2 * size);
  }
}

/** The last execution of a run counts. */
function take(runs: Map<string, PlacedRun>, execution: ListedExecution): void {
  const { workflowId, startTime } = execution;
  const known = runs.get(workflowId);
  if (known !== undefined && known.execution.startTime >= startTime) return;
  runs.set(workflowId, { execution, place: { at: startOf(execution).getTime(), workflowId } });
}

export function startOf({ startTime, startedAt }: ListedExecution): Date {
  return startedAt ?? startTime;
}

/** A run begins before its last execution and its end, so no later run in the server's order began after this time. Infinity: unknown. */
function latestBehind(executions: readonly ListedExecution[], isOpenOnly: boolean): number {
  const last = executions.at(-1);
  if (last === undefined || !isServersOrder(executions)) return Infinity;
  if (last.closeTime !== undefined) return last.closeTime.getTime();
  return isOpenOnly ? last.startTime.getTime() : Infinity;
}

function isServersOrder(executions: readonly ListedExecution[]): boolean {
  return executions.every((execution, position) => {
    const before = executions[position - 1];
    if (before === undefined) return true;
    const [one, other] = [before.closeTime?.getTime() ?? Infinity, execution.closeTime?.getTime() ?? Infinity];
    return one > other || (one === other && (one !== Infinity || before.startTime >= execution.startTime));
  });
}

/** A run began with its execution, unless its search attribute differs. */
export function clausesOf({ from, to }: Window): readonly string[] {
  const bounds = (name: string): string =>
    [
      ...(from === undefined ? [] : [`${name} >= '${new Date(from).toISOString()}'`]),
      ...(to === undefined ? [] : [`${name} < '${new Date(to + 1).toISOString()}'`]),
    ].join(' AND ');
  if (from === undefined && to === undefined) return [];
  return [`((HoldfastStartedAt IS NULL AND ${bounds('StartTime')}) OR (${bounds('HoldfastStartedAt')}))`];
}
