import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { ListedInterrupt } from '../../http/index';
import { now } from '../data/clock';
import { givenAnswers } from '../data/decisions';
import { useInbox } from '../data/inbox';
import { learnEnding } from '../data/outcomes';
import { isWide } from '../data/screen';
import { RowBoard } from '../decide/board';
import { Detail } from '../decide/detail';
import { changeDraft, draftOf } from '../decide/drafts';
import { focusDecision } from '../decide/focus';
import { decisionKeys, isAsking } from '../decide/keys';
import { NameDialog } from '../decide/name-dialog';
import type { AskingRow } from '../decide/row';
import { EmptyState } from '../parts/empty-state';
import { ErrorNote } from '../parts/error-note';
import { Icon } from '../parts/icon';
import { useKeys } from '../parts/keyboard';
import { VirtualList } from '../parts/virtual-list';
import { visibleText } from '../parts/plain-text';
import { hidePart, hrefOf, route, showPart } from '../routes';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import { BulkBar } from './bulk';
import { Filters, Order } from './filters';
import { KeyboardHelp } from './help';
import { useHold } from './hold';
import { GoneDetail, NothingWaits } from './nothing-waits';
import type { FocusRequest } from './row';
import { Row, headingHeight, rowHeight } from './row';
import type { InboxLine, InboxView } from './rows';
import { absenceOf, fitsView, linesOf, viewOf } from './rows';

const nothing: readonly ListedInterrupt[] = [];

/** Everything that waits for whoever sits here. */
export function InboxPage(): JSX.Element {
  const view = viewOf(route.value.query);
  const poll = useInbox(view.isForAll);
  const found = poll.value.value;
  const [isHeld, hold] = useHold();
  const [focusRequest, setFocusRequest] = useState<FocusRequest | undefined>(undefined);
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const [isHelp, setHelp] = useState(false);
  const chosenBefore = useRef('');
  const board = useMemo(() => new RowBoard(findEnding), [poll]);
  const hasGone = useRef(false);
  const at = hasGone.current ? now.value : 0;
  const rows = useMemo(() => {
    const how = { sort: view.sort, isHeld, selected: viewOf(route.peek().query).item, at: Date.now() };
    return board.update(found?.interrupts ?? nothing, how);
  }, [board, found, view.sort, isHeld, at]);
  // Reading the clock draws the page again when it moves on: rows that do not wait any more go after a moment.
  hasGone.current = rows.some(({ goneAt }) => goneAt !== undefined) && now.value > 0;
  const lines = useMemo(
    () =>
      linesOf(
        rows.filter((row) => fitsView(row, view)),
        view.group,
      ),
    [rows, ...filterParts(view)],
  );
  const shown = useMemo(() => lines.flatMap((line) => ('row' in line ? [line.row] : [])), [lines]);
  /** What the URL names. Where there is room beside the list, something is always chosen: what was, or the first that waits. */
  const chosenAt = (item: string, isRoomy: boolean): AskingRow | undefined => {
    const named = shown.find(({ key }) => key === item);
    if (named !== undefined || item !== '' || !isRoomy) return named;
    return shown.find(({ key }) => key === chosenBefore.current) ?? shown.find(isAsking) ?? shown[0];
  };
  const chosen = chosenAt(view.item, isWide.value);
  chosenBefore.current = chosen?.key ?? '';
  const choose = (key: string | undefined): void => {
    if (key === undefined) hidePart({ item: undefined });
    else showPart({ item: key });
    if (key !== undefined) setFocusRequest({ key });
  };
  /** What is chosen now, which may be newer than what is drawn. */
  const chosenNow = (): AskingRow | undefined => chosenAt(viewOf(route.peek().query).item, isWide.peek());
  const move = (step: number): void => {
    const from = shown.findIndex(({ key }) => key === chosenNow()?.key);
    const next = shown[Math.min(shown.length - 1, Math.max(0, from + step))];
    if (next !== undefined) choose(next.key);
  };
  /** The next one that waits, after something was decided. */
  const goOn = (): void => {
    const from = shown.findIndex(({ key }) => key === chosenNow()?.key);
    const next = [...shown.slice(from + 1), ...shown.slice(0, Math.max(0, from)).reverse()].find(isAsking);
    choose(isWide.value ? next?.key : undefined);
  };

  useKeys({
    ...decisionKeys({ chosen: chosenNow, onGiven: goOn }),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    x: () => {
      const row = chosenNow();
      if (row !== undefined && isAsking(row)) setSelection(toggled(selection, row.key, !selection.has(row.key)));
    },
    '?': () => setHelp(true),
    '/': () => document.getElementById('inbox-search')?.focus(),
    Enter: () => {
      const row = chosenNow() ?? shown[0];
      if (row === undefined) return;
      showPart({ item: row.key });
      focusDecision(row.key);
    },
    Escape: () => {
      const row = chosenNow();
      if (row === undefined) return;
      if (draftOf(row.key).mode !== 'look') changeDraft(row.key, { mode: 'look', problem: undefined });
      else if (!isWide.peek()) hidePart({ item: undefined });
      setFocusRequest({ key: row.key });
    },
  });

  const selected = shown.filter(({ key, goneAt }) => selection.has(key) && goneAt === undefined);
  const isListShown = isWide.value || view.item === '';
  return (
    <div class="inbox">
      <h1 class="unseen">{inboxTexts.title}</h1>
      {isListShown && (
        <section class="inbox-list" aria-label={inboxTexts.list}>
          <Filters view={view} listed={found?.interrupts ?? nothing} />
          <div class="inbox-count">
            <label class="check">
              <input
                type="checkbox"
                aria-label={inboxTexts.selectAll}
                disabled={shown.length === 0}
                checked={selected.length > 0 && selected.length === shown.filter(isAsking).length}
                onChange={({ currentTarget }) =>
                  setSelection(new Set(currentTarget.checked ? shown.filter(isAsking).map(({ key }) => key) : []))
                }
              />
            </label>
            <span aria-live="polite">
              {found === undefined
                ? texts.parts.loading
                : inboxTexts.count(shown.filter(isWaitingRow).length, rows.filter(isWaitingRow).length)}
            </span>
            <span class="spacer" />
            <Order view={view} />
            <button type="button" class="icon-button" aria-label={inboxTexts.help} title={inboxTexts.help} onClick={() => setHelp(true)}>
              <Icon name="keyboard" />
            </button>
          </div>
          {poll.error.value !== undefined && found === undefined && <ErrorNote error={poll.error.value} />}
          {found?.more === true && <p class="inbox-more muted">{inboxTexts.more}</p>}
          <div class="inbox-rows">
            {found !== undefined && shown.length === 0 ? (
              <NothingWaits view={view} isFiltered={rows.length > 0} />
            ) : (
              <VirtualList
                items={lines}
                rowHeight={heightOf}
                keyOf={keyOfLine}
                label={inboxTexts.list}
                shownIndex={lines.findIndex((line) => 'row' in line && line.row.key === chosen?.key)}
                onPointer={hold}
                render={(line) =>
                  'heading' in line ? (
                    <h2 class="group-heading">
                      {visibleText(line.heading)} <span class="muted">{line.count}</span>
                    </h2>
                  ) : (
                    <Row
                      row={line.row}
                      href={hrefOf('inbox', undefined, withItem(route.peek().query, line.row.key))}
                      isChosen={line.row.key === chosen?.key}
                      isSelected={selection.has(line.row.key)}
                      focusRequest={line.row.key === focusRequest?.key ? focusRequest : undefined}
                      isFirst={chosen === undefined && line.row.key === shown[0]?.key}
                      onSelect={(isSelected) => setSelection(toggled(selection, line.row.key, isSelected))}
                      onChoose={() => choose(line.row.key)}
                    />
                  )
                }
              />
            )}
          </div>
          {selected.length > 0 && <BulkBar selected={selected.map(({ listed }) => listed)} onClear={() => setSelection(new Set())} />}
        </section>
      )}
      {(isWide.value || view.item !== '') && (
        <section class="inbox-detail" aria-label={decideTexts.openRun}>
          {chosen !== undefined ? (
            <Detail
              key={chosen.key}
              row={chosen}
              {...(isWide.value ? {} : { back: { label: inboxTexts.back, act: () => choose(undefined) } })}
              onGiven={goOn}
            />
          ) : view.item !== '' && found !== undefined ? (
            <GoneDetail item={view.item} why={absenceOf(view, rows, found.more)} />
          ) : shown.length > 0 ? (
            <EmptyState title={inboxTexts.chooseOne}>
              <p>{inboxTexts.chooseOneText}</p>
            </EmptyState>
          ) : null}
        </section>
      )}
      {isHelp && <KeyboardHelp onClose={() => setHelp(false)} />}
      <NameDialog />
    </div>
  );
}

/** Who has ended it. Of what was decided here it is known. */
function findEnding({ key, listed }: AskingRow): void {
  const state = givenAnswers.peek().get(key)?.state;
  if (state !== 'counted' && state !== 'sending') learnEnding(key, listed.runId, listed.interrupt.id);
}

function filterParts({ search, kind, agent, policy, group }: InboxView): readonly string[] {
  return [search, kind, agent, policy, group];
}

function isWaitingRow({ goneAt }: AskingRow): boolean {
  return goneAt === undefined;
}

function toggled(selection: ReadonlySet<string>, key: string, isSelected: boolean): ReadonlySet<string> {
  const next = new Set(selection);
  if (isSelected) next.add(key);
  else next.delete(key);
  return next;
}

function heightOf(line: InboxLine): number {
  return 'row' in line ? rowHeight : headingHeight;
}

function keyOfLine(line: InboxLine): string {
  return 'row' in line ? line.row.key : `group ${line.heading}`;
}

function withItem(query: URLSearchParams, item: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set('item', item);
  return next;
}
