import type { Author } from '../../contract/access';
import type { Signed } from '../../contract/access';
import { authorOf, authorWithRoles, isSameAuthor } from '../../contract/author';
import { defined } from '../../contract/defined';
import type {
  ConversationCommand,
  ConversationReply,
  ConversationStart,
  QueuedMessage,
  SendReply,
  SentMessage,
} from '../../contract/conversations';
import { messageOfSent } from '../../contract/conversations';
import { jsonSize, limits } from '../../contract/limits';
import type { ToolSpec } from '../../contract/manifest';
import type { Failure, Json, Usage } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Ports, Timer } from './ports';

type WaitingMessage = QueuedMessage &
  Pick<SentMessage, 'tools' | 'roles'> & {
    readonly version?: number;
    readonly changedBy?: readonly (string | null)[];
    /** The last person who changed the message. Absent: the sender. */
    readonly editor?: Signed;
  };

export interface ConversationState extends Omit<ConversationStart, 'title'> {
  title?: string;
  turn: number;
  atWork?: true;
  /** The turn ended before its agent. */
  isCut?: true;
  queue: readonly WaitingMessage[];
  clientTools?: readonly ToolSpec[];
  /** The turns that took the last messages, by id. 0: withdrawn. */
  taken: readonly (readonly [id: string, turn: number])[];
  paused?: true;
  ended?: Signed & { readonly reason: 'asked' | 'idle' };
  stops?: true;
  idleUntil?: number;
  /** Null for unnamed people. Absent: no turn has begun. */
  writers?: readonly (string | null)[];
  /** The author of the first message of the turn. Absent: the starter of the run. */
  author?: Author;
  usage: Usage;
}

export function freshConversation({ window, idleMs, title, build }: ConversationStart): ConversationState {
  return { turn: 0, window, queue: [], taken: [], usage: { inputTokens: 0, outputTokens: 0 }, ...defined({ idleMs, title, build }) };
}

interface WaitingCode {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer | undefined;
}

export class MessageInbox {
  private waiting: WaitingCode | undefined;
  private closed: { readonly error: unknown } | undefined;
  private isHeld = false;
  private wakesLater = false;
  private readonly sizes = new WeakMap<object, number>();

  constructor(
    readonly state: ConversationState,
    private readonly ports: Ports,
    private readonly unfit: (sent: SentMessage) => Failure | undefined = () => undefined,
    private readonly stopAsking: () => void = () => undefined,
  ) {}

  get isIdle(): boolean {
    return this.waiting !== undefined;
  }

  get mustStop(): boolean {
    const { atWork, stops, queue, paused } = this.state;
    return atWork === true && (stops === true || (paused !== true && queue.some(({ mode }) => mode === 'now')));
  }

  get isReady(): boolean {
    const { paused, queue, ended } = this.state;
    return ended === undefined && paused !== true && queue.length > 0;
  }

  /** False: the conversation is over. */
  async next(): Promise<boolean> {
    while (!this.isReady) {
      if (this.state.ended !== undefined) return false;
      await this.wait();
    }
    return true;
  }

  async room(messages: () => readonly QueuedMessage[]): Promise<void> {
    for (let position = 0; position < messages().length; position++) {
      const room = this.ports.roomFor((messages()[position] as QueuedMessage).message);
      if (room !== undefined) await room;
    }
  }

  get joining(): readonly WaitingMessage[] {
    return this.state.queue.filter(({ mode }) => mode === 'next-step');
  }

  get queued(): readonly WaitingMessage[] {
    return this.state.queue;
  }

  take(messages: readonly WaitingMessage[]): void {
    const { state } = this;
    const writers = messages.flatMap(({ by = null, changedBy = [] }) => [by, ...changedBy]);
    state.writers = [...new Set([...(state.writers ?? []), ...writers])];
    const ids = new Set(messages.map(({ id }) => id));
    state.queue = state.queue.filter(({ id }) => !ids.has(id));
    this.remember([...ids], state.turn);
  }

  private remember(ids: readonly string[], turn: number): void {
    this.state.taken = [...this.state.taken, ...ids.map((id) => [id, turn] as const)].slice(-limits.keptMessageIds);
  }

  rest(): void {
    const { idleMs } = this.state;
    if (idleMs !== undefined) this.state.idleUntil = this.ports.now() + idleMs;
  }

  command(command: ConversationCommand): ConversationReply {
    if (command.type === 'send') return { sent: command.messages.map((message) => this.send(message)) };
    const author = authorOf(command);
    switch (command.type) {
      case 'change':
        return this.change(command.id, command.content, author);
      case 'withdraw':
        return this.withdraw(command.id, author);
      case 'pause':
      case 'unpause':
        return this.pause(command.type === 'pause', author);
      case 'stop':
        return this.stop(author);
      case 'title':
        if (this.state.title === command.title) return {};
        this.state.title = command.title;
        this.ports.emit({ type: 'conversation-change', change: 'titled', title: command.title, ...author });
        return {};
      case 'end':
        return this.end(command.mode, author);
    }
  }

  private send(sent: SentMessage): SendReply {
    const { id, mode, tools } = sent;
    const { state, ports } = this;
    const taken = state.taken.find(([known]) => known === id);
    if (taken !== undefined) return taken[1] === 0 ? { id, refused: withdrawn(id) } : { id, turn: taken[1] };
    const waiting = state.queue.find((one) => one.id === id);
    if (waiting !== undefined) return this.replyTo(waiting);
    const refused = this.refusalOf(sent);
    if (refused !== undefined) return { id, refused };
    const message: WaitingMessage = { id, mode, message: messageOfSent(sent), ...authorWithRoles(sent), ...defined({ tools }) };
    const reply = this.replyTo(message);
    state.queue = [...state.queue, message];
    // For a message taken at once, the turn emits the event.
    if (!this.isIdle || !this.isReady) ports.emit({ type: 'message-queued', id, mode, message: message.message, ...authorOf(message) });
    if (this.isReady) this.wake();
    if (mode === 'now' && this.mustStop) this.stopTurn();
    return reply;
  }

  /** A joining message has no sure turn, because the present turn may have no step left. */
  private replyTo({ id, mode }: QueuedMessage): SendReply {
    const { atWork, turn } = this.state;
    return mode === 'next-step' && atWork === true ? { id, from: this.ports.nextOffset } : { id, turn: turn + 1 };
  }

  private refusalOf(sent: SentMessage): Failure | undefined {
    const { ended, queue } = this.state;
    const unfit = this.unfit(sent);
    if (unfit !== undefined) return unfit;
    if (ended !== undefined || this.closed !== undefined) return conversationEnded;
    if (queue.length >= limits.queuedMessages)
      return { code: 'conversation-full', message: `${queue.length} messages wait for a turn; at most ${limits.queuedMessages} may.` };
    return this.sizeProblem(queue, sent);
  }

  private sizeProblem(beside: readonly WaitingMessage[], { content, tools }: Pick<SentMessage, 'content' | 'tools'>): Failure | undefined {
    const bytes = jsonSize(content);
    if (bytes > limits.runInput)
      return { code: 'input-too-large', message: `The message has ${bytes} bytes; at most ${limits.runInput} fit.` };
    const sum = this.bytesOf(beside) + bytes + jsonSize(tools);
    if (beside.length === 0 || sum <= limits.queuedTogether) return undefined;
    return {
      code: 'conversation-full',
      message: `The messages that wait for a turn would have ${sum} bytes together; at most ${limits.queuedTogether} fit.`,
    };
  }

  /** Cached, because a thousand messages may wait. */
  private bytesOf(queue: readonly WaitingMessage[]): number {
    return queue.reduce((sum, { message, tools }) => {
      const bytes = this.sizes.get(message) ?? jsonSize(message) + jsonSize(tools);
      this.sizes.set(message, bytes);
      return sum + bytes;
    }, 0);
  }

  private change(id: string, content: Json, author: Signed): ConversationReply {
    const before = this.state.queue.find((one) => one.id === id);
    if (before === undefined) return { refused: this.notWaiting(id) };
    const refused = this.sizeProblem(
      this.state.queue.filter((one) => one !== before),
      { content, ...defined({ tools: before.tools }) },
    );
    if (refused !== undefined) return { refused };
    const version = (before.version ?? 0) + 1;
    const message = messageOfSent({ id, content, ...defined({ by: before.by }) }, version);
    if (canonicalJson(before.message.parts) === canonicalJson(message.parts)) return {};
    const { editor: _, ...sent } = before;
    const edited = isSameAuthor(author, authorOf(before)) ? {} : { editor: author };
    const changed: WaitingMessage = { ...sent, message, version, changedBy: [...(before.changedBy ?? []), author.by ?? null], ...edited };
    this.state.queue = this.state.queue.map((one) => (one === before ? changed : one));
    this.ports.emit({ type: 'message-changed', id, message, ...author });
    return {};
  }

  private withdraw(id: string, author: Signed): ConversationReply {
    if (!this.state.queue.some((one) => one.id === id)) return { refused: this.notWaiting(id) };
    this.state.queue = this.state.queue.filter((one) => one.id !== id);
    this.remember([id], 0);
    this.ports.emit({ type: 'message-withdrawn', id, ...author });
    return {};
  }

  private notWaiting(id: string): Failure {
    const turn = this.state.taken.find(([known]) => known === id)?.[1];
    const why = turn === undefined ? 'no message of that id waits' : turn === 0 ? 'somebody took it back' : `turn ${turn} has taken it`;
    return { code: 'message-unknown', message: `The message "${id}" does not wait for a turn: ${why}.` };
  }

  private pause(isPaused: boolean, author: Signed): ConversationReply {
    const { state } = this;
    if (state.ended !== undefined) return { refused: conversationEnded };
    if ((state.paused === true) === isPaused) return {};
    if (isPaused) state.paused = true;
    else delete state.paused;
    delete state.idleUntil;
    this.ports.emit({ type: 'conversation-change', change: isPaused ? 'paused' : 'unpaused', ...author });
    // A paused conversation must not end for idleness.
    this.wake();
    if (this.mustStop) this.stopTurn();
    return {};
  }

  /** The turn stops even if the message is withdrawn later. */
  private stopTurn(): void {
    this.state.stops = true;
    this.ports.stopModel?.();
    this.stopAsking();
  }

  private stop(author: Signed): ConversationReply {
    const { atWork, stops, ended = this.closed } = this.state;
    if (atWork !== true) return { refused: ended ? conversationEnded : { code: 'turn-unknown', message: 'No turn is at work.' } };
    if (stops === true) return {};
    this.ports.emit({ type: 'conversation-change', change: 'stopping', ...author });
    this.stopTurn();
    return {};
  }

  private end(mode: 'after-turn' | 'now', author: Signed): ConversationReply {
    const { state } = this;
    if (state.ended === undefined) {
      state.ended = { reason: 'asked', ...author };
      this.ports.emit({ type: 'conversation-change', change: 'ended', reason: 'asked', ...author });
    }
    if (mode === 'now' && state.atWork === true) this.stopTurn();
    this.wake();
    return {};
  }

  private wait(): Promise<void> {
    const { closed, state, ports } = this;
    if (closed !== undefined) return Promise.reject(closed.error);
    if (state.paused !== true && state.idleMs !== undefined) state.idleUntil ??= ports.now() + state.idleMs;
    const timer = state.paused === true || state.idleUntil === undefined ? undefined : ports.timer('', state.idleUntil);
    timer?.fired.then(
      () => this.idleTooLong(),
      () => undefined,
    );
    return new Promise((resolve, reject) => (this.waiting = { resolve, reject, timer }));
  }

  /** A waiting message keeps the conversation open. */
  private idleTooLong(): void {
    const { state } = this;
    if (this.waiting === undefined || state.ended !== undefined || state.paused === true || state.queue.length > 0) return;
    state.ended = { reason: 'idle' };
    this.ports.emit({ type: 'conversation-change', change: 'ended', reason: 'idle' });
    this.wake();
  }

  private wake(): void {
    const { waiting } = this;
    if (waiting === undefined) return;
    if (this.isHeld) {
      this.wakesLater = true;
      return;
    }
    this.waiting = undefined;
    waiting.timer?.cancel();
    // The sender gets the reply first.
    this.ports.atRest(() => (this.closed === undefined ? waiting.resolve() : waiting.reject(this.closed.error)));
  }

  /** Messages begin no turn, because the run may continue as new. */
  hold(): void {
    this.isHeld = true;
  }

  goOn(): void {
    this.isHeld = false;
    if (!this.wakesLater) return;
    this.wakesLater = false;
    this.wake();
  }

  cancel(error: unknown): void {
    this.closed = { error };
    this.isHeld = false;
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.timer?.cancel();
    waiting?.reject(error);
  }
}

function withdrawn(id: string): Failure {
  return { code: 'message-withdrawn', message: `The message "${id}" was taken back. Another one needs another id.` };
}

const conversationEnded: Failure = { code: 'conversation-ended', message: 'The conversation has ended, and takes no message any more.' };
