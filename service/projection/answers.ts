import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { answeredBefore, expired, withdrawn } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';

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

/** Accepts only the answer that ended the interrupt. */
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
