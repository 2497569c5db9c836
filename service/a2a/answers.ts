import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { misfitOf } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import { externalCallIn } from '../../contract/external-calls';
import { decisionIn } from '../projection/answers';
import type { GivenMessage } from './request';

export interface GivenPayload {
  readonly interruptId?: string;
  readonly payload: Json;
  readonly inputHash?: string;
}

/** The answer of a data part is its member `answer`, or else all members. */
export function payloadsIn({ parts }: Pick<GivenMessage, 'parts'>): readonly GivenPayload[] {
  return parts.flatMap(({ data }): readonly GivenPayload[] => {
    if (data === undefined) return [];
    if (!isRecord(data)) return [{ payload: data }];
    const { interruptId, inputHash, ...rest } = data;
    if (interruptId !== undefined && typeof interruptId !== 'string')
      throw new HoldfastError('answer-invalid', `\`interruptId\` must be a string. It is ${shown(interruptId)}.`);
    const payload = 'answer' in rest ? (rest['answer'] as Json) : rest;
    return [{ payload, ...defined({ interruptId, inputHash: typeof inputHash === 'string' ? inputHash : undefined }) }];
  });
}

export function answerIn(interrupt: Interrupt, payload: Json): Json {
  const { id, kind } = interrupt;
  if (kind === 'approval') return decisionIn(id, payload);
  if (externalCallIn(interrupt) !== undefined && !(isRecord(payload) && 'output' in payload !== 'error' in payload))
    throw new HoldfastError('answer-invalid', `The answer to "${id}" must have either \`output\` or \`error\`.`);
  return payload;
}

const yes: ReadonlySet<string> = new Set(['yes', 'y', 'ok', 'okay', 'approve', 'approved', 'accept', 'confirm']);
const no: ReadonlySet<string> = new Set(['no', 'n', 'reject', 'rejected', 'deny', 'denied', 'decline']);

/** Undefined: the text is unclear. */
export function answerInWords(interrupt: Interrupt, text: string): Json | undefined {
  const said = text.trim();
  if (interrupt.kind === 'approval') {
    const word = said.toLowerCase().replace(/[.!]+$/, '');
    if (yes.has(word)) return { type: 'approve' };
    return no.has(word) ? { type: 'reject' } : undefined;
  }
  if (interrupt.kind !== 'question' || said === '') return undefined;
  return misfitOf(interrupt, said) === undefined ? said : undefined;
}

export function textIn({ parts }: Pick<GivenMessage, 'parts'>): string {
  return parts.flatMap(({ text }) => text ?? []).join('\n');
}
