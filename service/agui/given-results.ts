import { defined } from '../../contract/defined';
import { textOfJson } from '../projection/content';
import type { AguiEvent, AguiMessage } from './events';
import type { RunAgentInput, ToolMessage } from './input';

export function textGiven({ content }: ToolMessage): string {
  if (typeof content === 'string') return content;
  return content.every((part) => part.type === 'text') ? content.map(({ text }) => text).join('\n') : textOfJson(content);
}

/** Keeps the client's ids for results: a client would move a result with another id to the end. */
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
