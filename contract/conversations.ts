import { isRecord } from './check';
import { clientToolsProblem } from './client-tools';
import type { ToolSpec } from './manifest';
import { isPersonName, personName } from './people';
import { isPartList } from './messages/messages';
import type { Failure, Json, StoredMessage } from './messages/messages';

/**
 * Where a message takes effect. `after-turn`: in the next turn. `next-step`: in the turn at work, before its next call of a model. `now`: it
 * ends the turn at work, and begins the next one.
 */
export const sendModes = ['after-turn', 'next-step', 'now'] as const;
export type SendMode = (typeof sendModes)[number];

/** What a conversation is opened with. Absent of runs that end with their first answer. */
export interface ConversationStart {
  /** How long it may be idle until it ends, in milliseconds. Absent: for ever. */
  readonly idleMs?: number;
  /** With how many messages of before a turn begins. */
  readonly window: number;
  readonly title?: string;
  /** `pinned`: turns keep the build that the conversation began with. Absent: they go to the newest. */
  readonly build?: 'pinned';
}

/** A message on its way to a conversation. */
export interface SentMessage {
  /** Whoever sends it chooses the id. Sent again under the same one, it counts once. */
  readonly id: string;
  /** A text, or the parts of a message. */
  readonly content: Json;
  readonly mode: SendMode;
  readonly by?: string;
  /** What its sender has for the turn that it begins. Absent: nothing. */
  readonly tools?: readonly ToolSpec[];
}

/** A build, and the Worker Deployment that it belongs to. */
export interface BuildOfQueue {
  readonly deployment: string;
  readonly build: string;
}

/** A message that waits for its turn. */
export interface QueuedMessage {
  readonly id: string;
  readonly mode: SendMode;
  readonly message: StoredMessage;
  readonly by?: string;
}

/** Everything that somebody can do with a conversation from outside. */
export type ConversationCommand = {
  /** When the client took the command, in milliseconds since 1970. */
  readonly at?: number;
  /** The build to which new runs of the client's task queue go, of `send`, when the client knows. */
  readonly newest?: BuildOfQueue;
} &
  /** `agent`: whom they are for, when that is known. */
  (
    | { readonly type: 'send'; readonly messages: readonly SentMessage[]; readonly agent?: string }
    | { readonly type: 'change'; readonly id: string; readonly content: Json; readonly by?: string }
    | { readonly type: 'withdraw'; readonly id: string; readonly by?: string }
    | { readonly type: 'pause' | 'unpause' | 'stop'; readonly by?: string }
    | { readonly type: 'title'; readonly title: string; readonly by?: string }
    | { readonly type: 'end'; readonly mode: 'after-turn' | 'now'; readonly by?: string }
  );

/** What came of one message. `turn`: where it takes effect. `from`: it is not known yet, and the log says it from this offset on. */
export type SendReply =
  | { readonly id: string; readonly turn: number }
  | { readonly id: string; readonly from: number }
  | { readonly id: string; readonly refused: Failure };

export interface ConversationReply {
  /** Of `send`, in the order of its messages. */
  readonly sent?: readonly SendReply[];
  readonly refused?: Failure;
}

export type TurnStatus = 'completed' | 'failed' | 'stopped';

/** What the record of a conversation says of it. */
export interface ConversationView {
  /** The turn at work, or the last one. 0: nobody has said anything. */
  readonly turn: number;
  readonly status: 'idle' | 'working' | 'ended';
  readonly paused: boolean;
  readonly title?: string;
  /** Messages that wait for their turn, and in a conversation that has ended those that no turn took. */
  readonly queue: readonly QueuedMessage[];
  /** When it ends if nobody says anything, in milliseconds since 1970. */
  readonly idleUntil?: number;
  /** Why it has ended, or ends with the turn at work. */
  readonly ended?: ConversationEnd;
}

/** `failed` and `cancelled`: the run ended so, with its error. */
export interface ConversationEnd {
  readonly reason: 'asked' | 'idle' | 'failed' | 'cancelled';
  readonly by?: string;
  readonly error?: Failure;
}

export const conversationDefaults = { window: 200 } as const;

/** The stored form of a sent message. `version`: its number of changes. */
export function messageOfSent({ id, content, by }: Pick<SentMessage, 'id' | 'content' | 'by'>, version = 0): StoredMessage {
  return {
    id: version === 0 ? `sent.${id}` : `sent.${id}~${version}`,
    role: 'user',
    parts: typeof content === 'string' ? [{ type: 'text', text: content }] : (content as unknown as StoredMessage['parts']),
    ...(by === undefined ? {} : { extra: { by } }),
  };
}

const titleLength = 60;

/** The first words are the default title. */
export function titleOf(message: StoredMessage): string | undefined {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  const words = text.replace(/\s+/gu, ' ').trim();
  if (words === '') return undefined;
  return words.length <= titleLength ? words : `${[...words].slice(0, titleLength - 1).join('')}…`;
}

const idForm = /^[A-Za-z0-9][\w.:-]{0,99}$/u;

export function isMessageId(id: unknown): id is string {
  return typeof id === 'string' && idForm.test(id);
}

/** Why something is not a message: a text, or parts that are texts and files. */
export function contentProblem(content: unknown): string | undefined {
  if (typeof content === 'string') return content === '' ? 'The message is empty.' : undefined;
  if (!isPartList(content) || content.length === 0) return 'A message must be a text, or a list of parts: texts and files.';
  if (content.every((part) => part.type === 'text' && part.text === '')) return 'The message is empty.';
  const unfit = content.findIndex((part) => part.type === 'file' && !isFileData(part.data));
  return unfit === -1 ? undefined : `Part ${unfit + 1} of the message is a file whose \`data\` is neither base64 nor { "url": "…" }.`;
}

function isFileData(data: unknown): boolean {
  return typeof data === 'string' || (isRecord(data) && typeof data['url'] === 'string');
}

export function commandProblem(command: unknown): string | undefined {
  if (!isRecord(command)) return 'The command must be an object.';
  const { type, id, title, mode, messages, by } = command;
  if (by !== undefined && !isPersonName(by)) return `\`by\` must be ${personName.wanted}.`;
  switch (type) {
    case 'send':
      return Array.isArray(messages) ? messages.map(sentProblem).find((problem) => problem !== undefined) : '`messages` must be a list.';
    case 'change':
      return isMessageId(id) ? contentProblem(command['content']) : '`id` must be the id of a message.';
    case 'withdraw':
      return isMessageId(id) ? undefined : '`id` must be the id of a message.';
    case 'pause':
    case 'unpause':
    case 'stop':
      return undefined;
    case 'title':
      return typeof title === 'string' && title !== '' && title.length <= 200
        ? undefined
        : '`title` must be a string of 1 to 200 characters.';
    case 'end':
      return mode === 'after-turn' || mode === 'now' ? undefined : '`mode` must be "after-turn" or "now".';
    default:
      return '`type` must be send, change, withdraw, pause, unpause, stop, title or end.';
  }
}

function sentProblem(sent: unknown): string | undefined {
  if (!isRecord(sent)) return 'Each message must be an object.';
  const { id, mode, by, tools } = sent;
  if (!isMessageId(id)) return 'The id of a message must be 1 to 100 letters, digits and . _ : -, beginning with a letter or digit.';
  if (!sendModes.includes(mode as SendMode)) return `The mode of a message must be one of: ${sendModes.join(', ')}.`;
  if (by !== undefined && !isPersonName(by)) return `\`by\` must be ${personName.wanted}.`;
  if (tools !== undefined && mode === 'next-step')
    return 'A message of the mode next-step joins a turn that has its tools. It brings none.';
  return (tools === undefined ? undefined : clientToolsProblem(tools)) ?? contentProblem(sent['content']);
}
