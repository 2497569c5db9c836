import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import { misfitOf } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { textOfJson } from '../projection/content';
import { externalCallIn } from '../../contract/external-calls';

/** A client that knows only texts shows a question in words, and its user's next message is the answer. */
export function isAskedInWords(interrupt: Interrupt): interrupt is Exclude<Interrupt, { kind: 'approval' }> {
  return interrupt.kind !== 'approval' && externalCallIn(interrupt) === undefined;
}

export function wordsOf({ kind, info, answerSchema }: Exclude<Interrupt, { kind: 'approval' }>): string {
  const asked = isRecord(info) ? info['question'] : undefined;
  const details = isRecord(info) ? info['details'] : undefined;
  const question = typeof asked === 'string' ? [asked, ...(typeof details === 'string' ? [details] : [])].join('\n\n') : textOfJson(info);
  if (kind === 'in-doubt') return `${question}\n\nAnswer {"happened": false}, or {"happened": true, "result": …}.`;
  if (!isRecord(answerSchema)) return question;
  const { type, enum: choices } = answerSchema;
  if (Array.isArray(choices)) return `${question}\n\nAnswer one of: ${choices.map((choice) => textOfJson(choice as Json)).join(', ')}.`;
  return type === 'string' ? question : `${question}\n\nAnswer with JSON that fits: ${JSON.stringify(answerSchema)}`;
}

export function answerInWords(interrupt: Interrupt, text: string): { readonly answer: Json } | { readonly misfit: string } {
  const misfit = misfitOf(interrupt, text);
  if (misfit === undefined) return { answer: text };
  try {
    const answer = JSON.parse(text) as Json;
    if (misfitOf(interrupt, answer) === undefined) return { answer };
  } catch {
    // The text is not JSON.
  }
  return { misfit };
}
