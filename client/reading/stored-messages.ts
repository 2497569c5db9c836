import type { LoadedDataConverter } from '@temporalio/common';
import type { ConversationCommand, QueuedMessage } from '../../contract/conversations';
import { commandProblem, messageOfSent } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import type { RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import { names } from '../../contract/names';
import type { FactEvent } from '../../host/history/history-facts';
import { PayloadReader } from '../../host/history/payload-reader';

/** Messages that stand in a history as signals and that no worker has taken yet. */
export class StoredMessages {
  private signals: FactEvent['workflowExecutionSignaledEventAttributes'][] = [];

  constructor(private readonly converter: LoadedDataConverter) {}

  add(event: FactEvent): void {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === names.conversationSignal) this.signals.push(signal);
    else if (event.workflowTaskCompletedEventAttributes) this.signals = [];
  }

  async read(): Promise<readonly QueuedMessage[]> {
    const messages: QueuedMessage[] = [];
    for (const signal of this.signals) {
      const [payload] = signal?.input?.payloads ?? [];
      const command = payload === undefined ? undefined : await new PayloadReader(this.converter).value(payload).catch(() => undefined);
      if (commandProblem(command) === undefined) messages.push(...messagesOf(command as ConversationCommand));
    }
    return messages;
  }
}

function messagesOf(command: ConversationCommand): readonly QueuedMessage[] {
  if (command.type !== 'send') return [];
  return command.messages.map((sent) => ({ id: sent.id, mode: sent.mode, message: messageOfSent(sent), ...defined({ by: sent.by }) }));
}

/** A message that the run takes as soon as a worker looks waits as well. */
export function withStored(view: RunView, stored: readonly QueuedMessage[]): RunView {
  const { conversation, status } = view;
  if (conversation === undefined || stored.length === 0 || isEnded(status)) return view;
  const waiting = new Map([...stored, ...conversation.queue].map((message) => [message.id, message]));
  const order = [...new Set([...conversation.queue, ...stored].map(({ id }) => id))];
  return { ...view, conversation: { ...conversation, queue: order.map((id) => waiting.get(id) as QueuedMessage) } };
}
