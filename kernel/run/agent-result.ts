import type { Json, Part, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { textOf, textOfJson } from '../../contract/messages/messages';

export interface AgentResult {
  readonly output: Json;
  readonly text: string;
  /** External calls without an answer, with which the agent ends. */
  readonly pendingToolCalls?: readonly ToolCall[];
}

export function resultOf(message: StoredMessage | undefined): AgentResult {
  const part = message?.parts[0];
  if (part?.type !== 'tool-result') return { output: '', text: '' };
  const { output } = part;
  if (part.multipart === true) return { output, text: textOf({ role: 'tool', parts: output as unknown as readonly Part[] }) };
  return { output, text: textOfJson(output) };
}
