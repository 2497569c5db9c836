import type { Part, Json } from '../../contract/messages/messages';
import { onlyText } from '../projection/content';
import type { GivenMessage } from './request';
import type { A2aPart } from './wire';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { Interrupt } from '../../contract/interrupts';
import { externalCallIn } from '../../contract/external-calls';
import { answerSchemaOf, questionOf } from '../projection/answers';

/** Data becomes its JSON text. */
export function contentOf({ parts }: Pick<GivenMessage, 'parts'>): string | readonly Part[] {
  const read = parts.map((part): Part => {
    if (part.text !== undefined) return { type: 'text', text: part.text };
    const mediaType = part.mediaType ?? 'application/octet-stream';
    if (part.raw !== undefined) return { type: 'file', mediaType, data: part.raw };
    if (part.url !== undefined) return { type: 'file', mediaType, data: { url: part.url } };
    return { type: 'text', text: JSON.stringify(part.data) };
  });
  return onlyText(read) ?? read;
}

export function partsOf(parts: readonly Part[]): readonly A2aPart[] {
  return parts.flatMap((part): readonly A2aPart[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type !== 'file') return [];
    const { mediaType, data } = part;
    return [typeof data === 'string' ? { raw: data, mediaType } : { url: data.url, mediaType }];
  });
}

export function questionParts(interrupts: readonly Interrupt[]): readonly A2aPart[] {
  return [
    { text: interrupts.map(textFor).join('\n') },
    ...interrupts.map((one): A2aPart => ({ data: questionData(one), mediaType: 'application/json' })),
  ];
}

function textFor(interrupt: Interrupt): string {
  const call = externalCallIn(interrupt);
  if (call !== undefined) return `Call ${call.tool}, and answer with what it returns.`;
  const question = questionOf(interrupt);
  return interrupt.kind === 'approval' ? `${question} ${JSON.stringify(interrupt.input)}` : question;
}

function questionData(interrupt: Interrupt): Json {
  const { id: interruptId, kind, deadline, by, roles } = interrupt;
  const expiresAt = deadline === undefined ? undefined : new Date(deadline).toISOString();
  const common = defined({ answerSchema: answerSchemaOf(interrupt), expiresAt, by, roles });
  if (interrupt.kind === 'approval') {
    const { tool, callId, input, inputHash, problem, policy } = interrupt;
    const asked = defined({ problem, policy: policy as Json | undefined });
    return { interruptId, kind, tool, callId, input, inputHash, ...common, ...asked };
  }
  const { info } = interrupt;
  const call = isRecord(info) ? info['externalCall'] : undefined;
  if (externalCallIn(interrupt) === undefined || !isRecord(call)) return { interruptId, kind, info, ...common };
  return { interruptId, kind, ...call, answerSchema: resultSchema, ...common };
}

const resultSchema: Json = {
  type: 'object',
  properties: { output: {}, error: { type: 'string' } },
  oneOf: [{ required: ['output'] }, { required: ['error'] }],
};
