import { isRecord } from './check';
import type { Interrupt } from './interrupts';
import type { Json } from './messages/messages';

export interface ExternalCall {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
}

export type ExternalCallAnswer = { readonly output: Json } | { readonly error: string };

/** Exactly one field; a misfit names the wrong field. */
export const externalAnswerSchema: Json = {
  type: 'object',
  properties: { output: {}, error: { type: 'string' } },
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
};

export function externalCallIn(interrupt: Interrupt): ExternalCall | undefined {
  if (interrupt.kind !== 'custom' || !isRecord(interrupt.info)) return undefined;
  const { externalCall } = interrupt.info as { readonly externalCall?: Json };
  if (!isRecord(externalCall)) return undefined;
  const { tool, callId, input } = externalCall as Readonly<Record<string, Json>>;
  return typeof tool === 'string' && typeof callId === 'string' ? { tool, callId, input: input ?? null } : undefined;
}
