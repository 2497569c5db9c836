import { z } from 'zod';
import type { Interrupt } from '../../contract/interrupts';
import type { Answerer } from '../../contract/who-may-answer';
import { mayAnswer } from '../../contract/who-may-answer';
import type { UiPart } from './parts';

export interface ShowContext extends Answerer {
  readonly agent: string;
  readonly chat: string;
  readonly tool?: string;
}

export interface AiSdkUiOptions {
  /** Runs for each part. A returned part replaces the part; `false` leaves out the part and all later parts of the call. */
  readonly show?: (part: UiPart, context: ShowContext) => UiPart | false | undefined | void;
}

export const AiSdkUiOptionsSchema = z.strictObject({
  show: z.custom<NonNullable<AiSdkUiOptions['show']>>((value) => typeof value === 'function', 'is no function').optional(),
}) as z.ZodType<AiSdkUiOptions>;

export type Shows = (part: UiPart) => UiPart | undefined;

/**
 * Only people who may answer get a question's details. All readers get a call's state, without which a page would post its decision again
 * and again.
 */
export function showsTo({ show }: AiSdkUiOptions, reader: ShowContext): Shows {
  const tools = new Map<string, string>();
  const hidden = new Set<string>();
  return (part) => {
    if ('toolName' in part) tools.set(part.toolCallId, part.toolName);
    if (part.type === 'data-holdfast-interrupt') {
      const key = `data ${part.id}`;
      if ('kind' in (part.data as object) && !mayAnswer(part.data as unknown as Interrupt, reader, Date.now())) hidden.add(key);
      if (hidden.has(key)) return undefined;
    }
    const call = 'toolCallId' in part ? part.toolCallId : part.type.startsWith('data-holdfast-') && 'id' in part ? part.id : undefined;
    if (call !== undefined && hidden.has(call)) return undefined;
    const tool = tools.get(call ?? '');
    const given = show?.(part, tool === undefined ? reader : { ...reader, tool });
    if (given === false && call !== undefined) hidden.add(call);
    return given === false ? undefined : (given ?? part);
  };
}
