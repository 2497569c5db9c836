import { isConversation, hiddenModelCall } from './agent-paths';
import { inCallOrder } from '../messages/call-order';
import type { StoredMessage } from '../messages/messages';
import { messagesOfInput } from '../messages/messages';
import { applySplices, spliceBetween } from './splice';
import type { AgentRunInput, Snapshot } from './wire';

/** No agent's path is empty. */
export const saidByAll = '';

/**
 * Messages that readers saw: the root agent's last model call, and later ones. The run keeps the list, because continue-as-new returns to
 * an earlier checkpoint.
 */
export class SeenMessages {
  private readonly root: string;
  private list: readonly StoredMessage[];
  private shown: StoredMessage[] = [];
  /** Words of all agents, shown once an agent below the root takes part. */
  private said: StoredMessage[];
  private together = false;

  constructor({ start, snapshot }: AgentRunInput) {
    this.root = start.agent;
    if (snapshot === undefined) {
      this.list = messagesOfInput(start.input) ?? [];
      this.said = [...this.list];
      return;
    }
    this.list = listOf(snapshot, this.root);
    const listed = new Set(this.list.map(({ id }) => id));
    this.shown = snapshot.shown.filter(({ id }) => !listed.has(id));
    const { [saidByAll]: said } = snapshot.lists;
    this.said = [...(said ?? this.ofRoot)];
    this.together = snapshot.together === true;
  }

  get messages(): readonly StoredMessage[] {
    return this.together ? inCallOrder(this.said) : this.ofRoot;
  }

  private get ofRoot(): readonly StoredMessage[] {
    return [...this.list, ...inCallOrder(this.shown)];
  }

  asked(path: readonly string[], messages: readonly StoredMessage[]): void {
    this.joins(path);
    if (path.join('/') !== this.root) return;
    this.list = messages;
    this.shown = [];
  }

  ended(messages: readonly StoredMessage[]): void {
    this.list = messages;
    this.shown = [];
  }

  told(path: readonly string[], message: StoredMessage): void {
    if (path.join('/') === this.root) this.shown.push(message);
    if (!isConversation(path)) return;
    this.joins(path);
    this.said.push(message);
  }

  private joins(path: readonly string[]): void {
    // A composed agent has another place in each turn.
    const isBehindRoot = path.length > 1 || path[0] !== this.root;
    if (isBehindRoot && path.at(-1) !== hiddenModelCall && isConversation(path)) this.together = true;
  }

  over(lists: Snapshot['lists']): Pick<Snapshot, 'shown' | 'seen' | 'together'> {
    return { ...this.ofRootOver(lists), ...(lists[saidByAll] === undefined ? {} : { together: this.together }) };
  }

  private ofRootOver(lists: Snapshot['lists']): Pick<Snapshot, 'shown' | 'seen'> {
    const { shown } = this;
    const own = lists[this.root] ?? [];
    const listed = new Set(own.map(({ id }) => id));
    const without = [...own, ...inCallOrder(shown.filter(({ id }) => !listed.has(id)))];
    const messages = this.ofRoot;
    if (messages.length === without.length && messages.every(({ id }, position) => id === without[position]?.id)) return { shown };
    const known = new Set([...Object.values(lists).flat(), ...shown].map(({ id }) => id));
    const ids = own.map(({ id }) => id);
    return { shown, seen: spliceBetween(ids, this.list, (id) => known.has(id)) };
  }
}

function listOf({ lists, shown, seen }: Snapshot, root: string): readonly StoredMessage[] {
  const own = lists[root] ?? [];
  if (seen === undefined) return own;
  const known = new Map([...Object.values(lists).flat(), ...shown].map((message) => [message.id, message]));
  return applySplices(own, seen, (item) => (typeof item === 'string' ? (known.get(item) ?? lostMessage(item)) : item));
}

/** Replaces a message whose content the history lacks. */
export function lostMessage(id: string): StoredMessage {
  return { id, role: 'assistant', parts: [] };
}
