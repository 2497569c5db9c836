import { useMemo, useRef, useState } from 'preact/hooks';
import { now } from '../data/clock';
import { givenAnswers } from '../data/decisions';
import { useInbox } from '../data/inbox';
import { learnEnding } from '../data/outcomes';
import { RowBoard } from '../decide/board';
import type { AskingRow } from '../decide/row';
import { route } from '../routes';
import type { InboxView } from './rows';
import { fitsView, linesOf, viewOf } from './rows';

export type InboxRows = ReturnType<typeof useRows>;

/** `lines` and `shown` fit the filters. `hold` tells of the pointer in the list. */
export function useRows(view: InboxView) {
  const { key, value: found, error } = useInbox(view.isForAll);
  const [isHeld, hold] = useHold();
  const board = useMemo(() => new RowBoard(findEnding), [key]);
  const hasGone = useRef(false);
  const at = hasGone.current ? now.value : 0;
  const rows = useMemo(() => {
    const how = { sort: view.sort, isHeld, selected: viewOf(route.peek().query).item, at: Date.now() };
    return board.update(found?.interrupts ?? [], how);
  }, [board, found, view.sort, isHeld, at]);
  // The clock draws the page each second, so only settled rows read the clock.
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

function findEnding({ key, listed }: AskingRow): void {
  const state = givenAnswers.peek().get(key)?.state;
  if (state !== 'counted' && state !== 'sending') learnEnding(key, listed.runId, listed.interrupt.id);
}
