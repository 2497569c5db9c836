import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { answeredBefore, expired, withdrawn } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import { answerInWords, isAskedInWords } from './asked';
import type { GivenApproval, GivenResult } from './request';

type InterruptEnd = Extract<RunEvent, { type: 'interrupt-end' }>;

/** What was asked in a log, and how it ended. */
export interface AskedInLog {
  readonly interrupt: Interrupt;
  /** Where it began. A response is named by this. */
  readonly offset: number;
  readonly end?: InterruptEnd;
}

/** An answer, and whether it still has to be given. */
export interface PlannedAnswer {
  readonly asked: AskedInLog;
  readonly answer: Json;
}

export function askedIn(log: readonly RunEvent[]): readonly AskedInLog[] {
  const asked = new Map<string, AskedInLog>();
  for (const event of log) {
    if (event.type === 'interrupt-start') asked.set(event.interrupt.id, { interrupt: event.interrupt, offset: event.offset });
    const known = event.type === 'interrupt-end' ? asked.get(event.interruptId) : undefined;
    if (known !== undefined && event.type === 'interrupt-end') asked.set(event.interruptId, { ...known, end: event });
  }
  return [...asked.values()];
}

/** Throws for what nobody asks, and for what has another answer. The same answer again is harmless. */
export function answersTo(
  asked: readonly AskedInLog[],
  { approvals, results }: { readonly approvals: readonly GivenApproval[]; readonly results: readonly GivenResult[] },
): readonly PlannedAnswer[] {
  const decisions = approvals.map(({ id, approve, reason }) => {
    const found = asked.find(({ interrupt }) => interrupt.id === id);
    if (found === undefined) throw new HoldfastError('interrupt-unknown', `The conversation asks for no approval "${id}".`);
    if (found.interrupt.kind !== 'approval')
      throw new HoldfastError('answer-invalid', `"${id}" is not an approval. Answer it with a message, or with the result of its call.`);
    const answer: Json = approve
      ? { type: 'approve', ...defined({ comment: reason }) }
      : { type: 'reject', ...defined({ feedback: reason }) };
    return plannedAnswer(found, answer);
  });
  const outputs = results.map(({ callId, output }) => {
    const calls = asked.filter(({ interrupt }) => externalCallIn(interrupt)?.callId === callId);
    const found = calls.find(({ end }) => end === undefined) ?? calls.at(-1);
    if (found === undefined) throw new HoldfastError('interrupt-unknown', `The conversation waits for no result of the call "${callId}".`);
    return plannedAnswer(found, { output });
  });
  return oneOfEach([...decisions, ...outputs]);
}

/** All is looked at before the first answer is given. */
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
  const { interrupt, end } = asked;
  if (end === undefined) return { asked, answer };
  if (end.reason === 'deadline') throw new HoldfastError('interrupt-expired', expired(interrupt.id).message);
  if (end.reason === 'cancel') throw new HoldfastError('interrupt-withdrawn', withdrawn(interrupt.id).message);
  if (end.reason !== 'answer' || canonicalJson(end.answer) !== canonicalJson(answer))
    throw new HoldfastError('interrupt-answered', answeredBefore(interrupt.id).message);
  return { asked, answer };
}

/**
 * What a message says to the question that the response before asks, or said before. Undefined: it is a message for the next turn. To what another
 * response asks it says nothing: whoever sends it has not seen that.
 */
export function answerInMessage(
  asked: readonly AskedInLog[],
  { text, open }: { /** Undefined: it is not a text alone. */ readonly text: string | undefined; readonly open: readonly string[] },
): PlannedAnswer | undefined {
  const last = asked.filter(({ interrupt }) => isAskedInWords(interrupt)).at(-1);
  if (last?.end?.reason === 'answer' && text !== undefined) {
    const given = answerInWords(last.interrupt, text);
    if ('answer' in given && canonicalJson(given.answer) === canonicalJson(last.end.answer)) return { asked: last, answer: given.answer };
  }
  if (open.length === 0) return undefined;
  const only = asked.find(({ interrupt }) => interrupt.id === open[0]);
  if (open.length > 1 || only === undefined || !isAskedInWords(only.interrupt)) {
    const ids = open.map((id) => `"${id}"`).join(', ');
    throw new HoldfastError('interrupts-open', `The conversation waits for an answer to ${ids}, and takes no message before.`);
  }
  const given = text === undefined ? { misfit: 'it has to be a text' } : answerInWords(only.interrupt, text);
  if ('misfit' in given) throw new HoldfastError('answer-invalid', `The answer to "${only.interrupt.id}" does not fit: ${given.misfit}.`);
  return { asked: only, answer: given.answer };
}
