import { useMemo, useRef, useState } from 'preact/hooks';
import type { ListedInterrupt } from '../../http/index';
import { now } from '../data/clock';
import { givenAnswers } from '../data/decisions';
import { useInbox } from '../data/inbox';
import { learnEnding } from '../data/outcomes';
import { RowBoard } from '../decide/board';
import type { AskingRow } from '../decide/row';
import { route } from '../routes';
import type { InboxLine, InboxView } from './rows';
import { fitsView, linesOf, viewOf } from './rows';

export interface InboxRows {
  readonly listed: readonly ListedInterrupt[] | undefined;
  readonly more: boolean;
  readonly error: unknown;
  readonly rows: readonly AskingRow[];
  /** The rows that fit the filters, with the headings of groups, and without. */
  readonly lines: readonly InboxLine[];
  readonly shown: readonly AskingRow[];
  readonly hold: (isInside: boolean) => void;
}

export function useRows(view: InboxView): InboxRows {
  const { key, value: found, error } = useInbox(view.isForAll);
  const [isHeld, hold] = useHold();
  const board = useMemo(() => new RowBoard(findEnding), [key]);
  const hasGone = useRef(false);
  const at = hasGone.current ? now.value : 0;
  const rows = useMemo(() => {
    const how = { sort: view.sort, isHeld, selected: viewOf(route.peek().query).item, at: Date.now() };
    return board.update(found?.interrupts ?? [], how);
  }, [board, found, view.sort, isHeld, at]);
  // Reads the clock only while a settled row waits to disappear, as each second draws the page again.
  hasGone.current = rows.some(({ goneAt }) => goneAt !== undefined) && now.value > 0;
  const { search, kind, agent, policy, group } = view;
  const lines = useMemo(
    () =>
      linesOf(
        rows.filter((row) => fitsView(row, view)),
        group,
      ),
    [rows, search, kind, agent, policy, group],
  );
  const shown = useMemo(() => lines.flatMap((line) => ('row' in line ? [line.row] : [])), [lines]);
  return { listed: found?.interrupts, more: found?.more === true, error, rows, lines, shown, hold };
}

const holdMs = 6_000;

/** Whether a person is about to choose: the pointer has just moved in the list. */
function useHold(): readonly [boolean, (isInside: boolean) => void] {
  const [isHeld, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hold = (isInside: boolean): void => {
    clearTimeout(timer.current);
    setHeld(isInside);
    if (isInside) timer.current = setTimeout(() => setHeld(false), holdMs);
  };
  return [isHeld, hold];
}

/** Asks who settled a row, unless this page did. */
function findEnding({ key, listed }: AskingRow): void {
  const state = givenAnswers.peek().get(key)?.state;
  if (state !== 'counted' && state !== 'sending') learnEnding(key, listed.runId, listed.interrupt.id);
}
