import { HoldfastError } from '../../contract/errors';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import type { AskedInLog } from '../projection/answers';
import { decisionOf, refuseOtherAnswer, takesNoMessage } from '../projection/answers';
import { answerInWords, isAskedInWords } from './asked';
import type { GivenApproval, GivenResult } from './request';

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
