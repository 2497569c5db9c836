import { useMemo, useRef, useState } from 'preact/hooks';
import { refreshPolls, usePoll } from '../data/live';
import { IsolatedAgents, RunList } from '../data/runs';
import { movingKeys, useKeys } from '../parts/keyboard';
import { useSelection } from '../parts/use-selection';
import { goTo } from '../routes';
import { filtersIn, queryOf } from './filters';
import { itemsOf } from './items';
import type { SteadyRows } from './steady';
import { steadyRows } from './steady';

export type ShownList = ReturnType<typeof useList>;

export function useList(query: string) {
  const list = useMemo(() => new RunList(queryOf(filtersIn(new URLSearchParams(query)))), [query]);
  const isolated = useMemo(() => new IsolatedAgents(), [list]);
  const { error } = usePoll(list.key, list.ask);
  usePoll(isolated.key, isolated.ask, 3_000);
  const [isPointed, onPointed] = useState(false);
  const [current, setCurrent] = useState<string>();
  const steady = useRef<SteadyRows>({ rows: [], pending: 0 });
  const [round, setRound] = useState(0);
  const selection = useSelection(() => ids);
  const known = list.now.value;
  const isHeld = isPointed || selection.keys.size > 0 || current !== undefined;
  const shown = useMemo(() => (steady.current = steadyRows(steady.current, known?.rows ?? [], isHeld)), [known, isHeld, round]);
  const ids = shown.rows.map(({ run }) => run.id);
  const opened = isolated.now.value;
  const items = useMemo(() => itemsOf(shown.rows, opened), [shown, opened]);
  const showNew = (): void => {
    steady.current = { rows: [], pending: 0 };
    setRound(round + 1);
    setCurrent(undefined);
    onPointed(false);
    refreshPolls();
    document.querySelector('.runs .virtual')?.scrollTo({ top: 0 });
  };
  const onToggle = (id: string): void => isolated.toggle(id);
  useListKeys({ list, items, selection, current, setCurrent, onToggle });
  return { list, error: error ?? list.error.value, items, ids, pending: shown.pending, showNew, selection, current, onToggle, onPointed };
}

interface ListKeys extends Pick<ShownList, 'list' | 'items' | 'selection' | 'current' | 'onToggle'> {
  readonly setCurrent: (key: string | undefined) => void;
}

function useListKeys({ list, items, selection, current, setCurrent, onToggle }: ListKeys): void {
  const runs = items.filter((item) => item.kind === 'run');
  const at = runs.findIndex(({ key }) => key === current);
  const move = (to: number): void => {
    if (to >= runs.length) void list.loadMore();
    setCurrent(runs[Math.max(0, Math.min(runs.length - 1, to))]?.key);
  };
  const onCurrent = (act: (id: string) => void) => (): void => {
    if (current !== undefined) act(current);
  };
  useKeys({
    ...movingKeys((step) => move(at + step)),
    x: onCurrent((id) => runs[at]?.depth === 0 && selection.toggle(id)),
    o: onCurrent(onToggle),
    Enter: onCurrent((id) => goTo('runs', id)),
    '/': () => document.getElementById('filter-id')?.focus(),
    Escape: () => {
      // Escape in a search field clears the field.
      if (document.activeElement?.matches('input:not([type=checkbox]), select') === true) return false;
      selection.set([]);
      setCurrent(undefined);
    },
  });
}
