import { contextMessage, contextOf } from '../../contract/messages/context-messages';
import { HoldfastError } from '../../contract/errors';
import type { Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { inputId, toolCallsOf } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { frozen } from '../../contract/freeze';
import type { Branch, RunScope } from './scope';
import type { RunState, SharedMessage } from './state';
import { storedMessages } from '../effects/transcript';
import type { HistoryEntry, HistoryRewriter } from '../define/agent-options';
import { transferTool } from '../define/transfer-names';
import { blame } from '../effects/errors';

/** Agents as tools have other keys. */
export const rootConversation = '';

export function openConversation({ state }: RunScope, conversation: string, messages: readonly StoredMessage[]): Branch {
  const { [conversation]: open } = state.sharedMessages ?? {};
  if (open === undefined)
    state.sharedMessages = { ...state.sharedMessages, [conversation]: messages.map((message) => ({ agent: null, branch: '', message })) };
  return { conversation, path: '' };
}

export function closeConversation({ state }: RunScope, conversation: string): void {
  const { [conversation]: _, ...others } = state.sharedMessages ?? {};
  state.sharedMessages = others;
}

export function append({ state }: RunScope, { conversation, path: branch }: Branch, agent: string | null, message: StoredMessage): void {
  const said = state.sharedMessages?.[conversation];
  if (said === undefined) return;
  const position = positionOf(said, { agent, branch, message });
  if (position < said.length) beginnings.delete(said);
  said.splice(position, 0, { agent, branch, message });
}

/** A result stands before results of later calls of its message. */
function positionOf(said: readonly SharedMessage[], { agent, branch, message }: SharedMessage): number {
  const called = calledBy(message);
  if (called === undefined) return said.length;
  let position = said.length;
  const later: number[] = [];
  while (position-- > 0) {
    const entry = said[position] as SharedMessage;
    if (entry.agent !== agent || entry.branch !== branch) continue;
    if (entry.message.role !== 'tool') {
      const order = toolCallsOf(entry.message).map(({ id }) => id);
      const own = order.indexOf(called);
      return later.filter((one) => order.indexOf(calledBy((said[one] as SharedMessage).message) ?? '') > own).at(-1) ?? said.length;
    }
    later.push(position);
  }
  return said.length;
}

function calledBy({ role, parts: [part] }: Message): string | undefined {
  return role === 'tool' && part?.type === 'tool-result' ? part.callId : undefined;
}

/** A parallel branch does not see messages of parallel branches. */
export function fork({ conversation, path: branch }: Branch, place: string, position: number): Branch {
  return { conversation, path: `${branch}/${place}:${position}` };
}

export function join({ state }: RunScope, { conversation, path: branch }: Branch, place: string): void {
  const inside = `${branch}/${place}:`;
  const said = state.sharedMessages?.[conversation];
  if (said === undefined) return;
  said.forEach((entry, position) => {
    if (entry.branch.startsWith(inside)) said[position] = { ...entry, branch };
  });
  beginnings.delete(said);
}

/** Parallel messages count, and open calls get a result. */
export function closeCalls({ state }: RunScope, conversation: string, resultOf: (call: ToolCall) => StoredMessage): void {
  const said = state.sharedMessages?.[conversation] ?? [];
  const closed = said.flatMap((entry, position): readonly SharedMessage[] => {
    const { agent, branch, message } = entry;
    const calls = toolCallsOf(message);
    if (calls.length === 0) return [entry];
    const own = said.slice(position + 1).filter((other) => other.agent === agent && other.branch === branch);
    const end = own.findIndex((other) => other.message.role !== 'tool');
    const answered = own.slice(0, end === -1 ? own.length : end).map((other) => calledBy(other.message));
    const lost = calls.filter(({ id }) => !answered.includes(id));
    return [entry, ...lost.map((call) => ({ ...entry, message: resultOf(call) }))];
  });
  state.sharedMessages = {
    ...state.sharedMessages,
    [conversation]: closed.map((entry) => (entry.branch === '' ? entry : { ...entry, branch: '' })),
  };
}

function visibleTo({ state }: RunScope, { conversation, path: branch }: Branch): readonly SharedMessage[] {
  return (state.sharedMessages?.[conversation] ?? []).filter((entry) => isVisible(entry, branch));
}

function isVisible(entry: SharedMessage, branch: string): boolean {
  return entry.branch === branch || branch.startsWith(`${entry.branch}/`);
}

export function historyFor(run: RunScope, branch: Branch, agent: string, rewriter: HistoryRewriter | undefined): readonly StoredMessage[] {
  if (rewriter === undefined) return beginningOf(run, branch, agent);
  const entries = visibleTo(run, branch);
  const kept = run.state.options.skipTransferMessages === true ? entries.filter((entry) => isNoTransfer(run, entry)) : entries;
  const history: readonly HistoryEntry[] = kept.map(({ agent: by, message }) =>
    by === null ? { isUserInput: true, message } : { isUserInput: false, agent: by, message },
  );
  const label = `historyRewriter of agent "${agent}"`;
  let rewritten: readonly Message[];
  try {
    rewritten = rewriter(frozen(history), agent);
  } catch (error) {
    throw blame(error, label);
  }
  if (!Array.isArray(rewritten)) throw new HoldfastError('hook-failed', `${label} returned no list of messages.`);
  return storedMessages(
    rewritten,
    kept.map(({ message }) => message),
    () => run.ports.uuid(),
    label,
  );
}

interface Beginning {
  entries: number;
  readonly ids: Set<string>;
  readonly messages: StoredMessage[];
}

/** A conversation only grows, so a loop adds only new entries. */
const beginnings = new WeakMap<readonly SharedMessage[], Map<string, Beginning>>();

function beginningOf(run: RunScope, { conversation, path: branch }: Branch, agent: string): readonly StoredMessage[] {
  const { state } = run;
  const said = state.sharedMessages?.[conversation] ?? [];
  const known = beginnings.get(said) ?? new Map<string, Beginning>();
  beginnings.set(said, known);
  const key = `${agent} ${branch}`;
  const beginning = known.get(key) ?? { entries: 0, ids: new Set(), messages: [] };
  known.set(key, beginning);
  const skips = state.options.skipTransferMessages === true;
  for (; beginning.entries < said.length; beginning.entries++) {
    const entry = said[beginning.entries] as SharedMessage;
    if (!isVisible(entry, branch) || (skips && !isNoTransfer(run, entry))) continue;
    const message = entry.agent === null || entry.agent === agent ? entry.message : contextMessage(entry.agent, entry.message);
    // A message may come by two ways.
    if (beginning.ids.has(message.id)) continue;
    beginning.ids.add(message.id);
    beginning.messages.push(frozen(message));
  }
  return Object.freeze(withResultsBehindCalls(beginning.messages));
}

/** Parallel agents may speak between a call and its result, but providers refuse the order. */
function withResultsBehindCalls(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const ordered: StoredMessage[] = [];
  let open = new Set<string>();
  let held: StoredMessage[] = [];
  for (const message of messages) {
    const called = calledBy(message);
    const isResult = called !== undefined && open.delete(called);
    if (isResult || open.size === 0) ordered.push(message);
    else held.push(message);
    const isNext = message.role === 'assistant';
    if (isNext || open.size === 0) {
      ordered.push(...held);
      held = [];
    }
    if (isNext) open = new Set(toolCallsOf(message).map(({ id }) => id));
  }
  return [...ordered, ...held];
}

/** True also for words that came before the run was isolated. */
export function isOthers({ parent }: Pick<RunState, 'parent'>, message: { readonly id?: string } | undefined): boolean {
  const id = message?.id ?? '';
  return contextOf(id) !== undefined || parent?.context?.some((position) => inputId(position) === id) === true;
}

function isNoTransfer(run: Pick<RunScope, 'state' | 'agents'>, { agent, message }: SharedMessage): boolean {
  const aliases = agent === null ? [] : transferAliasesOf(run, agent);
  const isTransfer = (name: string): boolean => name === transferTool || aliases.includes(name);
  return !message.parts.some((part) => (part.type === 'tool-call' || part.type === 'tool-result') && isTransfer(part.name));
}

function transferAliasesOf({ state, agents }: Pick<RunScope, 'state' | 'agents'>, name: string): readonly string[] {
  const agent = agents.get(name);
  const { toolAliases = agent?.kind === 'chat' ? agent.toolAliases : {} } = runOptionsOf(state.options, name);
  return Object.hasOwn(toolAliases, transferTool) ? (toolAliases[transferTool]?.names ?? []) : [];
}
