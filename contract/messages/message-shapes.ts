import type { AgenticMessage } from './agentic-messages';
import { agenticMessage, isAgenticMessage, messagesOfAgentic } from './agentic-messages';
import type { ChatMessage } from './chat-messages';
import { chatMessage, isChatMessage, messageOfChat } from './chat-messages';
import { HoldfastError } from '../errors';
import type { Message } from './messages';
import { isMessage } from './messages';

/** Message shapes by name. `parts` is stored; the others are views. */
export interface MessageShapes {
  readonly parts: Message;
  readonly chat: ChatMessage;
  readonly agentic: AgenticMessage;
}

export type MessageShape = keyof MessageShapes;
export type AnyMessage = MessageShapes[MessageShape];

/** The input of an agent without jobs. */
export type TextOrMessages = string | readonly AnyMessage[];

/** A job of the type, or messages if the input is any string. */
export type InputFor<Input> = string extends Input ? ([Input] extends [string] ? TextOrMessages : Input) : Input;

const views: { readonly [Shape in MessageShape]: (message: Message) => MessageShapes[Shape] } = {
  parts: (message) => message,
  chat: chatMessage,
  agentic: agenticMessage,
};

export const messageShapes = Object.keys(views) as readonly MessageShape[];

/**
 * Converts messages. In `chat` and `agentic` each tool result is a message, and the first keeps the id.
 * @example
 * const transcript = await run.transcript();
 * const chat = messagesIn('chat', transcript);
 * console.log(chat.map(({ role, content }) => [role, content]));
 */
export function messagesIn<Shape extends MessageShape>(shape: Shape, messages: readonly Message[]): readonly MessageShapes[Shape][] {
  if (!messageShapes.includes(shape))
    throw new HoldfastError('request-invalid', `"${String(shape)}" is no shape of messages. There are: ${messageShapes.join(', ')}.`);
  return messages.flatMap((message) => (shape === 'parts' ? [message] : piecesOf(message)).map(views[shape]));
}

/**
 * Converts messages of any shape into stored messages, as `messagesIn` converts them back.
 * @example
 * const history = messagesOf([
 *   { role: 'user', content: 'Where is order 42?' },
 *   { role: 'assistant', content: 'On its way.' },
 * ]);
 * const run = await client.start('support', history);
 */
export function messagesOf(messages: readonly AnyMessage[]): readonly Message[] {
  const given: unknown = messages;
  if (!Array.isArray(given)) throw new HoldfastError('message-invalid', 'messagesOf takes a list of messages.');
  return messages.flatMap((message, position) => storedOf(message, `Message ${position}`));
}

/** Returns several messages if results stand beside other parts. */
export function storedOf(message: AnyMessage, origin: string): readonly Message[] {
  if (isMessage(message)) return [message];
  if (isAgenticMessage(message)) return messagesOfAgentic(message);
  if (isChatMessage(message)) return [messageOfChat(message)];
  throw new HoldfastError(
    'message-invalid',
    `${origin} is no message: it needs a role, and with it a list of parts, a list of blocks (agentic) or content (chat).`,
  );
}

export function isAnyMessage(value: unknown): value is AnyMessage {
  return isMessage(value) || isAgenticMessage(value) || isChatMessage(value);
}

export function piecesOf(message: Message): readonly Message[] {
  const { role, parts, ...rest } = message;
  if (role !== 'tool' || parts.length < 2) return [message];
  return parts.map((part, position) => ({ ...(position === 0 ? rest : {}), role, parts: [part] }));
}
