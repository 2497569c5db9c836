import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';

/** A call of a tool that the client makes itself, while the turn waits for its result. */
export function externalCallIn(interrupt: Interrupt): { readonly tool: string; readonly callId: string } | undefined {
  if (interrupt.kind !== 'custom' || !isRecord(interrupt.info)) return undefined;
  const { externalCall } = interrupt.info as { externalCall?: unknown };
  if (!isRecord(externalCall)) return undefined;
  const { tool, callId } = externalCall;
  return typeof tool === 'string' && typeof callId === 'string' ? { tool, callId } : undefined;
}
