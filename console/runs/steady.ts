import { compareRuns } from '../data/run-order';
import type { ListedRun } from '../../client/http/index';

export interface SteadyRow {
  readonly run: ListedRun;
  readonly isGone: boolean;
}

export interface SteadyRows {
  readonly rows: readonly SteadyRow[];
  /** New runs that would move other rows. */
  readonly pending: number;
}

/** While a person points at the rows, new runs wait and gone runs stay. */
export function steadyRows(before: SteadyRows, runs: readonly ListedRun[], isHeld: boolean): SteadyRows {
  if (!isHeld || before.rows.length === 0) return { rows: runs.map((run) => ({ run, isGone: false })), pending: 0 };
  const known = new Map(runs.map((run) => [run.id, run]));
  const shown = new Set<string>();
  const rows = before.rows.map(({ run }): SteadyRow => {
    shown.add(run.id);
    const now = known.get(run.id);
    return now === undefined ? { run, isGone: true } : { run: now, isGone: false };
  });
  const last = rows.at(-1)?.run;
  let pending = 0;
  for (const run of runs) {
    if (shown.has(run.id)) continue;
    if (last !== undefined && compareRuns(run, last) > 0) rows.push({ run, isGone: false });
    else pending++;
  }
  return { rows, pending };
}
