import { HoldfastError } from '../../contract/errors';
import type { Message, ToolCall } from '../../contract/messages/messages';
import { toolCallsOf } from '../../contract/messages/messages';
import type { AgentScope } from '../run/scope';

export function pendingCallsOf(messages: readonly Message[]): readonly ToolCall[] {
  const answered: string[] = [];
  for (let position = messages.length - 1; position >= 0; position--) {
    const { role, parts } = messages[position] as Message;
    if (role === 'assistant') return unanswered(toolCallsOf({ role, parts }), answered);
    if (role !== 'tool') return [];
    for (const part of parts) if (part.type === 'tool-result') answered.push(part.callId);
  }
  return [];
}

/** Provider ids repeat: each result answers one call. */
function unanswered(calls: readonly ToolCall[], answered: readonly string[]): readonly ToolCall[] {
  const left = [...answered];
  return calls.filter(({ id }) => {
    const found = left.indexOf(id);
    if (found !== -1) left.splice(found, 1);
    return found === -1;
  });
}

/** Providers refuse unanswered calls. */
export function refusePendingCalls({ path, record }: AgentScope, messages: readonly Message[]): void {
  if (record.turn !== 1 || path.length > 1) return;
  const pending = pendingCallsOf(messages);
  if (pending.length === 0) return;
  const calls = pending.map(({ id, name }) => `'${name}' (${id})`).join(', ');
  throw new HoldfastError(
    'input-invalid',
    `The messages end in calls of tools that have no result: ${calls}. Start with runPendingToolCalls: true to run them first, or put their results behind them.`,
  );
}
