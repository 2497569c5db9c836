import { defined } from '../../contract/defined';
import { textOfJson } from './content';
import type { AguiEvent, AguiMessage } from './events';
import type { ToolMessage } from './input';

/** What the client says of a call, as a text. */
export function textGiven({ content }: ToolMessage): string {
  return typeof content === 'string' ? content : textOfJson(content);
}

export function toolMessageOf(message: ToolMessage): AguiMessage {
  const { toolCallId, error } = message;
  return { id: idOf(message), role: 'tool', toolCallId, content: textGiven(message), ...defined({ error }) };
}

export function resultEventOf(message: ToolMessage): AguiEvent {
  const { toolCallId, error = '' } = message;
  const content = textGiven(message);
  return { type: 'TOOL_CALL_RESULT', messageId: idOf(message), toolCallId, content: content === '' ? error : content, role: 'tool' };
}

function idOf({ id, toolCallId }: ToolMessage): string {
  return id === '' ? toolCallId : id;
}
