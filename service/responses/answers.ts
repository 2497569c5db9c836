import { HoldfastError } from '../../contract/errors';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import type { AskedInLog } from '../projection/answers';
import { decisionOf, refuseOtherAnswer, takesNoMessage } from '../projection/answers';
import type { GivenApproval, GivenResult } from './request';
import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import { misfitOf } from '../../contract/interrupts';
import { textOfJson } from '../projection/content';

export interface PlannedAnswer {
  readonly asked: AskedInLog;
  readonly answer: Json;
}

/** Throws for unknown interrupts and changed answers. A repeated answer has no effect. */
export function answersTo(
  asked: readonly AskedInLog[],
  { approvals, results }: { readonly approvals: readonly GivenApproval[]; readonly results: readonly GivenResult[] },
): readonly PlannedAnswer[] {
  const decisions = approvals.map(({ id, approve, reason }) => {
    const found = asked.find(({ interrupt }) => interrupt.id === id);
    if (found === undefined) throw new HoldfastError('interrupt-unknown', `The conversation asks for no approval "${id}".`);
    if (found.interrupt.kind !== 'approval')
      throw new HoldfastError('answer-invalid', `"${id}" is not an approval. Answer it with a message, or with the result of its call.`);
    return plannedAnswer(found, decisionOf(approve, reason));
  });
  const outputs = results.map(({ callId, output }) => {
    const calls = asked.filter(({ interrupt }) => externalCallIn(interrupt)?.callId === callId);
    const found = calls.find(({ end }) => end === undefined) ?? calls.at(-1);
    if (found === undefined) throw new HoldfastError('interrupt-unknown', `The conversation waits for no result of the call "${callId}".`);
    return plannedAnswer(found, { output });
  });
  return oneOfEach([...decisions, ...outputs]);
}

function oneOfEach(answers: readonly PlannedAnswer[]): readonly PlannedAnswer[] {
  const byId = new Map<string, PlannedAnswer>();
  for (const planned of answers) {
    const { id } = planned.asked.interrupt;
    const known = byId.get(id);
    if (known !== undefined && canonicalJson(known.answer) !== canonicalJson(planned.answer))
      throw new HoldfastError('answer-invalid', `The input has two answers to "${id}".`);
    byId.set(id, planned);
  }
  return [...byId.values()];
}

function plannedAnswer(asked: AskedInLog, answer: Json): PlannedAnswer {
  if (asked.end !== undefined) refuseOtherAnswer(asked.end, () => answer);
  return { asked, answer };
}

/** A message may answer the earlier response's question, now or in an earlier request. Undefined: the message is for the next turn. */
export function answerInMessage(
  asked: readonly AskedInLog[],
  { text, open }: { readonly text: string | undefined; readonly open: readonly string[] },
): PlannedAnswer | undefined {
  const last = asked.filter(({ interrupt }) => isAskedInWords(interrupt)).at(-1);
  if (last?.end?.reason === 'answer' && text !== undefined) {
    const given = answerInWords(last.interrupt, text);
    if ('answer' in given && canonicalJson(given.answer) === canonicalJson(last.end.answer)) return { asked: last, answer: given.answer };
  }
  if (open.length === 0) return undefined;
  const only = asked.find(({ interrupt }) => interrupt.id === open[0]);
  if (open.length > 1 || only === undefined || !isAskedInWords(only.interrupt)) throw takesNoMessage('The conversation', open);
  const given = text === undefined ? { misfit: 'it has to be a text' } : answerInWords(only.interrupt, text);
  if ('misfit' in given) throw new HoldfastError('answer-invalid', `The answer to "${only.interrupt.id}" does not fit: ${given.misfit}.`);
  return { asked: only, answer: given.answer };
}

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
