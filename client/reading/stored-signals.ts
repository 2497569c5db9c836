import type { FactEvent } from '../../host/history/history-facts';
import { millisecondsOf } from '../../host/history/history-facts';
import type { PayloadReader } from '../../host/history/payload-reader';
import { authorOf } from '../../contract/author';
import type { RunView } from '../../contract/events';
import { isTime } from '../../contract/given-time';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { latenessOf, refusalOf } from '../../contract/interrupts';
import type { ConversationCommand, QueuedMessage } from '../../contract/conversations';
import { commandProblem, messageOfSent } from '../../contract/conversations';
import { isEnded } from '../../contract/events';

/** Signals that no workflow task has taken, decoded only by `read`. */
export class StoredSignals {
  private events: FactEvent[] = [];

  constructor(
    private readonly name: string,
    private readonly payloads: PayloadReader,
  ) {}

  add(event: FactEvent): void {
    if (event.workflowExecutionSignaledEventAttributes?.signalName === this.name) this.events.push(event);
    // A workflow task sees all signals before the task; later signals are written after it.
    else if (event.workflowTaskCompletedEventAttributes || event.workflowExecutionStartedEventAttributes) this.events = [];
  }

  read(): Promise<readonly { readonly at: number; readonly value: unknown }[]> {
    return Promise.all(
      this.events.map(async ({ eventTime, workflowExecutionSignaledEventAttributes: signal }) => {
        const [payload] = signal?.input?.payloads ?? [];
        const value = payload == null ? undefined : await this.payloads.value(payload).catch(() => undefined);
        return { at: millisecondsOf(eventTime), value };
      }),
    );
  }
}

export type TimedAnswer = Answer & { readonly at: number };

export async function answersIn(signals: StoredSignals): Promise<readonly TimedAnswer[]> {
  const sent = await signals.read();
  return sent.flatMap(({ at, value }) => (isAnswer(value) ? [{ ...value, at: isTime(value.at) ? value.at : at }] : []));
}

export function counts(interrupt: Interrupt, answer: TimedAnswer): boolean {
  return (
    answer.interruptId === interrupt.id &&
    latenessOf(interrupt, answer.at) === undefined &&
    refusalOf(interrupt, answer, answer.at) === undefined
  );
}

export function withoutAnswered(view: RunView, stored: readonly TimedAnswer[]): RunView {
  if (stored.length === 0) return view;
  const isOpen = (interrupt: Interrupt): boolean => !stored.some((answer) => counts(interrupt, answer));
  return { ...view, interrupts: view.interrupts.filter(isOpen) };
}

function isAnswer(sent: unknown): sent is Answer {
  const { interruptId, answer } = (sent ?? {}) as Partial<Record<keyof Answer, unknown>>;
  return typeof interruptId === 'string' && answer !== undefined;
}

export async function messagesIn(signals: StoredSignals): Promise<readonly QueuedMessage[]> {
  const sent = await signals.read();
  return sent.flatMap(({ value }) => (commandProblem(value) === undefined ? messagesOf(value as ConversationCommand) : []));
}

function messagesOf(command: ConversationCommand): readonly QueuedMessage[] {
  if (command.type !== 'send') return [];
  return command.messages.map((sent) => ({ id: sent.id, mode: sent.mode, message: messageOfSent(sent), ...authorOf(sent) }));
}

/** Stored messages wait in the queue, too. */
export function withStored(view: RunView, stored: readonly QueuedMessage[]): RunView {
  const { conversation, status } = view;
  if (conversation === undefined || stored.length === 0 || isEnded(status)) return view;
  const waiting = new Map([...stored, ...conversation.queue].map((message) => [message.id, message]));
  const order = [...new Set([...conversation.queue, ...stored].map(({ id }) => id))];
  return { ...view, conversation: { ...conversation, queue: order.map((id) => waiting.get(id) as QueuedMessage) } };
}
