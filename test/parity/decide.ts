import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import type { Decision } from './script';

export interface Answered {
  readonly answer: Json;
  readonly by?: string;
}

export function answerTo(interrupt: Interrupt, decision: Decision): Answered {
  const answer =
    interrupt.kind === 'approval' ? approvalBy(decision) : interrupt.kind === 'in-doubt' ? doubtBy(decision) : said(interrupt, decision);
  return interrupt.by === undefined ? { answer } : { answer, by: decision === 'misfit' ? 'eve' : (interrupt.by[0] ?? '') };
}

function approvalBy(decision: Decision): Json {
  switch (decision) {
    case 'yes':
      return { type: 'approve' };
    case 'always':
      return { type: 'approve', forRestOfRun: true };
    case 'no':
      return { type: 'reject', feedback: 'Not today.' };
    case 'change':
      return { type: 'approve', editedInput: { say: 'changed by a person' } };
    case 'spoil':
      return { type: 'approve', editedInput: { say: 7 } };
    case 'instead':
      return { type: 'respond', output: { instead: 1 } };
    case 'misfit':
      return { type: 'perhaps' };
  }
}

function doubtBy(decision: Decision): Json {
  if (decision === 'misfit') return { happened: 'perhaps' };
  return decision === 'no' ? { happened: false } : { happened: true, result: { done: decision } };
}

function said({ answerSchema }: Extract<Interrupt, { info: Json }>, decision: Decision): Json {
  const { properties } = (answerSchema ?? {}) as { properties?: unknown };
  if (properties !== undefined) return decision === 'misfit' ? { answer: 7 } : { answer: decision };
  switch (decision) {
    case 'misfit':
      return 7;
    case 'yes':
      return true;
    case 'change':
      return { changed: 1 };
    default:
      return decision;
  }
}
