import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import type { GivenAnswerState } from '../data/decisions';
import { identity } from '../data/identity';
import type { InterruptEnding } from '../data/outcomes';
import { visibleText } from '../parts/plain-text';
import { decideTexts } from '../texts/decide';
import { kindOf } from './decide';
import type { AskingRow } from './row';

/** Undefined: the row waits. */
export function stateText(
  row: AskingRow,
  given: GivenAnswerState | undefined,
  ending: InterruptEnding | undefined,
): { readonly text: string; readonly kind: 'good' | 'bad' | 'calm' } | undefined {
  const isOther = ending !== undefined && given?.state !== 'counted';
  if (isOther) return { text: endingText(row.listed.interrupt, ending), kind: 'calm' };
  if (given?.state === 'counted') return { text: decideTexts.counted(given.words), kind: 'good' };
  if (given?.state === 'held' || given?.state === 'sending') return { text: decideTexts.sending(given.words), kind: 'calm' };
  if (row.goneAt !== undefined) return { text: decideTexts.gone.unknown, kind: 'calm' };
  if (given?.state === 'refused') return { text: decideTexts.refused, kind: 'bad' };
  return undefined;
}

export function endingText(interrupt: Interrupt, { answer, by, reason }: InterruptEnding): string {
  if (reason !== 'answer') return decideTexts.gone[reason];
  const who = by === undefined ? decideTexts.somebody : by === identity.value.name ? decideTexts.you : visibleText(by);
  if (isRecord(answer) && answer['type'] === 'apply-policy') return decideTexts.gone['apply-policy'](who);
  return decideTexts.gone[kindOf(answer, interrupt)](who);
}
