import { messageById, sourceOf } from '../../contract/messages/context-messages';
import { HoldfastError } from '../../contract/errors';
import type { StoredRequest } from '../../contract/record/wire';
import type { HistoryFact } from '../../contract/record/history-fact';
import { jsonSize } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import { applySplices } from '../../contract/record/splice';
import type { CallModelInput, RequestSlots } from '../../contract/record/wire';
import { messagesIn, requestIn } from './request-history';
import { StartStore } from './start-store';
import { RunLocalStore } from './value-store';

/** Reads a run's own history. Given by the worker, which has the connection. */
export interface RunHistory {
  /** Pages of facts, newest first; the facts of a page newest first too. */
  newest(workflowId: string, runId: string): AsyncIterable<readonly HistoryFact[]>;
  /** Pages of facts, oldest first. */
  oldest(workflowId: string, runId: string): AsyncIterable<readonly HistoryFact[]>;
  /** All facts, oldest first. */
  all(workflowId: string, runId: string): Promise<readonly HistoryFact[]>;
}

interface CachedList {
  readonly ids: readonly string[];
  readonly slots: Partial<RequestSlots>;
}

interface KeptMessage {
  readonly message: StoredMessage;
  readonly bytes: number;
}

const bytesPerId = 48;

/**
 * The worker's memory of transcripts: messages by id and lists by activity, both within one Temporal run, bounded in bytes.
 * It is a cache only. What is missing is read from the history of the run.
 */
export class MessageStore {
  /** Of each run, the run that was asked for last at the end: a call asks for every message of its run, and a run has hundreds. */
  private readonly messages = new Map<string, Map<string, KeptMessage>>();
  private readonly lists = new Map<string, { readonly list: CachedList; readonly bytes: number }>();
  /** Of the messages of all runs. */
  private count = 0;
  private bytes = 0;
  /** How often history had to be read, and how long the slowest reading took. */
  readonly misses = { messages: 0, lists: 0, slowestMs: 0 };
  /** Run-local values are found again in the same way. */
  readonly values: RunLocalStore;
  /** What runs were started with. */
  readonly starts: StartStore;

  constructor(
    private readonly history: RunHistory,
    private readonly maxBytes = 64 * 1024 * 1024,
  ) {
    this.values = new RunLocalStore(history, maxBytes / 4);
    this.starts = new StartStore(history, maxBytes / 16);
  }

  putMessage(runId: string, message: StoredMessage): void {
    const ofRun = this.touch(this.messages, runId) ?? new Map<string, KeptMessage>();
    this.messages.set(runId, ofRun);
    if (!ofRun.has(message.id)) this.count += 1;
    this.put(ofRun, message.id, { message, bytes: jsonSize(message) });
  }

  /** The request behind the edits of a model activity: from memory, else from the newest pages, else from the whole history. */
  async resolve(workflowId: string, runId: string, activityId: string, input: CallModelInput): Promise<StoredRequest> {
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
    return this.touch(this.lists, `${runId}:${input.base}`)?.list;
  }

  private async fromMemory(workflowId: string, runId: string, base: CachedList, input: CallModelInput): Promise<StoredRequest | undefined> {
    const ids = applySplices(base.ids, input.splices ?? [], (item) => (typeof item === 'string' ? item : item.id));
    const found = new Map<string, StoredMessage>();
    const missing = new Set<string>();
    const kept = this.touch(this.messages, runId);
    for (const listed of ids) {
      // What an agent returned without saying it has no message of its own: what another one is told of it stands there whole.
      const message = (kept?.get(listed) ?? kept?.get(sourceOf(listed)))?.message;
      if (message === undefined) missing.add(sourceOf(listed));
      else found.set(message.id, message);
    }
    if (missing.size > 0 && !(await this.findNewest(workflowId, runId, new Set(ids), missing, found))) return undefined;
    const messages = ids.map((id) => messageById(id, (one) => found.get(one)) as StoredMessage);
    return { messages, slots: { ...base.slots, ...input.slots } };
  }

  /** Newest pages first: what another worker made a moment ago stands there. */
  private async findNewest(
    workflowId: string,
    runId: string,
    listed: ReadonlySet<string>,
    missing: Set<string>,
    found: Map<string, StoredMessage>,
  ): Promise<boolean> {
    this.misses.messages += 1;
    const results = new Map<number, unknown>();
    for await (const page of this.history.newest(workflowId, runId)) {
      for (const fact of page) {
        for (const message of messagesIn(fact, results)) {
          this.putMessage(runId, message);
          const { id } = message;
          const source = sourceOf(id);
          // What another agent is told will do where nothing else is listed.
          if (missing.has(source) && (id === source || (listed.has(id) && !listed.has(source)))) {
            missing.delete(source);
            found.set(id, message);
          }
        }
      }
      if (missing.size === 0) return true;
    }
    return false;
  }

  private async fromHistory(workflowId: string, runId: string, activityId: string): Promise<StoredRequest> {
    this.misses.lists += 1;
    const request = requestIn(await this.history.all(workflowId, runId), activityId);
    if (request === undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no model call ${activityId}.`);
    const messages = request.ids.map((id) => {
      const message = messageById(id, (one) => request.messages.get(one));
      if (message === undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no message ${id}.`);
      return message;
    });
    for (const message of request.messages.values()) this.putMessage(runId, message);
    return { messages, slots: request.slots };
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
    while (this.bytes > this.maxBytes) if (!this.dropOldest(value)) return;
  }

  /** Of the run that nobody has asked for the longest, the message that came first, or a list. False: there is nothing but what has just come. */
  private dropOldest(newest: object): boolean {
    const [oldest] = this.messages;
    const isListsTurn = oldest === undefined || (this.lists.size > 8 && this.lists.size * 4 > this.count);
    const victims: Map<string, { readonly bytes: number }> = isListsTurn ? this.lists : oldest[1];
    const [victim] = victims;
    if (victim === undefined || victim[1] === newest) return false;
    victims.delete(victim[0]);
    this.bytes -= victim[1].bytes;
    if (isListsTurn) return true;
    this.count -= 1;
    if (victims.size === 0) this.messages.delete(oldest[0]);
    return true;
  }
}
