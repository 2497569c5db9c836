import { sourceOf } from '../../contract/messages/context-messages';
import type { StoredRequest, AgentRunInput, CallModelInput } from '../../contract/record/wire';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { StoredMessage } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { ListItem } from '../../contract/record/splice';
import { messageOfOutcome } from '../../contract/record/tool-outcomes';

/** A message from another agent is found by its source. */
interface HistoryRequest {
  readonly ids: readonly string[];
  readonly messages: ReadonlyMap<string, StoredMessage>;
  readonly slots: StoredRequest['slots'];
}

/**
 * Follows only the edits of one call, where the readers' fold reads every list and event. `facts`: oldest first. Undefined: no such call.
 */
export function requestIn(facts: readonly HistoryFact[], activityId: string): HistoryRequest | undefined {
  const calls = new Map<string, CallModelInput>();
  let start: AgentRunInput | undefined;
  for (const fact of facts) {
    if (fact.kind === 'start') start = fact.input;
    if (fact.kind === 'model-scheduled') calls.set(fact.activityId, fact.input);
  }
  const edits = editsOf(calls, activityId);
  const [first] = edits;
  if (first === undefined) return undefined;
  const list: ListItem[] = first.base === 'start' ? [...startList(start, first.path)] : [];
  let slots: StoredRequest['slots'] = {};
  for (const edit of edits) {
    for (const [at, remove, insert] of edit.splices ?? []) list.splice(at, remove, ...insert);
    slots = { ...slots, ...edit.slots };
  }
  const ids = list.map((item) => (typeof item === 'string' ? item : item.id));
  return { ids, messages: messagesOf(facts, new Set(ids.flatMap((id) => [id, sourceOf(id)]))), slots };
}

function editsOf(calls: Map<string, CallModelInput>, activityId: string): readonly CallModelInput[] {
  const edits: CallModelInput[] = [];
  for (let id: string | undefined = activityId; id !== undefined;) {
    const call = calls.get(id);
    if (call === undefined) break;
    calls.delete(id);
    edits.push(call);
    id = call.base;
  }
  return edits.reverse();
}

function startList(input: AgentRunInput | undefined, path: readonly string[]): readonly StoredMessage[] {
  if (input?.snapshot !== undefined) return input.snapshot.lists[path.join('/')] ?? [];
  return path.join('/') === input?.start.agent ? (messagesOfInput(input.start.input) ?? []) : [];
}

function messagesOf(facts: readonly HistoryFact[], wanted: ReadonlySet<string>): ReadonlyMap<string, StoredMessage> {
  const found = new Map<string, StoredMessage>();
  const results = new Map<number, unknown>();
  for (let at = facts.length - 1; at >= 0; at--)
    for (const message of messagesIn(facts[at] as HistoryFact, results)) if (wanted.has(message.id)) found.set(message.id, message);
  return found;
}

/** Newest first, so a tool's result comes before its call. */
export function messagesIn(fact: HistoryFact, results: Map<number, unknown>): readonly StoredMessage[] {
  switch (fact.kind) {
    case 'activity-completed': {
      results.set(fact.scheduledId, fact.result);
      return wholeMessages([fact.result ?? {}]);
    }
    case 'tool-scheduled': {
      const result = results.get(fact.eventId);
      const message = result === undefined ? undefined : messageOfOutcome(fact.input, result as Parameters<typeof messageOfOutcome>[1]);
      const events = wholeMessages(fact.input.events);
      return message === undefined ? events : [message, ...events];
    }
    case 'model-scheduled': {
      const inserted = (fact.input.splices ?? []).flatMap(([, , insert]) =>
        insert.filter((item): item is StoredMessage => typeof item !== 'string'),
      );
      return [...inserted, ...wholeMessages(fact.input.events)];
    }
    case 'memo':
      return wholeMessages(fact.values[names.memo.events] as readonly { readonly message?: unknown }[] | undefined);
    case 'start': {
      const { start, snapshot } = fact.input;
      if (snapshot !== undefined) return [...Object.values(snapshot.lists).flat(), ...snapshot.shown, ...wholeMessages(snapshot.events)];
      return messagesOfInput(start.input) ?? [];
    }
    default:
      return [];
  }
}

/** Elsewhere a `message` is an id, or a tool's error text. */
function wholeMessages(given: readonly { readonly message?: unknown }[] | undefined): readonly StoredMessage[] {
  return (given ?? []).flatMap(({ message }) => (typeof message === 'object' && message !== null ? [message as StoredMessage] : []));
}
