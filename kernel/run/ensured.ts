import type { StoredMessage } from '../../contract/messages/messages';
import type { AgentScope } from './scope';
import { takeOut } from './state';

type EnsuredScope = Pick<AgentScope, 'run' | 'path'>;

const none: ReadonlyMap<string, StoredMessage> = new Map();

export function ensuredOf({ run: { state }, path }: EnsuredScope): ReadonlyMap<string, StoredMessage> {
  const kept = state.ensured?.[path.join('/')];
  return kept === undefined ? none : new Map(kept.map((message) => [message.id, message]));
}

/** The state keeps the id, because the asking code may end before the message is added. */
export function keepEnsured({ run: { state }, path, record }: Pick<AgentScope, 'run' | 'path' | 'record'>, message: StoredMessage): void {
  const key = path.join('/');
  const before = state.ensured?.[key] ?? [];
  if ([before, record.messages].some((list) => list.some(({ id }) => id === message.id))) return;
  state.ensured = { ...state.ensured, [key]: [...before, message] };
}

export function settleEnsured({ run: { state }, path, record }: Pick<AgentScope, 'run' | 'path' | 'record'>): void {
  const key = path.join('/');
  const kept = state.ensured?.[key];
  if (kept === undefined) return;
  const known = new Set(record.messages.map(({ id }) => id));
  const left = kept.filter(({ id }) => !known.has(id));
  if (left.length === 0) takeOut(state, 'ensured', key);
  else if (left.length < kept.length) state.ensured = { ...state.ensured, [key]: left };
}
