import type { MessageReceipt } from '../contract/service';
import { randomUUID } from 'node:crypto';
import type { Forms } from '../contract/check';
import { count, duration, form, listOf, oneOf, record, whole, worded } from '../contract/check';
import type { ClientTool } from '../contract/client-tools';
import { specsOfClient } from '../contract/client-tools';
import type { ConversationCommand, ConversationView, QueuedMessage, SendMode, SentMessage } from '../contract/conversations';
import { commandProblem, contentProblem, isMessageId, sendModes } from '../contract/conversations';
import { defined } from '../contract/defined';
import { millisecondsOf } from '../contract/duration';
import { HoldfastError, codeOf } from '../contract/errors';
import type { RunEvent, RunView } from '../contract/events';
import { isEnded } from '../contract/events';
import { jsonSize, limits } from '../contract/limits';
import type { Json, Part } from '../contract/messages/messages';
import { notJson } from '../contract/messages/messages';
import type { MessageFate } from './message-fate';
import { messageFate } from './message-fate';
import { personName } from '../contract/people';
import { optionsOf } from './options';
import { errorOf } from './refusals';
import type { TranscriptPage } from '../contract/service';
import { transcriptPage } from './reading/transcript-pages';
import type { SendRoute } from './send-line';
import { SendLine } from './send-line';

export interface SendOptions {
  /** Where the message takes effect. Default: `after-turn`. */
  readonly mode?: SendMode;
  /** The same id twice is the same message. Default: a new one. */
  readonly id?: string;
  /** Who says it. The model is told the name. */
  readonly by?: string;
  /** Tools that the sender has for the turn that the message begins. The agent has to take them. Their calls are answered as interrupts. */
  readonly tools?: readonly ClientTool[];
  /** How long to wait at most for a turn to take it, of `next-step`, such as '20s'. Then the receipt has no turn. Default: as long as it takes. */
  readonly wait?: string;
}

export interface ByOptions {
  /** Who asks. */
  readonly by?: string;
}

export type EndOptions = ByOptions & {
  /** `now` stops the turn at work. Default: `after-turn`. */
  readonly mode?: 'after-turn' | 'now';
};

export interface PageOptions {
  /** Where the page before this one began. Absent: the last page. */
  readonly before?: number;
  /** How many messages a page has at most. Default: 50. */
  readonly limit?: number;
}

/** How commands come to the run that a conversation is, and how it is read. */
export interface ConversationChannel extends Pick<SendRoute, 'command'> {
  view(): Promise<RunView>;
  events(from: number, signal?: AbortSignal): AsyncGenerator<RunEvent>;
  eventsBack(): AsyncGenerator<readonly RunEvent[]>;
}

const byForms: Forms<ByOptions> = { by: personName };

/** A run that stays open between turns. People write to it, and an agent works on what they wrote. */
export class Conversation {
  private readonly route: SendRoute;

  constructor(
    readonly id: string,
    private readonly channel: ConversationChannel,
    /** The agent that it begins with. Absent: it has to be there. */
    agent?: string,
    private readonly line: Pick<SendLine, 'send'> = new SendLine(),
  ) {
    this.route = { command: (command) => channel.command(command), ...defined({ agent }) };
  }

  /** Says something. What one program sends arrives in the order in which it was sent. Settles when the turn is known that takes it. */
  async send(content: string | readonly Part[], options: SendOptions = {}): Promise<MessageReceipt> {
    const sent = sentOf(content, options);
    const signal = options.wait === undefined ? undefined : AbortSignal.timeout(millisecondsOf(options.wait, 'request-invalid'));
    const reply = await this.line.send(sent, this.route);
    if (reply === undefined) return { id: sent.id };
    if ('refused' in reply) throw errorOf(reply.refused, 'request-invalid');
    return { id: sent.id, ...defined({ turn: 'turn' in reply ? reply.turn : await this.turnOf(sent.id, reply.from, signal) }) };
  }

  async queue(): Promise<readonly QueuedMessage[]> {
    return (await this.view()).queue;
  }

  async change(id: string, content: string | readonly Part[], options: ByOptions = {}): Promise<void> {
    const { by } = optionsOf(options, 'The change', byForms);
    checkContent(content);
    return this.ask({ type: 'change', id, content: content as Json, ...defined({ by }) });
  }

  async withdraw(id: string, options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'withdraw', id, ...byOf(options) });
  }

  /** No turn begins until `unpause`. The turn at work goes on, and messages wait. */
  async pause(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'pause', ...byOf(options) });
  }

  async unpause(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'unpause', ...byOf(options) });
  }

  /** Ends the turn at work as `stopped`: it stops the model, and waits for tools and people. What waits begins the next turn. */
  async stop(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'stop', ...byOf(options) });
  }

  async rename(title: string, options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'title', title, ...byOf(options) });
  }

  /** Ends the conversation behind the turn at work. Messages that wait stay in the queue of its view. */
  async end(options: EndOptions = {}): Promise<void> {
    const { mode = 'after-turn', by } = optionsOf<EndOptions>(options, 'The end', { by: personName, mode: oneOf('after-turn', 'now') });
    return this.ask({ type: 'end', mode, ...defined({ by }) });
  }

  /** How it stands: its title, the turn, what waits. */
  async view(): Promise<ConversationView> {
    const { conversation } = await this.channel.view();
    if (conversation === undefined) throw notOne(this.id);
    return conversation;
  }

  /** The messages of all turns, page by page, the last page first. Each page is in order. */
  async transcript(options: PageOptions = {}): Promise<TranscriptPage> {
    const { before, limit = 50 } = optionsOf<PageOptions>(options, 'transcript', {
      before: worded(count, 'the `before` of another page'),
      limit: whole(1, 500),
    });
    return transcriptPage(this.channel.eventsBack(), { limit, ...defined({ before }) });
  }

  /** The offset at which a turn begins. Undefined: the turn has not begun, or the server no longer has its events. */
  async turnOffset(number: number): Promise<number | undefined> {
    for await (const piece of this.channel.eventsBack()) {
      const start = piece.flatMap((event) => (event.type === 'turn-start' && event.turn <= number ? [event] : [])).at(-1);
      if (start !== undefined) return start.turn === number ? start.offset : undefined;
    }
    return undefined;
  }

  /** Undefined: the message waits, or the log does not know the message. */
  async fateOf(id: string): Promise<MessageFate | undefined> {
    return messageFate(this.channel.eventsBack(), id);
  }

  async turn(number: number): Promise<Extract<RunEvent, { type: 'turn-end' }>> {
    for await (const event of this.channel.events(0)) if (event.type === 'turn-end' && event.turn === number) return event;
    throw new HoldfastError('conversation-ended', `The conversation "${this.id}" has ended without a turn ${number}.`);
  }

  private async ask(command: ConversationCommand): Promise<void> {
    const problem = commandProblem(command);
    if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
    const reply = await this.channel.command(command);
    if (reply?.refused !== undefined) throw errorOf(reply.refused, 'request-invalid');
  }

  /** A message may join a turn that has no step left. The log says which turn took the message. */
  private async turnOf(id: string, from: number, signal: AbortSignal | undefined): Promise<number | undefined> {
    for await (const event of this.channel.events(from, signal)) {
      if (event.type === 'message' && event.id === id) return event.turn;
      if (event.type === 'message-withdrawn' && event.id === id)
        throw new HoldfastError('message-withdrawn', `The message "${id}" was taken back before a turn took it.`);
    }
    if (signal?.aborted === true) return undefined;
    const { status } = await this.channel.view();
    if (isEnded(status))
      throw new HoldfastError('conversation-ended', `The conversation "${this.id}" has ended (${status}) before a turn took the message.`);
    throw new HoldfastError('message-unknown', `The log of "${this.id}" does not say which turn took the message "${id}".`);
  }
}

function sentOf(content: string | readonly Part[], options: SendOptions): SentMessage {
  const {
    mode = 'after-turn',
    id = `m-${randomUUID()}`,
    by,
    tools,
  } = optionsOf<SendOptions>(options, 'send', {
    mode: oneOf(...sendModes),
    id: form(isMessageId, '1 to 100 letters, digits and . _ : -, beginning with a letter or digit'),
    by: personName,
    wait: duration,
    tools: listOf(record, 'an array of tools: { name, description, inputSchema }'),
  });
  checkContent(content);
  const sent: SentMessage = { id, content, mode, ...defined({ by, tools: tools === undefined ? undefined : specsOfClient(tools) }) };
  const problem = commandProblem({ type: 'send', messages: [sent] });
  if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  return sent;
}

function checkContent(content: unknown): void {
  const problem = contentProblem(content) ?? notJson(content);
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
  const bytes = jsonSize(content);
  if (bytes > limits.runInput)
    throw new HoldfastError('input-too-large', `The message has ${bytes} bytes; at most ${limits.runInput} fit.`);
}

function byOf(options: ByOptions): ByOptions {
  return defined({ by: optionsOf(options, 'The request', byForms).by });
}

export function notOne(id: string): HoldfastError {
  return new HoldfastError('not-a-conversation', `The run "${id}" is no conversation.`);
}

export function unknownConversation(id: string, error: unknown): unknown {
  if (codeOf(error) !== 'run-unknown') return error;
  return new HoldfastError('run-unknown', `There is no conversation "${id}". A message that names its agent begins it.`, { cause: error });
}
