import type { MessageReceipt, TranscriptPage } from '../../contract/service';
import { randomUUID } from 'node:crypto';
import type { Action, Author } from '../../contract/access';
import type { Forms } from '../../contract/check';
import { count, duration, form, listOf, oneOf, record, whole, worded } from '../../contract/check';
import type { ClientTool } from '../../contract/client-tools';
import { specsOfClient } from '../../contract/client-tools';
import type { ConversationCommand, ConversationView, QueuedMessage, SendMode, SentMessage } from '../../contract/conversations';
import { commandProblem, contentProblem, isMessageId, sendModes } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { isEnded } from '../../contract/events';
import { jsonSize, limits } from '../../contract/limits';
import type { Json, Part } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { personName } from '../../contract/people';
import { optionsOf } from '../connection/options';
import { errorOf } from '../connection/refusals';
import { transcriptPage } from '../reading/transcript-pages';
import type { SendRoute } from './send-line';
import { SendLine } from './send-line';

export interface SendOptions {
  /** Where the message takes effect. Default: `after-turn`. */
  readonly mode?: SendMode;
  /** A repeated id is the same message. Default: a new id. */
  readonly id?: string;
  /** The name of the sender, which the model sees. */
  readonly by?: string;
  /** The sender's tools for the turn that the message begins. The agent has to accept the tools; calls are answered as interrupts. */
  readonly tools?: readonly ClientTool[];
  /** The longest wait of `next-step` for a turn, such as '20s'. Then the receipt has no turn. Default: no limit. */
  readonly wait?: string;
}

interface ByOptions {
  /** The name of the author. */
  readonly by?: string;
}

type EndOptions = ByOptions & {
  /** `now` stops the current turn. Default: `after-turn`. */
  readonly mode?: 'after-turn' | 'now';
};

interface PageOptions {
  /** `before` of the previous page. Absent: the last page. */
  readonly before?: number;
  /** The most messages of a page. Default: 50. */
  readonly limit?: number;
}

export interface ConversationChannel extends Pick<SendRoute, 'command'> {
  /** Absent: anybody may. */
  permit?(action: Action): Promise<void>;
  /** Absent: names are claims. */
  author?(claimed: Author): Author;
  view(): Promise<RunView>;
  events(from: number, signal?: AbortSignal): AsyncGenerator<RunEvent>;
  eventsBack(): AsyncGenerator<readonly RunEvent[]>;
}

const byForms: Forms<ByOptions> = { by: personName };

/**
 * A run that stays open between turns: people write, and an agent answers.
 * @example
 * const chat = client.conversation('support', 'chat-42');
 * const { turn } = await chat.send('Where is order 42?');
 * if (turn !== undefined) await chat.turn(turn);
 * const { messages } = await chat.transcript({ limit: 1 });
 * console.log(messages.map(({ message }) => textOf(message)));
 * await chat.end();
 */
export class Conversation {
  private readonly route: SendRoute;

  constructor(
    readonly id: string,
    private readonly channel: ConversationChannel,
    /** The agent of a new conversation. Absent: the conversation must exist. */
    agent?: string,
    private readonly line: Pick<SendLine, 'send'> = new SendLine(),
  ) {
    this.route = { command: (command) => channel.command(command), ...defined({ agent }) };
  }

  /** Sends a message, in the order of one program's calls. Resolves when the turn is known. */
  async send(content: string | readonly Part[], options: SendOptions = {}): Promise<MessageReceipt> {
    const given = sentOf(content, options);
    const sent = { ...given, ...this.channel.author?.(given) };
    await this.channel.permit?.('runs:start');
    // The log tells the turn. A refusal after the message is sent would look as if the message did not count.
    if (sent.mode === 'next-step') await this.channel.permit?.('runs:read');
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

  /** Begins no turn until `unpause`. The current turn continues, and messages wait. */
  async pause(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'pause', ...byOf(options) });
  }

  async unpause(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'unpause', ...byOf(options) });
  }

  /** Stops the model, waits for tools and people, and ends the current turn as `stopped`. Waiting messages begin the next turn. */
  async stop(options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'stop', ...byOf(options) });
  }

  async rename(title: string, options: ByOptions = {}): Promise<void> {
    return this.ask({ type: 'title', title, ...byOf(options) });
  }

  /** Ends the conversation after the current turn. Waiting messages stay in the queue of the view. */
  async end(options: EndOptions = {}): Promise<void> {
    const { mode = 'after-turn', by } = optionsOf<EndOptions>(options, 'The end', { by: personName, mode: oneOf('after-turn', 'now') });
    return this.ask({ type: 'end', mode, ...defined({ by }) });
  }

  async view(): Promise<ConversationView> {
    const { conversation } = await this.channel.view();
    if (conversation === undefined) throw notOne(this.id);
    return conversation;
  }

  /** Returns messages of all turns, the last page first. Each page is in order. */
  async transcript(options: PageOptions = {}): Promise<TranscriptPage> {
    const { before, limit = 50 } = optionsOf<PageOptions>(options, 'transcript', {
      before: worded(count, 'the `before` of another page'),
      limit: whole(1, 500),
    });
    return transcriptPage(this.channel.eventsBack(), { limit, ...defined({ before }) });
  }

  /** The offset at which a turn begins. Undefined: not begun, or no longer on the server. */
  async turnOffset(number: number): Promise<number | undefined> {
    for await (const piece of this.channel.eventsBack()) {
      const start = piece.flatMap((event) => (event.type === 'turn-start' && event.turn <= number ? [event] : [])).at(-1);
      if (start !== undefined) return start.turn === number ? start.offset : undefined;
    }
    return undefined;
  }

  /** Undefined: the message waits or is unknown. */
  async fateOf(id: string): Promise<MessageFate | undefined> {
    return messageFate(this.channel.eventsBack(), id);
  }

  async turn(number: number): Promise<Extract<RunEvent, { type: 'turn-end' }>> {
    for await (const event of this.channel.events(0)) if (event.type === 'turn-end' && event.turn === number) return event;
    throw new HoldfastError('conversation-ended', `The conversation "${this.id}" has ended without a turn ${number}.`);
  }

  private async ask(given: Exclude<ConversationCommand, { type: 'send' }>): Promise<void> {
    const problem = commandProblem(given);
    if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
    const { by, proof }: Author = this.channel.author?.({ by: given.by }) ?? given;
    await this.channel.permit?.(isControl(given) ? 'runs:control' : 'runs:start');
    const reply = await this.channel.command({ ...given, ...defined({ by, proof }) });
    if (reply?.refused !== undefined) throw errorOf(reply.refused, 'request-invalid');
  }

  /** The log tells the turn, because a message may join a turn without a step left. */
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

function isControl({ type }: ConversationCommand): boolean {
  return ['pause', 'unpause', 'stop', 'end'].includes(type);
}

export function notOne(id: string): HoldfastError {
  return new HoldfastError('not-a-conversation', `The run "${id}" is no conversation.`);
}

export function unknownConversation(id: string, error: unknown): unknown {
  if (codeOf(error) !== 'run-unknown') return error;
  return new HoldfastError('run-unknown', `There is no conversation "${id}". A message that names its agent begins it.`, { cause: error });
}

export type MessageFate =
  | {
      readonly turn: number;
      readonly offset: number;
      readonly begins: number;
    }
  | { readonly left: 'withdrawn' | 'ignored'; readonly code?: string; readonly time: number };

/** Reads the log backwards. Undefined: unknown message. */
export async function messageFate(pieces: AsyncIterable<readonly RunEvent[]>, id: string): Promise<MessageFate | undefined> {
  let taken: Pick<Extract<RunEvent, { type: 'message' }>, 'turn' | 'offset'> | undefined;
  for await (const piece of pieces) {
    for (const event of [...piece].reverse()) {
      if (taken !== undefined) {
        const { turn, offset } = taken;
        if (event.type === 'turn-start' && event.turn === turn) return { turn, offset, begins: event.offset };
        continue;
      }
      if (!('id' in event) || event.id !== id) continue;
      if (event.type === 'message') taken = event;
      if (event.type === 'message-withdrawn') return { left: 'withdrawn', time: event.time };
      if (event.type === 'message-ignored') return { left: 'ignored', code: event.code, time: event.time };
    }
  }
  return undefined;
}
