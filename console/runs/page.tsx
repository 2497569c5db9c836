import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { noWorkerText } from '../../contract/no-worker';
import type { BulkAction } from '../../contract/service-facts';
import { useAgents } from '../data/agents';
import { IsolatedAgents, RunList, useCounts, useOpenList } from '../data/runs';
import { Button } from '../parts/button';
import { EmptyState } from '../parts/empty-state';
import { ErrorNote } from '../parts/error-note';
import { VirtualList } from '../parts/virtual-list';
import { hrefOf, route } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { BulkDialog } from './bulk-dialog';
import { FilterBar } from './filter-bar';
import { filterText, filtersIn, isFiltered, queryOf } from './filters';
import { itemsOf } from './items';
import { useListKeys } from './list-keys';
import { RunHeads, RunRow } from './run-row';
import type { SteadyRows } from './steady';
import { steadyRows } from './steady';
import { useNarrow } from './use-narrow';
import { ViewsBar } from './views-bar';

/** All runs: filters that stand in the URL, live rows that do not move under the pointer, and what can be done to many. */
export function RunsPage(): JSX.Element {
  const filters = filtersIn(route.value.query);
  const text = filterText(filters);
  return (
    <div class="runs">
      <h1 class="unseen">{texts.shell.runs}</h1>
      <FilterBar filters={filters} counts={useCounts().value.value} agents={useAgents()} />
      <ViewsBar query={text} />
      <Runs key={text} query={text} />
    </div>
  );
}

function Runs({ query }: { readonly query: string }): JSX.Element {
  const list = useMemo(() => new RunList(queryOf(filtersIn(new URLSearchParams(query)))), [query]);
  const isolated = useMemo(() => new IsolatedAgents(), [list]);
  useOpenList(list);
  useEffect(() => () => isolated.close(), [isolated]);
  const [isPointed, setPointed] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const [action, setAction] = useState<BulkAction>();
  const anchor = useRef<string | undefined>(undefined);
  const known = list.now.value;
  const isHeld = isPointed || selected.size > 0 || current !== undefined;
  const steady = useRef<SteadyRows>({ rows: [], pending: 0 });
  const shown = useMemo(() => (steady.current = steadyRows(steady.current, known?.rows ?? [], isHeld)), [known, isHeld]);
  const opened = isolated.now.value;
  const items = useMemo(() => itemsOf(shown.rows, opened), [shown, opened]);
  const rowHeight = useNarrow() ? 76 : 40;

  const select = (id: string, isRange: boolean): void => {
    const ids = shown.rows.map(({ run }) => run.id);
    const next = new Set(selected);
    const [from, to] = [ids.indexOf(anchor.current ?? ''), ids.indexOf(id)];
    const isOn = !selected.has(id);
    const range = isRange && from >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
    for (const one of range)
      if (isOn) next.add(one);
      else next.delete(one);
    anchor.current = id;
    setSelected(next);
  };
  const showNew = (): void => {
    steady.current = { rows: [], pending: 0 };
    setCurrent(undefined);
    setPointed(false);
    void list.refresh();
    document.querySelector('.runs .virtual')?.scrollTo({ top: 0 });
    list.now.value = list.now.peek() === undefined ? undefined : { ...(list.now.peek() as NonNullable<typeof known>) };
  };
  useListKeys({
    items,
    current,
    setCurrent,
    onSelect: (id) => select(id, false),
    onToggle: (id) => isolated.toggle(id),
    onLeave: () => {
      setSelected(new Set());
      setCurrent(undefined);
    },
    onEnd: () => void list.loadMore(),
  });

  const shownIndex = current === undefined ? undefined : items.findIndex((item) => item.key === current);
  const ids = shown.rows.map(({ run }) => run.id);
  const isAll = ids.length > 0 && ids.every((id) => selected.has(id));
  return (
    <>
      {/* The button for what is new belongs to it: on the way there nothing moves. */}
      <div class="run-region" onPointerEnter={() => setPointed(true)} onPointerLeave={() => setPointed(false)}>
        <div class="run-bar">
          <label class="run-all">
            <input
              type="checkbox"
              checked={isAll}
              disabled={ids.length === 0}
              aria-label={runsTexts.selectAll}
              onClick={() => setSelected(isAll ? new Set() : new Set(ids))}
            />
          </label>
          {selected.size > 0 ? (
            <span class="run-bulk">
              <strong>{runsTexts.selected(selected.size)}</strong>
              <Button onClick={() => setAction('cancel')}>{runsTexts.bulk.cancel.open}</Button>
              <Button onClick={() => setAction('retry')}>{runsTexts.bulk.retry.open}</Button>
              <Button onClick={() => setAction('upgrade')}>{runsTexts.bulk.upgrade.open}</Button>
              <Button kind="quiet" onClick={() => setSelected(new Set())}>
                {runsTexts.clearSelection}
              </Button>
            </span>
          ) : (
            <span class="run-total muted" role="status">
              {known === undefined ? texts.parts.loading : runsTexts.total(known.rows.length, known.total)}
            </span>
          )}
          {shown.pending > 0 && (
            <button type="button" class="pending" onClick={showNew}>
              {runsTexts.pending(shown.pending)}
            </button>
          )}
          <span class="run-keys muted" aria-hidden="true">
            <kbd>j</kbd> <kbd>k</kbd> {runsTexts.keys.move} <kbd>x</kbd> {runsTexts.keys.select} <kbd>o</kbd> {runsTexts.keys.unfold}{' '}
            <kbd>/</kbd> {runsTexts.keys.search}
          </span>
        </div>
        {list.noWorker.value !== undefined && <p role="status">{noWorkerText(list.noWorker.value)}</p>}
        {list.error.value !== undefined && <ErrorNote error={list.error.value} onRetry={() => void list.refresh()} />}
        {items.length > 0 && <RunHeads />}
        <div class="run-list">
          {known !== undefined && items.length === 0 ? (
            <NoRuns query={query} />
          ) : (
            <VirtualList
              items={items}
              rowHeight={rowHeight}
              keyOf={(item) => item.key}
              label={texts.shell.runs}
              {...(shownIndex === undefined ? {} : { shownIndex })}
              render={(item) => (
                <RunRow
                  item={item}
                  isCurrent={item.key === current}
                  isSelected={selected.has(item.key)}
                  onSelect={select}
                  onToggle={(id) => isolated.toggle(id)}
                />
              )}
            />
          )}
        </div>
      </div>
      {known?.more === true && (
        <div class="run-more">
          <Button onClick={() => void list.loadMore()} disabled={list.isLoading.value}>
            {list.isLoading.value ? texts.parts.loading : runsTexts.loadMore}
          </Button>
        </div>
      )}
      {action !== undefined && (
        <BulkDialog
          action={action}
          ids={[...selected]}
          onClose={() => setAction(undefined)}
          onDone={() => {
            setSelected(new Set());
            void list.refresh();
          }}
        />
      )}
    </>
  );
}

function NoRuns({ query }: { readonly query: string }): JSX.Element {
  const isNarrowed = isFiltered(filtersIn(new URLSearchParams(query)));
  return (
    <EmptyState title={isNarrowed ? runsTexts.noneFit : runsTexts.none}>
      <p>{isNarrowed ? runsTexts.noneFitHint : runsTexts.noneHint}</p>
      <p>
        {isNarrowed ? (
          <a class="button" href={hrefOf('runs')}>
            {runsTexts.clearFilters}
          </a>
        ) : (
          <a class="button primary" href={hrefOf('try')}>
            {texts.shell.try}
          </a>
        )}
      </p>
    </EmptyState>
  );
}
