import { messageById } from '../messages/context-messages';
import type { StoredMessage } from '../messages/messages';
import { isRunInput } from './is-run-input';
import { lostMessage, saidByAll } from './seen-messages';
import type { ListItem } from './splice';
import type { AgentRunInput, NamedMessages, Snapshot } from './wire';

/** The prefix keeps readers from taking the list for the run's own list. */
export function listOfConversation(conversation: string): string {
  return conversation === saidByAll ? saidByAll : `~${conversation}`;
}

/** Stores each conversation once: in other lists, ids replace the conversation's messages and other agents' views of them. */
export function packedSnapshot(snapshot: Snapshot): Snapshot {
  const { lists, shown, ...rest } = snapshot;
  const keys = Object.keys(lists);
  const said = knownOf(keys.filter(isConversation).flatMap((key) => lists[key] ?? []));
  if (said.size === 0) return snapshot;
  const whole: Record<string, readonly StoredMessage[]> = {};
  const named: Record<string, readonly ListItem[]> = {};
  for (const [key, messages] of Object.entries(lists)) {
    const items = isConversation(key) ? messages : namesIn(messages, said);
    if (items === messages) whole[key] = messages;
    else named[key] = items;
  }
  const shownItems = namesIn(shown, said);
  const names: NamedMessages = {
    ...(Object.keys(named).length === 0 ? {} : { lists: named }),
    ...(shownItems === shown ? {} : { shown: shownItems }),
  };
  if (Object.keys(names).length === 0) return snapshot;
  return { ...rest, lists: whole, shown: shownItems === shown ? shown : [], named: names };
}

export function unpackedInput(input: AgentRunInput): AgentRunInput {
  if (!isRunInput(input) || input.snapshot?.named === undefined) return input;
  const { named, ...snapshot } = input.snapshot;
  const said = knownOf(Object.entries(snapshot.lists).flatMap(([key, messages]) => (isConversation(key) ? messages : [])));
  const messagesOf = (items: readonly ListItem[]): readonly StoredMessage[] =>
    items.map((item) => (typeof item === 'string' ? (messageById(item, (id) => said.get(id)) ?? lostMessage(item)) : item));
  const lists: Record<string, readonly StoredMessage[]> = { ...snapshot.lists };
  for (const [key, items] of Object.entries(named.lists ?? {})) lists[key] = messagesOf(items);
  return { ...input, snapshot: { ...snapshot, lists, ...(named.shown === undefined ? {} : { shown: messagesOf(named.shown) }) } };
}

function isConversation(list: string): boolean {
  return list === saidByAll || list.startsWith('~');
}

function knownOf(messages: readonly StoredMessage[]): ReadonlyMap<string, StoredMessage> {
  return new Map(messages.map((message) => [message.id, message]));
}

function namesIn(messages: readonly StoredMessage[], said: ReadonlyMap<string, StoredMessage>): readonly ListItem[] {
  const items = messages.map((message) =>
    isSame(
      message,
      messageById(message.id, (id) => said.get(id)),
    )
      ? message.id
      : message,
  );
  return items.some((item) => typeof item === 'string') ? items : messages;
}

/** A hook may change a message without changing the id. */
function isSame(message: StoredMessage, known: StoredMessage | undefined): boolean {
  return message === known || (known !== undefined && JSON.stringify(message) === JSON.stringify(known));
}
