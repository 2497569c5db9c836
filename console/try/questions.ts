import { useEffect, useMemo, useState } from 'preact/hooks';
import { givenAnswers } from '../data/decisions';
import { noteEnding } from '../data/outcomes';
import { leaveForm } from '../decide/drafts';
import { focusDecision } from '../decide/focus';
import { decisionKeys, isAsking } from '../decide/decide';
import type { AskingRow } from '../decide/row';
import { rowOf } from '../decide/row';
import { useKeys } from '../parts/keyboard';
import type { Talk, TalkEntry } from './talk';

type Question = Extract<TalkEntry, { readonly kind: 'question' }>;

export type Questions = ReturnType<typeof useQuestions>;

export function useQuestions(id: string, talk: Talk) {
  const [named, setNamed] = useState('');
  const rows = useMemo(
    () => new Map(talk.entries.flatMap((entry) => (entry.kind === 'question' ? [[entry.key, askingOf(id, entry)] as const] : []))),
    [id, talk],
  );
  useEffect(() => {
    for (const entry of talk.entries) {
      const row = rows.get(entry.key);
      if (entry.kind === 'question' && entry.ending !== undefined && row !== undefined) noteEnding(row.key, entry.ending);
    }
  }, [rows]);
  void givenAnswers.value;
  const all = [...rows.values()];
  const chosen = all.find(({ key, goneAt }) => key === named && goneAt === undefined) ?? all.find(isAsking);
  const choose = (key: string): void => {
    setNamed(key);
    focusDecision(key);
  };
  const goOn = (): void => {
    const next = all.find((row) => isAsking(row) && row.key !== chosen?.key);
    // The last decided question stays, so that the answer can be taken back.
    setNamed((next ?? chosen)?.key ?? '');
  };
  useKeys({
    ...decisionKeys({ chosen: () => chosen, onGiven: goOn }),
    Escape: () => {
      if (chosen !== undefined && leaveForm(chosen.key)) focusDecision(chosen.key);
    },
  });
  return { rows, chosen, choose, goOn };
}

function askingOf(runId: string, { interrupt, since, ending }: Question): AskingRow {
  const row = rowOf({ runId, agent: interrupt.agent, tags: [], interrupt, waitingSince: new Date(since).toISOString() });
  return ending === undefined ? row : { ...row, goneAt: ending.time };
}
