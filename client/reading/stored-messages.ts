import type { ConversationCommand, QueuedMessage } from '../../contract/conversations';
import { commandProblem, messageOfSent } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import type { RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import type { StoredSignals } from './stored-signals';

export async function messagesIn(signals: StoredSignals): Promise<readonly QueuedMessage[]> {
  const sent = await signals.read();
  return sent.flatMap(({ value }) => (commandProblem(value) === undefined ? messagesOf(value as ConversationCommand) : []));
}

function messagesOf(command: ConversationCommand): readonly QueuedMessage[] {
  if (command.type !== 'send') return [];
  return command.messages.map((sent) => ({ id: sent.id, mode: sent.mode, message: messageOfSent(sent), ...defined({ by: sent.by }) }));
}

/** Stored messages wait in the queue, too. */
export function withStored(view: RunView, stored: readonly QueuedMessage[]): RunView {
  const { conversation, status } = view;
  if (conversation === undefined || stored.length === 0 || isEnded(status)) return view;
  const waiting = new Map([...stored, ...conversation.queue].map((message) => [message.id, message]));
  const order = [...new Set([...conversation.queue, ...stored].map(({ id }) => id))];
  return { ...view, conversation: { ...conversation, queue: order.map((id) => waiting.get(id) as QueuedMessage) } };
}
