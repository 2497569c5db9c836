import { defined } from '../../contract/defined';
import type { AgentPath } from '../../contract/record/agent-paths';
import { agentOfPath, hiddenModelCall } from '../../contract/record/agent-paths';
import { sourceOf } from '../../contract/messages/context-messages';
import type { EventBody, WireEvent } from '../../contract/events';
import { jsonSize } from '../../contract/limits';
import type { StoredMessage } from '../../contract/messages/messages';
import type { Splice } from '../../contract/record/splice';
import { spliceBetween } from '../../contract/record/splice';
import type { CallModelInput, RequestSlots } from '../../contract/record/wire';
import { packByModel } from '../../contract/usage';
import type { ModelCall } from '../run/ports';

interface LedgerEntry {
  readonly base: string;
  readonly ids: readonly string[];
  readonly slots: Partial<RequestSlots>;
}

type ModelEdit = Pick<CallModelInput, 'base' | 'splices' | 'slots'>;

/** Knows the messages in the history: later edits carry only the id. */
export class Ledger {
  private readonly entries = new Map<string, LedgerEntry>();
  private readonly last = new Map<string, LedgerEntry>();
  private readonly known = new Set<string>();
  /** Messages that the events of the current step carry whole. */
  private brought: ReadonlySet<string> = new Set();
  private fresh: string[] = [];
  private replaced = new Map<string, LedgerEntry | undefined>();

  constructor(lists: Readonly<Record<string, readonly StoredMessage[]>>, shown: readonly StoredMessage[]) {
    for (const [key, messages] of Object.entries(lists)) {
      if (isShort(messages)) continue;
      const ids = messages.map(({ id }) => id);
      for (const id of ids) this.known.add(id);
      this.entries.set(key, { base: 'start', ids, slots: {} });
    }
    for (const { id } of shown) this.known.add(id);
  }

  learn(message: StoredMessage | undefined): void {
    if (message !== undefined) this.known.add(message.id);
  }

  /** The list of a finished call certainly stands in the history. */
  cameBack(path: AgentPath): void {
    const entry = this.entries.get(path.join('/'));
    if (entry !== undefined && isBehindRoot(path)) this.last.set(agentOfPath(path), entry);
  }

  knows(id: string): boolean {
    return this.known.has(id);
  }

  learnId(id: string): void {
    this.known.add(id);
  }

  /** After a refused step its messages stay unknown. */
  step<T>(events: readonly EventBody[], make: () => T): T {
    this.fresh = [];
    this.replaced = new Map();
    this.brought = new Set(events.flatMap((event) => ('message' in event ? event.message.id : [])));
    try {
      return make();
    } catch (error) {
      for (const id of this.fresh) this.known.delete(id);
      for (const [key, entry] of this.replaced) {
        if (entry === undefined) this.entries.delete(key);
        else this.entries.set(key, entry);
      }
      throw error;
    } finally {
      this.brought = new Set();
    }
  }

  encode(events: readonly EventBody[]): readonly WireEvent[] {
    return events.map((event) => {
      if ('message' in event) {
        const { id } = event.message;
        if (this.known.has(id)) return { ...event, message: id };
        this.enters(id);
        return event as unknown as WireEvent;
      }
      // Readers derive the id from the place of the agent.
      if (event.type === 'agent-start' && event.run !== undefined) return { ...event, run: true };
      if (event.type === 'agent-end' && event.run !== undefined) return { ...event, run: true, ...packedUsage(event) };
      return (event.type === 'interrupt-start' ? { ...event, interrupt: event.interrupt.id } : event) as unknown as WireEvent;
    });
  }

  /** Relative to the agent's last list, even of an earlier turn, because a loop begins with nearly the same list. */
  editFor(call: Pick<ModelCall, 'address' | 'path' | 'messages' | 'slots'>): ModelEdit {
    const key = call.path.join('/');
    const own = this.entries.get(key);
    const before = own ?? (isBehindRoot(call.path) ? this.last.get(agentOfPath(call.path)) : undefined);
    const ids = call.messages.map(({ id }) => id);
    const splices = this.splice(before?.ids ?? [], call.messages);
    const changed = changedSlots(before?.slots ?? {}, call.slots);
    this.replaced.set(key, own);
    this.entries.set(key, { base: call.address, ids, slots: call.slots });
    return {
      ...(before === undefined ? {} : { base: before.base }),
      ...(splices.length === 0 ? {} : { splices }),
      ...defined({ slots: changed }),
    };
  }

  isRead(messages: readonly StoredMessage[], seen: readonly StoredMessage[]): boolean {
    return (
      seen.length === messages.length && messages.every(({ id }, position) => id === seen[position]?.id && this.known.has(sourceOf(id)))
    );
  }

  finalEdit(key: string, messages: readonly StoredMessage[]): { readonly base?: string; readonly splices: readonly Splice[] } {
    const before = this.entries.get(key);
    return { ...(before === undefined ? {} : { base: before.base }), splices: this.splice(before?.ids ?? [], messages) };
  }

  private splice(before: readonly string[], messages: readonly StoredMessage[]): readonly Splice[] {
    const splices = spliceBetween(before, messages, (id) => this.has(id));
    for (const [, , insert] of splices) for (const item of insert) if (typeof item !== 'string') this.enters(item.id);
    return splices;
  }

  /** The id of another agent's message derives from its source, which an event of the same step may carry. */
  private has(id: string): boolean {
    const source = sourceOf(id);
    return this.known.has(source) || (source !== id && this.brought.has(source));
  }

  private enters(id: string): void {
    this.known.add(id);
    this.fresh.push(id);
  }
}

/** Reading a short start from the history would cost more than repeating the start. */
function isShort(messages: readonly StoredMessage[]): boolean {
  return messages.length <= 4 && jsonSize(messages) <= 4096;
}

function isBehindRoot(path: AgentPath): boolean {
  return path.length > 1 && path.at(-1) !== hiddenModelCall;
}

function changedSlots(before: Partial<RequestSlots>, slots: RequestSlots): Partial<RequestSlots> | undefined {
  const changed = Object.entries(slots).filter(([key, value]) => {
    const earlier: unknown = before[key as keyof RequestSlots] ?? null;
    return earlier !== value && JSON.stringify(earlier) !== JSON.stringify(value);
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Most isolated agents use one model, whose name stands for all counts. */
function packedUsage({ usage, usageByModel }: Extract<EventBody, { type: 'agent-end' }>): object {
  return usage === undefined || usageByModel === undefined ? {} : { usageByModel: packByModel(usage, usageByModel) };
}
