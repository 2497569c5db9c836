import { messageById, sourceOf } from '../contract/plain/context-messages';
import { HoldfastError } from '../contract/plain/errors';
import type { FoldedRequest } from '../contract/plain/fold';
import { HistoryFold } from '../contract/plain/fold';
import type { HistoryFact } from '../contract/plain/history-fact';
import { jsonSize } from '../contract/plain/limits';
import type { StoredMessage } from '../contract/plain/messages';
import { messagesOfInput } from '../contract/plain/messages';
import { names } from '../contract/plain/names';
import { applySplices } from '../contract/plain/splice';
import { messageOfOutcome, messageOfQuick } from '../contract/plain/tool-outcomes';
import type { CallModelInput, RequestSlots } from '../contract/plain/wire';
import { ValueStore } from './value-store';

/** Reads a run's own history. Given by the worker, which has the connection. */
export interface RunHistory {
  /** Pages of facts, newest first; the facts of a page newest first too. */
  newest(workflowId: string, runId: string): AsyncIterable<readonly HistoryFact[]>;
  /** All facts, oldest first. */
  all(workflowId: string, runId: string): Promise<readonly HistoryFact[]>;
}

interface CachedList {
  readonly ids: readonly string[];
  readonly slots: Partial<RequestSlots>;
}

const bytesPerId = 48;

/**
 * The worker's memory of transcripts: messages by id and lists by activity, both within one Temporal run, bounded in bytes.
 * It is a cache only. What is missing is read from the history of the run.
 */
export class MessageStore {
  private readonly messages = new Map<string, { readonly message: StoredMessage; readonly bytes: number }>();
  private readonly lists = new Map<string, { readonly list: CachedList; readonly bytes: number }>();
  private bytes = 0;
  /** How often history had to be read, and how long the slowest reading took. */
  readonly misses = { messages: 0, lists: 0, slowestMs: 0 };
  /** Run-local values are found again in the same way. */
  readonly values: ValueStore;

  constructor(
    private readonly history: RunHistory,
    private readonly maxBytes = 64 * 1024 * 1024,
  ) {
    this.values = new ValueStore(history, maxBytes / 4);
  }

  /** What a run began with, told by the first activity on this worker. */
  seed(runId: string, agent: string, messages: readonly StoredMessage[]): void {
    for (const message of messages) this.putMessage(runId, message);
    this.putList(runId, startKey([agent]), { ids: messages.map(({ id }) => id), slots: {} });
  }

  putMessage(runId: string, message: StoredMessage): void {
    this.put(this.messages, `${runId}:${message.id}`, { message, bytes: jsonSize(message) });
  }

  /** The request behind the edits of a model activity: from memory, else from the newest pages, else from the whole history. */
  async resolve(workflowId: string, runId: string, activityId: string, input: CallModelInput): Promise<FoldedRequest> {
    for (const [, , insert] of input.splices ?? []) for (const item of insert) if (typeof item !== 'string') this.putMessage(runId, item);
    const begun = performance.now();
    const { messages, lists } = this.misses;
    const base = this.baseOf(runId, input);
    const resolved = base === undefined ? undefined : await this.fromMemory(workflowId, runId, base, input);
    const request = resolved ?? (await this.fromHistory(workflowId, runId, activityId));
    this.putList(runId, activityId, { ids: request.messages.map(({ id }) => id), slots: request.slots });
    if (this.misses.messages > messages || this.misses.lists > lists)
      this.misses.slowestMs = Math.max(this.misses.slowestMs, performance.now() - begun);
    return request;
  }

  private baseOf(runId: string, input: CallModelInput): CachedList | undefined {
    if (input.base === undefined) return { ids: [], slots: {} };
    return this.touch(this.lists, `${runId}:${input.base === 'start' ? startKey(input.path) : input.base}`)?.list;
  }

  private async fromMemory(workflowId: string, runId: string, base: CachedList, input: CallModelInput): Promise<FoldedRequest | undefined> {
    const ids = applySplices(base.ids, input.splices ?? [], (item) => (typeof item === 'string' ? item : item.id));
    const found = new Map<string, StoredMessage>();
    const missing = new Set<string>();
    for (const listed of ids) {
      const id = sourceOf(listed);
      const message = this.touch(this.messages, `${runId}:${id}`)?.message;
      if (message === undefined) missing.add(id);
      else found.set(id, message);
    }
    if (missing.size > 0 && !(await this.findNewest(workflowId, runId, missing, found))) return undefined;
    const messages = ids.map((id) => messageById(id, (one) => found.get(one)) as StoredMessage);
    return { messages, slots: { ...base.slots, ...input.slots } };
  }

  /** Newest pages first: what another worker made a moment ago stands there. */
  private async findNewest(workflowId: string, runId: string, missing: Set<string>, found: Map<string, StoredMessage>): Promise<boolean> {
    this.misses.messages += 1;
    const results = new Map<number, unknown>();
    for await (const page of this.history.newest(workflowId, runId)) {
      for (const fact of page) {
        for (const message of messagesIn(fact, results)) {
          this.putMessage(runId, message);
          if (missing.delete(message.id)) found.set(message.id, message);
        }
      }
      if (missing.size === 0) return true;
    }
    return false;
  }

  private async fromHistory(workflowId: string, runId: string, activityId: string): Promise<FoldedRequest> {
    this.misses.lists += 1;
    const fold = new HistoryFold();
    let request: FoldedRequest | undefined;
    for (const fact of await this.history.all(workflowId, runId)) {
      fold.add(fact);
      if (fact.kind === 'model-scheduled' && fact.activityId === activityId) request = fold.requestOf(activityId);
    }
    if (request === undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no model call ${activityId}.`);
    const lost = request.messages.find(({ id }) => !fold.messagesById.has(sourceOf(id)));
    if (lost !== undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no message ${lost.id}.`);
    for (const message of request.messages) if (sourceOf(message.id) === message.id) this.putMessage(runId, message);
    return request;
  }

  private putList(runId: string, key: string, list: CachedList): void {
    this.put(this.lists, `${runId}:${key}`, { list, bytes: (list.ids.length + 4) * bytesPerId });
  }

  private touch<Value>(map: Map<string, Value>, key: string): Value | undefined {
    const value = map.get(key);
    if (value !== undefined) {
      map.delete(key);
      map.set(key, value);
    }
    return value;
  }

  private put<Value extends { readonly bytes: number }>(map: Map<string, Value>, key: string, value: Value): void {
    this.bytes += value.bytes - (map.get(key)?.bytes ?? 0);
    map.delete(key);
    map.set(key, value);
    while (this.bytes > this.maxBytes) {
      const victim = this.lists.size > 8 && this.lists.size * 4 > this.messages.size ? this.lists : this.messages;
      const oldest = victim.entries().next().value ?? this.lists.entries().next().value;
      if (oldest === undefined || oldest[0] === key) return;
      (victim as Map<string, unknown>).delete(oldest[0]);
      this.bytes -= oldest[1].bytes;
    }
  }
}

function startKey(path: readonly string[]): string {
  return `start:${path.join('/')}`;
}

/** Messages that stand whole in a fact. Read newest first, a tool's result comes before the call that says what it answers. */
function messagesIn(fact: HistoryFact, results: Map<number, unknown>): readonly StoredMessage[] {
  switch (fact.kind) {
    case 'activity-completed': {
      results.set(fact.scheduledId, fact.result);
      const { message } = (fact.result ?? {}) as { message?: StoredMessage };
      return message === undefined ? [] : [message];
    }
    case 'quick-completed': {
      const message = messageOfQuick(fact.result);
      return message === undefined ? [] : [message];
    }
    case 'tool-scheduled': {
      const result = results.get(fact.eventId);
      const message = result === undefined ? undefined : messageOfOutcome(fact.input, result as Parameters<typeof messageOfOutcome>[1]);
      const events = messagesInEvents(fact.input.events);
      return message === undefined ? events : [message, ...events];
    }
    case 'model-scheduled': {
      const inserted = (fact.input.splices ?? []).flatMap(([, , insert]) =>
        insert.filter((item): item is StoredMessage => typeof item !== 'string'),
      );
      return [...inserted, ...messagesInEvents(fact.input.events)];
    }
    case 'memo':
      return messagesInEvents(fact.values[names.memo.events] as readonly { readonly message?: unknown }[] | undefined);
    case 'start': {
      const { start, snapshot } = fact.input;
      if (snapshot !== undefined) return [...Object.values(snapshot.lists).flat(), ...snapshot.shown];
      return messagesOfInput(start.input) ?? [];
    }
    default:
      return [];
  }
}

function messagesInEvents(events: readonly { readonly message?: unknown }[] | undefined): readonly StoredMessage[] {
  return (events ?? []).flatMap(({ message }) => (typeof message === 'object' && message !== null ? [message as StoredMessage] : []));
}
