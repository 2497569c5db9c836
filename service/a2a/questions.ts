import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import { answerSchemaOf, questionOf } from '../projection/questions';
import type { A2aPart } from './wire';

export function questionParts(interrupts: readonly Interrupt[]): readonly A2aPart[] {
  return [{ text: interrupts.map(textFor).join('\n') }, ...interrupts.map(dataPart)];
}

function textFor(interrupt: Interrupt): string {
  const call = externalCallIn(interrupt);
  if (call !== undefined) return `Call ${call.tool}, and answer with what it returns.`;
  const question = questionOf(interrupt);
  return interrupt.kind === 'approval' ? `${question} ${JSON.stringify(interrupt.input)}` : question;
}

function dataPart(interrupt: Interrupt): A2aPart {
  return { data: questionData(interrupt), mediaType: 'application/json' };
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
