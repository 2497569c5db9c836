import { givenAnswers, takeBackLast } from '../data/decisions';
import type { KeyActions } from '../parts/keyboard';
import { approvalOf, decide, forbiddenTo } from './decide';
import { changeDraft, draftOf } from './drafts';
import type { AskingRow } from './row';

interface DecisionKeys {
  /** A key must not decide about unseen arguments. */
  readonly chosen: () => AskingRow | undefined;
  readonly onGiven: () => void;
}

export function isAsking({ key, goneAt }: AskingRow): boolean {
  const given = givenAnswers.peek().get(key);
  return goneAt === undefined && (given === undefined || given.state === 'refused');
}

export function decisionKeys({ chosen, onGiven }: DecisionKeys): KeyActions {
  const onChosen = (act: (row: AskingRow) => void) => (): void => {
    const row = chosen();
    if (row !== undefined && isAsking(row)) act(row);
  };
  const toMode = (mode: 'edit' | 'reject') =>
    onChosen((row) => {
      if (row.listed.interrupt.kind === 'approval' && isMine(row)) changeDraft(row.key, { mode, problem: undefined });
    });
  return {
    a: onChosen((row) => approveOrAnswer(row, onGiven)),
    e: toMode('edit'),
    r: toMode('reject'),
    u: takeBackLast,
  };
}

function isMine({ listed }: AskingRow): boolean {
  return forbiddenTo(listed.interrupt, Date.now()) === undefined;
}

function approveOrAnswer(row: AskingRow, onGiven: () => void): void {
  const { listed, key } = row;
  const { interrupt } = listed;
  const draft = draftOf(key);
  if (interrupt.kind !== 'approval') document.querySelector<HTMLElement>('#answer-form :is(input, textarea, select)')?.focus();
  else if (isMine(row) && draft.mode === 'look' && (draft.seenHash ?? interrupt.inputHash) === interrupt.inputHash)
    decide(listed, approvalOf(draft, interrupt.input), onGiven);
}
