import { useRef } from 'preact/hooks';
import { isWide } from '../data/screen';
import { leaveForm } from '../decide/drafts';
import { focusDecision, focusRow } from '../decide/focus';
import { decisionKeys, isAsking } from '../decide/decide';
import type { AskingRow } from '../decide/row';
import type { KeyActions } from '../parts/keyboard';
import { movingKeys } from '../parts/keyboard';
import { hidePart, route, showPart } from '../routes';
import { viewOf } from './rows';

export type RowChoice = ReturnType<typeof useChoice>;

/** Defaults to the first waiting row if list and detail fit beside each other. */
export function useChoice(shown: readonly AskingRow[], item: string) {
  const chosenBefore = useRef('');
  const chosenAt = (named: string, isRoomy: boolean): AskingRow | undefined => {
    const found = shown.find(({ key }) => key === named);
    if (found !== undefined || named !== '' || !isRoomy) return found;
    return shown.find(({ key }) => key === chosenBefore.current) ?? shown.find(isAsking) ?? shown[0];
  };
  const chosen = chosenAt(item, isWide.value);
  chosenBefore.current = chosen?.key ?? '';
  // The current row may be newer than the drawn row.
  const chosenNow = (): AskingRow | undefined => chosenAt(viewOf(route.peek().query).item, isWide.peek());
  const choose = (key: string | undefined): void => {
    if (key === undefined) return hidePart({ item: undefined });
    showPart({ item: key });
    focusRow(key);
  };
  const indexNow = (): number => shown.findIndex(({ key }) => key === chosenNow()?.key);
  const move = (step: number): void => {
    const next = shown[Math.min(shown.length - 1, Math.max(0, indexNow() + step))];
    if (next !== undefined) choose(next.key);
  };
  const goOn = (): void => {
    const from = indexNow();
    const next = [...shown.slice(from + 1), ...shown.slice(0, Math.max(0, from)).reverse()].find(isAsking);
    choose(isWide.value ? next?.key : undefined);
  };
  const keys: KeyActions = {
    ...decisionKeys({ chosen: chosenNow, onGiven: goOn }),
    ...movingKeys(move),
    Enter: () => {
      const row = chosenNow() ?? shown[0];
      if (row === undefined) return;
      showPart({ item: row.key });
      focusDecision(row.key);
    },
    Escape: () => {
      const row = chosenNow();
      if (row === undefined) return;
      if (!leaveForm(row.key) && !isWide.peek()) hidePart({ item: undefined });
      focusRow(row.key);
    },
  };
  return { chosen, chosenNow, choose, goOn, keys };
}
