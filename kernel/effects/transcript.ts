import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Message, StoredMessage } from '../../contract/messages/messages';
import { canonicalJson, isMessage, notJson } from '../../contract/messages/messages';

/** A changed or new message gets a new id, so content under an id never changes. */
export function storedMessages(
  messages: readonly Message[],
  before: readonly StoredMessage[],
  uuid: () => string,
  origin: string,
): readonly StoredMessage[] {
  if (messages === before) return before;
  const given: unknown = messages;
  if (!Array.isArray(given)) throw new HoldfastError('message-invalid', `${origin} returned messages that are no list.`);
  const known = new Map(before.map((message) => [message.id, message]));
  const taken = new Set<string>();
  return messages.map((message, position) => {
    const id = (message as Partial<StoredMessage> | null)?.id ?? '';
    const stored = storedMessage(message, known.get(id), uuid, `${origin}, message ${position}`);
    const unique = taken.has(stored.id) ? { ...stored, id: uuid() } : stored;
    taken.add(unique.id);
    return unique;
  });
}

export function knownMessages(messages: readonly StoredMessage[], output: Message | undefined): readonly StoredMessage[] {
  return output?.id === undefined ? messages : [...messages, { ...output, id: output.id }];
}

export function storedMessage(message: Message, known: StoredMessage | undefined, uuid: () => string, origin: string): StoredMessage {
  if (!isMessage(message))
    throw new HoldfastError(
      'message-invalid',
      `${origin} is no message: it needs a role (system, user, assistant, tool) and a list of parts.`,
    );
  if (known === message) return known;
  const problem = notJson(message);
  if (problem !== undefined) throw new HoldfastError('message-invalid', `${origin} is not JSON: ${problem}.`);
  if (known !== undefined && canonicalJson(known) === canonicalJson(message)) return known;
  const bytes = jsonSize(message);
  if (bytes > limits.message)
    throw new HoldfastError('payload-too-large', `${origin} has ${bytes} bytes; a message that a hook makes may have ${limits.message}.`);
  return { ...message, id: uuid() };
}
