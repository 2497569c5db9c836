import type { Signed } from '../access';
import { authorOf } from '../author';
import type { ConversationView, QueuedMessage } from '../conversations';
import { defined } from '../defined';
import type { EventBody, RunStatus } from '../events';
import { isEnded } from '../events';
import type { Failure } from '../messages/messages';
import type { AgentRunInput } from './wire';

type SavedConversation = Partial<Omit<ConversationView, 'status'>> & { readonly atWork?: true };

export class ConversationRecord {
  private turn = 0;
  private isAtWork = false;
  private paused = false;
  private title: string | undefined;
  private queue: readonly QueuedMessage[] = [];
  private idleUntil: number | undefined;
  private ended: ConversationView['ended'];

  constructor({ start, snapshot }: AgentRunInput) {
    this.title = start.conversation?.title;
    const saved = (snapshot?.state as { conversation?: SavedConversation } | undefined)?.conversation;
    if (saved === undefined) return;
    const { turn = 0, atWork = false, paused = false, title, queue = [], idleUntil, ended } = saved;
    Object.assign(this, { turn, isAtWork: atWork, paused, title, queue: queue.map(shownMessage), idleUntil, ended });
  }

  /** A waiting message soon begins a turn, unless the conversation is paused. */
  get isIdle(): boolean {
    return !this.isAtWork && (this.paused || this.queue.length === 0);
  }

  add(event: EventBody): void {
    switch (event.type) {
      case 'turn-start':
        this.turn = event.turn;
        this.isAtWork = true;
        this.idleUntil = undefined;
        this.title = event.title ?? this.title;
        return;
      case 'turn-end':
        this.isAtWork = false;
        this.idleUntil = event.idleUntil;
        return;
      case 'message':
      case 'message-withdrawn':
        this.queue = this.queue.filter(({ id }) => id !== event.id);
        return;
      case 'message-queued':
        this.queue = [...this.queue, shownMessage(event)];
        return;
      case 'message-changed':
        this.queue = this.queue.map((one) => (one.id === event.id ? { ...one, message: event.message } : one));
        return;
      case 'conversation-change':
        this.change(event);
        return;
      default:
    }
  }

  private change(event: Extract<EventBody, { type: 'conversation-change' }>): void {
    const { change, title, reason } = event;
    if (change === 'titled') this.title = title;
    else if (change === 'ended') this.ended = { reason: reason ?? 'asked', ...authorOf(event) };
    else if (change !== 'stopping') {
      this.paused = change === 'paused';
      this.idleUntil = undefined;
    }
  }

  view(run: { readonly status: RunStatus; readonly error: Failure | undefined; readonly author: Signed }): ConversationView {
    const { turn, paused, title, queue } = this;
    const { status: reason, error, author } = run;
    const ended = reason === 'failed' || reason === 'cancelled' ? { reason, ...author, ...defined({ error }) } : this.ended;
    const status = isEnded(reason) ? 'ended' : this.isIdle ? 'idle' : 'working';
    const idleUntil = status === 'idle' ? this.idleUntil : undefined;
    return { turn, status, paused, queue, ...defined({ title, idleUntil, ended }) };
  }
}

function shownMessage(queued: QueuedMessage): QueuedMessage {
  const { id, mode, message } = queued;
  return { id, mode, message, ...authorOf(queued) };
}
