import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConversationCommand, ConversationReply, SendReply, SentMessage } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import { errorOf } from '../connection/refusals';

export interface SendRoute {
  readonly agent?: string;
  /** Undefined: left as a signal for a worker. */
  command(command: ConversationCommand): Promise<ConversationReply | undefined>;
}

interface Outgoing {
  readonly sent: SentMessage;
  readonly bytes: number;
  readonly route: SendRoute;
  /** Keeps the sender's deadline. */
  readonly inContext: <T>(act: () => T) => T;
  resolve(reply: SendReply | undefined): void;
  reject(error: unknown): void;
}

const mostAtOnce = 100;

/** One request sends all messages that arrived during the last request, so this process has one open update per conversation. */
export class SendLine {
  private outgoing: Outgoing[] = [];
  private bytes = 0;
  private isSending = false;

  constructor(private readonly whenEmpty: () => void = () => undefined) {}

  send(sent: SentMessage, route: SendRoute): Promise<SendReply | undefined> {
    const bytes = jsonSize(sent);
    const problem = this.overflow(bytes);
    if (problem !== undefined) return Promise.reject(new HoldfastError('conversation-full', problem));
    this.bytes += bytes;
    return new Promise((resolve, reject) => {
      this.outgoing.push({ sent, bytes, route, inContext: AsyncLocalStorage.snapshot(), resolve, reject });
      void this.sendAll();
    });
  }

  private overflow(bytes: number): string | undefined {
    const { length } = this.outgoing;
    if (length >= limits.queuedMessages) return `${length} messages are on their way; at most ${limits.queuedMessages} may be.`;
    const sum = this.bytes + bytes;
    if (length === 0 || sum <= limits.sentTogether) return undefined;
    return `The messages on their way would have ${sum} bytes together; at most ${limits.sentTogether} fit.`;
  }

  private async sendAll(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    while (this.outgoing.length > 0) {
      const batch = batchOf(this.outgoing);
      // The first message starts the conversation, and the last message has the latest deadline.
      const [{ route }, { inContext }] = [batch[0] as Outgoing, batch.at(-1) as Outgoing];
      try {
        const reply = await inContext(() => route.command(commandOf(batch)));
        if (reply?.refused !== undefined) throw errorOf(reply.refused, 'request-invalid');
        batch.forEach(({ resolve }, position) => resolve(reply?.sent?.[position]));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      this.outgoing = this.outgoing.slice(batch.length);
      for (const { bytes } of batch) this.bytes -= bytes;
    }
    this.isSending = false;
    this.whenEmpty();
  }
}

function commandOf(batch: readonly Outgoing[]): ConversationCommand {
  const agent = batch[0]?.route.agent;
  return { type: 'send', messages: batch.map(({ sent }) => sent), ...defined({ agent }) };
}

function batchOf(outgoing: readonly Outgoing[]): readonly Outgoing[] {
  let bytes = 0;
  const end = outgoing.findIndex((one, position) => {
    bytes += one.bytes;
    if (position === 0) return false;
    return position >= mostAtOnce || bytes > limits.runInput || one.route.agent !== outgoing[0]?.route.agent;
  });
  return end === -1 ? [...outgoing] : outgoing.slice(0, end);
}

export class SendLines {
  private readonly lines = new Map<string, SendLine>();

  send(key: string, ...message: Parameters<SendLine['send']>): Promise<SendReply | undefined> {
    const line = this.lines.get(key) ?? new SendLine(() => this.lines.delete(key));
    this.lines.set(key, line);
    return line.send(...message);
  }
}
