import type { Signed } from './access';
import { isRecord } from './check';
import { clientToolsProblem } from './client-tools';
import type { ToolSpec } from './manifest';
import { isPersonName, personName } from './people';
import { isPartList } from './messages/messages';
import type { Failure, Json, StoredMessage } from './messages/messages';

/**
 * Where a message takes effect. `after-turn`: in the next turn. `next-step`: in the current turn, before the next model call. `now`: ends
 * the current turn and begins the next.
 */
export const sendModes = ['after-turn', 'next-step', 'now'] as const;
export type SendMode = (typeof sendModes)[number];

/** Absent: the run ends with the first answer. */
export interface ConversationStart {
  /** The longest idle time in milliseconds. Absent: forever. */
  readonly idleMs?: number;
  /** Earlier messages at the start of a turn. */
  readonly window: number;
  readonly title?: string;
  /** `pinned`: turns keep the first build. Absent: the newest build. */
  readonly build?: 'pinned';
}

export interface SentMessage {
  /** Chosen by the sender. A repeated id counts once. */
  readonly id: string;
  readonly content: Json;
  readonly mode: SendMode;
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly proof?: string;
  /** Tools for the turn that the message begins. Absent: none. */
  readonly tools?: readonly ToolSpec[];
}

export interface BuildOfQueue {
  readonly deployment: string;
  readonly build: string;
}

/** A message that waits for a turn. */
export interface QueuedMessage extends Signed {
  readonly id: string;
  readonly mode: SendMode;
  readonly message: StoredMessage;
}

export type ConversationCommand = {
  /** When the client took the command, in milliseconds since 1970. */
  readonly at?: number;
  /** For `send`: the build for new runs of the client's task queue. */
  readonly newest?: BuildOfQueue;
  /** How the name of the author was proven. A message of `send` has its own proof. */
  readonly proof?: string;
} &
  /** `agent`: the expected agent. Absent: any. */
  (
    | { readonly type: 'send'; readonly messages: readonly SentMessage[]; readonly agent?: string }
    | { readonly type: 'change'; readonly id: string; readonly content: Json; readonly by?: string }
    | { readonly type: 'withdraw'; readonly id: string; readonly by?: string }
    | { readonly type: 'pause' | 'unpause' | 'stop'; readonly by?: string }
    | { readonly type: 'title'; readonly title: string; readonly by?: string }
    | { readonly type: 'end'; readonly mode: 'after-turn' | 'now'; readonly by?: string }
  );

/** `turn`: where the message takes effect. `from`: not known yet, the log tells from this offset on. */
export type SendReply =
  | { readonly id: string; readonly turn: number }
  | { readonly id: string; readonly from: number }
  | { readonly id: string; readonly refused: Failure };

export interface ConversationReply {
  readonly sent?: readonly SendReply[];
  readonly refused?: Failure;
}

export type TurnStatus = 'completed' | 'failed' | 'stopped';

export interface ConversationView {
  /** The current or last turn. 0: no message yet. */
  readonly turn: number;
  readonly status: 'idle' | 'working' | 'ended';
  readonly paused: boolean;
  readonly title?: string;
  /** Messages that wait for a turn, or that no turn took before the end. */
  readonly queue: readonly QueuedMessage[];
  /** When an idle conversation ends, in milliseconds since 1970. */
  readonly idleUntil?: number;
  /** Why the conversation has ended, or ends with the current turn. */
  readonly ended?: ConversationEnd;
}

/** `failed` and `cancelled`: the run ended with an error. */
export interface ConversationEnd extends Signed {
  readonly reason: 'asked' | 'idle' | 'failed' | 'cancelled';
  readonly error?: Failure;
}

export const conversationDefaults = { window: 200 } as const;

/** `version`: the number of edits. */
export function messageOfSent({ id, content, by }: Pick<SentMessage, 'id' | 'content' | 'by'>, version = 0): StoredMessage {
  return {
    id: version === 0 ? `sent.${id}` : `sent.${id}~${version}`,
    role: 'user',
    parts: typeof content === 'string' ? [{ type: 'text', text: content }] : (content as unknown as StoredMessage['parts']),
    ...(by === undefined ? {} : { extra: { by } }),
  };
}

const titleLength = 60;

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
