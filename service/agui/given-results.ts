import { defined } from '../../contract/defined';
import { textOfJson } from './content';
import type { AguiEvent, AguiMessage } from './events';
import type { RunAgentInput, ToolMessage } from './input';

/** What the client says of a call, as a text. */
export function textGiven({ content }: ToolMessage): string {
  if (typeof content === 'string') return content;
  return content.every((part) => part.type === 'text') ? content.map(({ text }) => text).join('\n') : textOfJson(content);
}

/**
 * The messages of the log, and results that the client has given under its ids for them: under others they would move behind all that it shows. Nothing
 * else of what it posts counts.
 */
export function withIdsOf(posted: RunAgentInput['messages'], messages: readonly AguiMessage[]): readonly AguiMessage[] {
  const ids = new Map(
    posted.flatMap(({ role, toolCallId, id }) => (role === 'tool' && isId(toolCallId) && isId(id) ? [[toolCallId, id]] : [])),
  );
  const taken = new Set(messages.map(({ id }) => id));
  return messages.map((message): AguiMessage => {
    const id = message.role === 'tool' ? ids.get(message.toolCallId) : undefined;
    if (id === undefined || taken.has(id)) return message;
    taken.add(id);
    return { ...message, id };
  });
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
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
