import type { ListedRun } from '../../client/http/index';
import type { SteadyRow } from './steady';

export type RunsItem =
  | {
      readonly kind: 'run';
      readonly key: string;
      readonly run: ListedRun;
      readonly depth: number;
      readonly isGone: boolean;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'note'; readonly key: string; readonly depth: number; readonly isLoading: boolean };

export function itemsOf(rows: readonly SteadyRow[], opened: ReadonlyMap<string, readonly ListedRun[] | undefined>): readonly RunsItem[] {
  const items: RunsItem[] = [];
  const add = (run: ListedRun, depth: number, isGone: boolean): void => {
    const isOpen = opened.has(run.id);
    items.push({ kind: 'run', key: run.id, run, depth, isGone, isOpen });
    if (!isOpen) return;
    const inside = opened.get(run.id);
    if (inside === undefined || inside.length === 0)
      items.push({ kind: 'note', key: `${run.id} note`, depth: depth + 1, isLoading: inside === undefined });
    // The service has the newest first.
    else for (const child of [...inside].reverse()) add(child, depth + 1, false);
  };
  for (const { run, isGone } of rows) add(run, 0, isGone);
  return items;
}
