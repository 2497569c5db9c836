import { messageById, sourceOf } from '../../contract/messages/context-messages';
import { HoldfastError } from '../../contract/errors';
import type { StoredRequest, CallModelInput, RequestSlots } from '../../contract/record/wire';
import type { HistoryFact } from '../../contract/record/history-fact';
import { jsonSize } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import { applySplices } from '../../contract/record/splice';
import { ByteMap } from './byte-map';
import { messagesIn, requestIn } from './request-history';
import type { RunHistory } from './run-history';
import { StartStore } from './start-store';
import { RunLocalStore } from './value-store';

interface CachedList {
  readonly ids: readonly string[];
  readonly slots: Partial<RequestSlots>;
}

const bytesPerId = 48;

/** A cache of messages by id and lists by activity, within one Temporal run. The history fills gaps. */
export class MessageStore {
  private readonly messages: ByteMap<StoredMessage>;
  private readonly lists: ByteMap<CachedList>;
  readonly misses = { messages: 0, lists: 0 };
  readonly values: RunLocalStore;
  readonly starts: StartStore;

  constructor(
    private readonly history: RunHistory,
    maxBytes = 64 * 1024 * 1024,
  ) {
    this.messages = new ByteMap((maxBytes * 3) / 4);
    this.lists = new ByteMap(maxBytes / 4);
    this.values = new RunLocalStore(history, maxBytes / 4);
    this.starts = new StartStore(history, maxBytes / 16);
  }

  putMessage(runId: string, message: StoredMessage): void {
    this.messages.put(`${runId}:${message.id}`, message, jsonSize(message));
  }

  /** Looks in memory, then in the newest pages, then in the whole history. */
  async resolve(workflowId: string, runId: string, activityId: string, input: CallModelInput): Promise<StoredRequest> {
    for (const [, , insert] of input.splices ?? []) for (const item of insert) if (typeof item !== 'string') this.putMessage(runId, item);
    const base = this.baseOf(runId, input);
    const resolved = base === undefined ? undefined : await this.fromMemory(workflowId, runId, base, input);
    const request = resolved ?? (await this.fromHistory(workflowId, runId, activityId));
    const ids = request.messages.map(({ id }) => id);
    this.lists.put(`${runId}:${activityId}`, { ids, slots: request.slots }, ids.length * bytesPerId);
    return request;
  }

  private baseOf(runId: string, input: CallModelInput): CachedList | undefined {
    if (input.base === undefined) return { ids: [], slots: {} };
    return this.lists.get(`${runId}:${input.base}`);
  }

  private async fromMemory(workflowId: string, runId: string, base: CachedList, input: CallModelInput): Promise<StoredRequest | undefined> {
    const ids = applySplices(base.ids, input.splices ?? [], (item) => (typeof item === 'string' ? item : item.id));
    const found = new Map<string, StoredMessage>();
    const missing = new Set<string>();
    for (const listed of ids) {
      // A result that an agent returned without a message exists only as the message that told another agent.
      const message = this.messages.get(`${runId}:${listed}`) ?? this.messages.get(`${runId}:${sourceOf(listed)}`);
      if (message === undefined) missing.add(sourceOf(listed));
      else found.set(message.id, message);
    }
    const newest = missing.size === 0 ? found : await this.findNewest(workflowId, runId, new Set(ids), missing);
    if (newest === undefined) return undefined;
    const messages = ids.map((id) => messageById(id, (one) => found.get(one) ?? newest.get(one)) as StoredMessage);
    return { messages, slots: { ...base.slots, ...input.slots } };
  }

  /** The newest pages have other workers' latest messages. Undefined: a missing message is older. */
  private async findNewest(
    workflowId: string,
    runId: string,
    listed: ReadonlySet<string>,
    missing: Set<string>,
  ): Promise<ReadonlyMap<string, StoredMessage> | undefined> {
    this.misses.messages += 1;
    const found = new Map<string, StoredMessage>();
    const results = new Map<number, unknown>();
    for await (const page of this.history.newest(workflowId, runId)) {
      for (const fact of page) {
        for (const message of messagesIn(fact, results)) {
          this.putMessage(runId, message);
          const { id } = message;
          const source = sourceOf(id);
          // The message to another agent counts only if the list lacks the source.
          if (missing.has(source) && (id === source || (listed.has(id) && !listed.has(source)))) {
            missing.delete(source);
            found.set(id, message);
          }
        }
      }
      if (missing.size === 0) return found;
    }
    return undefined;
  }

  private async fromHistory(workflowId: string, runId: string, activityId: string): Promise<StoredRequest> {
    this.misses.lists += 1;
    const facts: HistoryFact[] = [];
    for await (const page of this.history.oldest(workflowId, runId)) facts.push(...page);
    const request = requestIn(facts, activityId);
    if (request === undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no model call ${activityId}.`);
    const messages = request.ids.map((id) => {
      const message = messageById(id, (one) => request.messages.get(one));
      if (message === undefined) throw new HoldfastError('internal', `The history of ${workflowId} has no message ${id}.`);
      return message;
    });
    for (const message of request.messages.values()) this.putMessage(runId, message);
    return { messages, slots: request.slots };
  }
}
