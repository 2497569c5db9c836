import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { defined } from '../../contract/defined';
import type { Interrupt } from '../../contract/interrupts';
import type { ListedInterrupt, ShownRun } from '../../client/http/index';
import { now } from '../data/clock';
import { keyOfInterrupt } from '../data/interrupt-key';
import { noteEnding } from '../data/outcomes';
import type { RunFeed } from '../data/run-feed';
import { isWide } from '../data/screen';
import { RowBoard } from '../decide/board';
import { leaveForm } from '../decide/drafts';
import { focusDecision } from '../decide/focus';
import { decisionKeys, isAsking } from '../decide/decide';
import type { AskingRow } from '../decide/row';
import type { KeyActions } from '../parts/keyboard';
import { hidePart, route, showPart } from '../routes';
import type { RunSteps } from './steps';

export function useDecisions(log: RunFeed, steps: RunSteps, count: number) {
  const view = log.view.value;
  // A later interrupt must not move the page.
  const [atOpening, setAtOpening] = useState<string | undefined>(undefined);
  const isKnown = view !== undefined;
  useEffect(() => {
    const first = isWide.peek() ? (view?.interrupts[0]?.id ?? '') : '';
    setAtOpening(isKnown ? first : undefined);
  }, [isKnown]);
  const named = (): string => route.peek().query.get('decide') ?? atOpening ?? '';
  void route.value;
  const rows = useRows(view, steps, count, named());
  const rowNow = (): AskingRow | undefined => rows.find(({ listed }) => listed.interrupt.id === named());
  const choose = (interruptId: string): void => {
    showPart({ decide: interruptId, step: undefined, of: undefined });
    focusDecision(keyOfInterrupt(log.id, interruptId));
  };
  const close = (): void => {
    setAtOpening('');
    hidePart({ decide: undefined });
  };
  const goOn = (): void => {
    const next = rows.find((row) => isAsking(row) && row.listed.interrupt.id !== named());
    if (!isWide.peek()) close();
    else if (next !== undefined) choose(next.listed.interrupt.id);
  };
  const move = (step: number): void => {
    const from = rows.findIndex((row) => row === rowNow());
    // A settled row may stand before the first open row for a moment.
    const next = from === -1 ? rows.find(isAsking) : rows[Math.min(rows.length - 1, Math.max(0, from + step))];
    if (next !== undefined) choose(next.listed.interrupt.id);
  };
  const keys: KeyActions = {
    ...decisionKeys({ chosen: rowNow, onGiven: goOn }),
    j: () => move(1),
    k: () => move(-1),
    Escape: () => {
      const row = rowNow();
      if (row === undefined) return;
      if (!leaveForm(row.key)) close();
      document.getElementById('decision')?.focus();
    },
  };
  return { rows, chosen: rowNow(), choose, close, goOn, keys };
}

function useRows(view: ShownRun | undefined, steps: RunSteps, count: number, chosenId: string): readonly AskingRow[] {
  const board = useMemo(() => new RowBoard(() => undefined), [steps]);
  const hasGone = useRef(false);
  const at = hasGone.current ? now.value : 0;
  const rows = useMemo(() => {
    if (view === undefined) return [];
    // The log knows of an answer before the view does.
    const open = view.interrupts.filter(({ id }) => steps.waitOf(id)?.end === undefined);
    const how = { sort: 'oldest', isHeld: false, selected: keyOfInterrupt(view.id, chosenId), at: Date.now() } as const;
    return board.update(
      open.map((interrupt) => listedOf(view, interrupt, steps)),
      how,
    );
  }, [board, view, count, chosenId, at]);
  hasGone.current = rows.some(({ goneAt }) => goneAt !== undefined);
  useEffect(() => {
    for (const { key, listed, goneAt } of rows) {
      const end = goneAt === undefined ? undefined : steps.waitOf(listed.interrupt.id)?.end;
      if (end !== undefined) noteEnding(key, end);
    }
  }, [rows, count]);
  return rows;
}

function listedOf({ id, agent, tags = [], startedBy }: ShownRun, interrupt: Interrupt, steps: RunSteps): ListedInterrupt {
  const since = steps.waitOf(interrupt.id)?.time;
  const waitingSince = since === undefined ? undefined : new Date(since).toISOString();
  return { runId: id, agent, tags, interrupt, ...defined({ startedBy, waitingSince }) };
}
