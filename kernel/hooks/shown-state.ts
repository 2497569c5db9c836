import { frozen } from '../../contract/freeze';
import type { AgentScope } from '../run/scope';
import type { AgentRecord } from '../run/state';

type ShownState = Pick<AgentRecord, 'messages' | 'tools' | 'deferred'>;

const shown = new WeakMap<AgentRecord, ShownState>();

/** The same frozen object until a hook changes the state. */
export function shownState({ record }: AgentScope): Readonly<ShownState> {
  const { messages, tools, deferred } = record;
  const before = shown.get(record);
  if (before?.messages === messages && before.tools === tools && before.deferred === deferred) return before;
  messages.forEach((message, position) => {
    if (before?.messages[position] !== message) frozen(message);
  });
  const state = Object.freeze({
    messages: Object.freeze(messages),
    tools: frozen(tools),
    ...(deferred === undefined ? {} : { deferred: frozen(deferred) }),
  });
  shown.set(record, state);
  return state;
}
