import { isRecord } from '../../contract/check';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { decisionOf } from './answers';
import { textOfJson } from './content';

export function questionOf(interrupt: Interrupt): string {
  if (interrupt.kind === 'approval') return interrupt.problem ?? `May ${interrupt.tool} be called?`;
  const { info } = interrupt;
  const asked = isRecord(info) ? info['question'] : undefined;
  if (typeof asked === 'string') return asked;
  return textOfJson(info);
}

/** Undefined: any JSON. */
export function answerSchemaOf(interrupt: Interrupt): Json | undefined {
  if (interrupt.kind === 'approval') return approvalSchema(interrupt.inputSchema);
  if (interrupt.kind === 'in-doubt') return inDoubtSchema;
  return isRecord(interrupt.answerSchema) ? interrupt.answerSchema : undefined;
}

function approvalSchema(inputSchema: Json | undefined): Json {
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      editedArgs: isRecord(inputSchema) ? inputSchema : { type: 'object' },
      reason: { type: 'string' },
    },
    required: ['approved'],
  };
}

const inDoubtSchema: Json = { type: 'object', properties: { happened: { type: 'boolean' }, result: {} }, required: ['happened'] };

export function decisionIn(interruptId: string, payload: Json | undefined): Json {
  if (isRecord(payload)) {
    const { type, approved, reason, editedArgs } = payload;
    if (typeof type === 'string' && approved === undefined) return payload;
    const text = typeof reason === 'string' && reason !== '' ? reason : undefined;
    if (typeof approved === 'boolean') return decisionOf(approved, text, editedArgs);
  }
  throw new HoldfastError('answer-invalid', `The payload for "${interruptId}" must have \`approved\`, which is true or false.`);
}
