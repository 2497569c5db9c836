import { useState } from 'preact/hooks';
import { noWorkerText } from '../../contract/no-worker';
import type { BulkAction } from '../../contract/service-facts';
import { useAgents, useCounts } from '../data/facts';
import { refreshPolls } from '../data/live';
import { isWide } from '../data/screen';
import { Button } from '../parts/button';
import { EmptyState, ErrorNote } from '../parts/error-note';
import { VirtualList } from '../parts/virtual-list';
import { hrefOf, route } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { BulkDialog } from './bulk-dialog';
import { FilterBar } from './filter-bar';
import { filterText, filtersIn } from './filters';
import { RunHeads, RunRow } from './run-row';
import type { ShownList } from './use-list';
import { useList } from './use-list';
import { ViewsBar } from './views-bar';

export function RunsPage() {
  const filters = filtersIn(route.value.query);
  const text = filterText(filters);
  return (
    <div class="runs full column">
      <h1 class="unseen">{texts.shell.runs}</h1>
      <FilterBar filters={filters} counts={useCounts().value} agents={useAgents().value ?? []} />
      <ViewsBar query={text} />
      <Runs key={text} query={text} />
    </div>
  );
}

function Runs({ query }: { readonly query: string }) {
  const shown = useList(query);
  const { list, error, items, selection, current, onToggle, onPointed } = shown;
  const [action, setAction] = useState<BulkAction>();
  const known = list.now.value;
  return (
    <>
      {/* The region includes the button for new runs, so that no row moves on the way to the button. */}
      <div class="run-region grow column" onPointerEnter={() => onPointed(true)} onPointerLeave={() => onPointed(false)}>
        <RunBar shown={shown} onAction={setAction} />
        {list.noWorker.value !== undefined && <p role="status">{noWorkerText(list.noWorker.value)}</p>}
        {error !== undefined && <ErrorNote error={error} onRetry={refreshPolls} />}
        {items.length > 0 && <RunHeads />}
        <div class="run-list grow">
          {known !== undefined && items.length === 0 ? (
            <NoRuns isNarrowed={query !== ''} />
          ) : (
            <VirtualList
              items={items}
              rowHeight={isWide.value ? 40 : 76}
              keyOf={(item) => item.key}
              label={texts.shell.runs}
              shownIndex={items.findIndex((item) => item.key === current)}
              render={(item) => (
                <RunRow
                  item={item}
                  isCurrent={item.key === current}
                  isSelected={selection.keys.has(item.key)}
                  onSelect={selection.toggle}
                  onToggle={onToggle}
                />
              )}
            />
          )}
        </div>
      </div>
      {known?.more === true && (
        <div class="run-more fixed">
          <Button onClick={() => void list.loadMore()} disabled={list.isLoading.value}>
            {list.isLoading.value ? texts.parts.loading : runsTexts.loadMore}
          </Button>
        </div>
      )}
      {action !== undefined && (
        <BulkDialog
          action={action}
          ids={[...selection.keys]}
          onClose={() => setAction(undefined)}
          onDone={() => {
            selection.set([]);
            refreshPolls();
          }}
        />
      )}
    </>
  );
}

function RunBar({ shown, onAction }: { readonly shown: ShownList; readonly onAction: (action: BulkAction) => void }) {
  const { list, ids, selection, pending, showNew } = shown;
  const known = list.now.value;
  const isAll = ids.length > 0 && ids.every((id) => selection.keys.has(id));
  const { bulk, keys } = runsTexts;
  return (
    <div class="run-bar flow">
      <label class="run-check">
        <input
          type="checkbox"
          checked={isAll}
          disabled={ids.length === 0}
          aria-label={texts.parts.selectAll}
          onClick={() => selection.set(isAll ? [] : ids)}
        />
      </label>
      {selection.keys.size > 0 ? (
        <span class="flow wrap">
          <strong>{texts.parts.selected(selection.keys.size)}</strong>
          <Button needs="runs:control" onClick={() => onAction('cancel')}>
            {bulk.cancel.open}
          </Button>
          <Button needs="runs:control" onClick={() => onAction('retry')}>
            {bulk.retry.open}
          </Button>
          <Button needs="runs:control" onClick={() => onAction('upgrade')}>
            {bulk.upgrade.open}
          </Button>
          <Button kind="quiet" onClick={() => selection.set([])}>
            {texts.parts.clear}
          </Button>
        </span>
      ) : (
        <span class="muted" role="status">
          {known === undefined ? texts.parts.loading : runsTexts.total(known.rows.length, known.total)}
        </span>
      )}
      {pending > 0 && (
        <button type="button" class="pending" onClick={showNew}>
          {runsTexts.pending(pending)}
        </button>
      )}
      <span class="run-keys small muted" aria-hidden="true">
        <kbd>j</kbd> <kbd>k</kbd> {keys.move} <kbd>x</kbd> {keys.select} <kbd>o</kbd> {keys.unfold} <kbd>/</kbd> {keys.search}
      </span>
    </div>
  );
}

function NoRuns({ isNarrowed }: { readonly isNarrowed: boolean }) {
  return (
    <EmptyState title={isNarrowed ? runsTexts.noneFit : runsTexts.none} text={isNarrowed ? runsTexts.noneFitHint : runsTexts.noneHint}>
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
