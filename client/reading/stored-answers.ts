import type { RunView } from '../../contract/events';
import { isTime } from '../../contract/given-time';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { latenessOf, refusalOf } from '../../contract/interrupts';
import type { StoredSignals } from './stored-signals';

export type TimedAnswer = Answer & { readonly at: number };

export async function answersIn(signals: StoredSignals): Promise<readonly TimedAnswer[]> {
  const sent = await signals.read();
  return sent.flatMap(({ at, value }) => (isAnswer(value) ? [{ ...value, at: isTime(value.at) ? value.at : at }] : []));
}

export function counts(interrupt: Interrupt, answer: TimedAnswer): boolean {
  return (
    answer.interruptId === interrupt.id &&
    latenessOf(interrupt, answer.at) === undefined &&
    refusalOf(interrupt, answer, answer.at) === undefined
  );
}

export function withoutAnswered(view: RunView, stored: readonly TimedAnswer[]): RunView {
  if (stored.length === 0) return view;
  const isOpen = (interrupt: Interrupt): boolean => !stored.some((answer) => counts(interrupt, answer));
  return { ...view, interrupts: view.interrupts.filter(isOpen) };
}

function isAnswer(sent: unknown): sent is Answer {
  const { interruptId, answer } = (sent ?? {}) as Partial<Record<keyof Answer, unknown>>;
  return typeof interruptId === 'string' && answer !== undefined;
}
