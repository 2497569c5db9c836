import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { answeredBefore, expired, withdrawn } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { isRecord } from '../../contract/check';
import { textOfJson } from './content';

export type InterruptEndEvent = Extract<RunEvent, { type: 'interrupt-end' }>;

export interface AskedInLog {
  readonly interrupt: Interrupt;
  readonly offset: number;
  readonly end?: InterruptEndEvent;
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

export function refuseOtherAnswer({ interruptId: id, reason, answer }: InterruptEndEvent, given: () => Json): void {
  if (reason === 'deadline') throw new HoldfastError('interrupt-expired', expired(id).message);
  if (reason === 'cancel') throw new HoldfastError('interrupt-withdrawn', withdrawn(id).message);
  if (canonicalJson(answer) !== canonicalJson(given())) throw new HoldfastError('interrupt-answered', answeredBefore(id).message);
}

export function decisionOf(approved: boolean, text: string | undefined, editedInput?: Json): Json {
  return approved ? { type: 'approve', ...defined({ editedInput, comment: text }) } : { type: 'reject', ...defined({ feedback: text }) };
}

/** Ignores errors with these codes. */
export function unless(...codes: readonly ErrorCode[]): (error: unknown) => void {
  return (error) => {
    const code = codeOf(error);
    if (code === undefined || !codes.includes(code)) throw error;
  };
}

export function takesNoMessage(who: string, interruptIds: readonly string[]): HoldfastError {
  return new HoldfastError('interrupts-open', `${who} waits for an answer to ${quoted(interruptIds)}, and takes no message before.`);
}

export function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(', ');
}

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
