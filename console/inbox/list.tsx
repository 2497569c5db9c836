import { isAsking } from '../decide/decide';
import type { AskingRow } from '../decide/row';
import { IconButton, Button } from '../parts/button';
import { ErrorNote, EmptyState } from '../parts/error-note';
import { visibleText } from '../parts/plain-text';
import type { Selection } from '../parts/use-selection';
import { VirtualList } from '../parts/virtual-list';
import { hrefOf, route, withValues, hidePart, setQuery } from '../routes';
import { texts } from '../texts';
import { inboxTexts } from '../texts/inbox';
import { BulkBar } from './bulk';
import { Filters, Order } from './filters';
import { Row, headingHeight, rowHeight } from './row';
import type { InboxLine, InboxView, absenceOf } from './rows';
import type { RowChoice } from './use-choice';
import type { InboxRows } from './use-rows';
import { identity } from '../data/identity';
import { decideTexts } from '../texts/decide';

export interface InboxListProps {
  readonly view: InboxView;
  readonly inbox: InboxRows;
  readonly choice: RowChoice;
  readonly selection: Selection;
  readonly onHelp: () => void;
}

export function InboxList({ view, inbox, choice, selection, onHelp }: InboxListProps) {
  const { listed, more, error, rows, lines, shown, hold } = inbox;
  const { chosen, choose } = choice;
  const selected = shown.filter((row) => selection.keys.has(row.key) && isWaiting(row));
  const asking = shown.filter(isAsking).map(({ key }) => key);
  const rowOf = (row: AskingRow) => (
    <Row
      row={row}
      href={hrefOf('inbox', undefined, withValues(route.peek().query, { item: row.key }))}
      isChosen={row.key === chosen?.key}
      isSelected={selection.keys.has(row.key)}
      isFirst={chosen === undefined && row.key === shown[0]?.key}
      onSelect={() => selection.toggle(row.key)}
      onChoose={() => choose(row.key)}
    />
  );
  return (
    <section class="inbox-list column" aria-label={inboxTexts.list}>
      <Filters view={view} listed={listed ?? []} />
      <div class="inbox-count flow small muted numbers">
        <label class="check">
          <input
            type="checkbox"
            aria-label={texts.parts.selectAll}
            disabled={shown.length === 0}
            checked={selected.length > 0 && selected.length === asking.length}
            onChange={({ currentTarget }) => selection.set(currentTarget.checked ? asking : [])}
          />
        </label>
        <span aria-live="polite">
          {listed === undefined ? texts.parts.loading : inboxTexts.count(shown.filter(isWaiting).length, rows.filter(isWaiting).length)}
        </span>
        <span class="spacer" />
        <Order view={view} />
        <IconButton label={inboxTexts.help} icon="keyboard" onClick={onHelp} />
      </div>
      {error !== undefined && listed === undefined && <ErrorNote error={error} />}
      {more && <p class="inbox-more small muted">{inboxTexts.more}</p>}
      <div class="inbox-rows grow">
        {listed !== undefined && shown.length === 0 ? (
          <NothingWaits view={view} isFiltered={rows.length > 0} />
        ) : (
          <VirtualList
            items={lines}
            rowHeight={heightOf}
            keyOf={(line) => ('row' in line ? line.row.key : `group ${line.heading}`)}
            label={inboxTexts.list}
            shownIndex={lines.findIndex((line) => 'row' in line && line.row.key === chosen?.key)}
            onPointer={hold}
            render={(line) => ('row' in line ? rowOf(line.row) : <Heading {...line} />)}
          />
        )}
      </div>
      {selected.length > 0 && <BulkBar selected={selected.map((row) => row.listed)} onClear={() => selection.set([])} />}
    </section>
  );
}

function Heading({ heading, count }: Extract<InboxLine, { readonly heading: string }>) {
  return (
    <h2 class="group-heading full flow small">
      {visibleText(heading)} <span class="muted">{count}</span>
    </h2>
  );
}

function heightOf(line: InboxLine): number {
  return 'row' in line ? rowHeight : headingHeight;
}

function isWaiting({ goneAt }: AskingRow): boolean {
  return goneAt === undefined;
}

function ClearFilters() {
  const clear = (): void => setQuery({ q: undefined, kind: undefined, agent: undefined, policy: undefined });
  return <Button onClick={clear}>{inboxTexts.clearFilters}</Button>;
}

function NothingWaits({ view, isFiltered }: { readonly view: InboxView; readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title={inboxTexts.emptyFilter}>
        <ClearFilters />
      </EmptyState>
    );
  const isMine = identity.value.name !== '' && !view.isForAll;
  return (
    <EmptyState
      title={isMine ? inboxTexts.emptyMine : inboxTexts.emptyAll}
      text={isMine ? inboxTexts.emptyMineText : inboxTexts.emptyAllText}
    >
      {isMine && <Button onClick={() => setQuery({ who: 'all' })}>{inboxTexts.showAll}</Button>}
      <a class="button" href={hrefOf('try')}>
        {inboxTexts.tryAgent}
      </a>
    </EmptyState>
  );
}

export function GoneDetail({ item, why }: { readonly item: string; readonly why: ReturnType<typeof absenceOf> }) {
  const runId = item.slice(0, item.indexOf('/'));
  return (
    <EmptyState title={why === 'unknown' ? decideTexts.gone.unknown : inboxTexts.absent[why]}>
      <p>
        <a href={hrefOf('runs', runId)}>{decideTexts.openRun} →</a>
      </p>
      {why === 'hidden' && <ClearFilters />}
      {why === 'elsewhere' && <Button onClick={() => setQuery({ who: 'all' })}>{inboxTexts.showAll}</Button>}
      <Button onClick={() => hidePart({ item: undefined })}>{inboxTexts.back}</Button>
    </EmptyState>
  );
}
