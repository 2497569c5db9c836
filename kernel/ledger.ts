import { sourceOf } from '../contract/plain/context-messages';
import type { EventBody, WireEvent } from '../contract/plain/events';
import type { StoredMessage } from '../contract/plain/messages';
import type { Splice } from '../contract/plain/splice';
import { spliceBetween } from '../contract/plain/splice';
import type { CallModelInput, RequestSlots } from '../contract/plain/wire';
import type { ModelCall } from './ports';

interface Entry {
  readonly base: string;
  readonly ids: readonly string[];
  readonly slots: Partial<RequestSlots>;
}

type ModelEdit = Pick<CallModelInput, 'base' | 'splices' | 'slots'>;

/** Knows what history has, so that every message enters it once: later it is an id in an edit of an earlier list. */
export class Ledger {
  private readonly entries = new Map<string, Entry>();
  private readonly known = new Set<string>();
  /** What the step that is being made has made known. */
  private fresh: string[] = [];

  constructor(lists: Readonly<Record<string, readonly StoredMessage[]>>, shown: readonly StoredMessage[]) {
    for (const [key, messages] of Object.entries(lists)) {
      const ids = messages.map(({ id }) => id);
      for (const id of ids) this.known.add(id);
      this.entries.set(key, { base: 'start', ids, slots: {} });
    }
    for (const { id } of shown) this.known.add(id);
  }

  /** A message that came back from an activity stands in its result. */
  learn(message: StoredMessage | undefined): void {
    if (message !== undefined) this.known.add(message.id);
  }

  /** Whether history has this message, whole. */
  knows(id: string): boolean {
    return this.known.has(id);
  }

  learnId(id: string): void {
    this.known.add(id);
  }

  /** Makes a step. One that is refused enters no history: then nothing of it is known, and the next edit is of the list before. */
  step<T>(make: () => T): T {
    const entries = new Map(this.entries);
    this.fresh = [];
    try {
      return make();
    } catch (error) {
      for (const id of this.fresh) this.known.delete(id);
      this.entries.clear();
      for (const [key, entry] of entries) this.entries.set(key, entry);
      throw error;
    }
  }

  /** Events for the next command, and what they carry becomes known. */
  encode(events: readonly EventBody[]): readonly WireEvent[] {
    return events.map((event) => {
      if (event.type === 'model-end' || event.type === 'tool-end' || event.type === 'agent-message') {
        const { id } = event.message;
        if (this.known.has(id)) return { ...event, message: id };
        this.enters(id);
        return event as unknown as WireEvent;
      }
      // Its id says again where the agent stands; the fold makes it of that.
      if ((event.type === 'agent-start' || event.type === 'agent-end') && event.run !== undefined) return { ...event, run: true };
      return (event.type === 'interrupt-start' ? { ...event, interrupt: event.interrupt.id } : event) as unknown as WireEvent;
    });
  }

  /** The edit that makes this call's list out of the last one of the same agent. */
  editFor(call: ModelCall): ModelEdit {
    const key = call.path.join('/');
    const before = this.entries.get(key);
    const ids = call.messages.map(({ id }) => id);
    const splices = this.splice(before?.ids ?? [], call.messages);
    const slots: RequestSlots = {
      instructions: call.instructions,
      tools: call.tools,
      model: call.model,
      settings: call.settings ?? null,
      halves: call.halves,
      stream: call.stream,
      output: call.output ?? null,
      retries: call.retries ?? null,
      parse: call.parse ?? null,
      specs: call.specs ?? null,
      deferred: call.deferred ?? null,
      final: call.final ?? null,
      catalog: call.catalog ?? null,
    };
    const changed = changedSlots(before?.slots ?? {}, slots);
    this.entries.set(key, { base: call.address, ids, slots });
    return {
      ...(before === undefined ? {} : { base: before.base }),
      ...(splices.length === 0 ? {} : { splices }),
      ...(changed === undefined ? {} : { slots: changed }),
    };
  }

  /** Whether readers, who see these, have the final list already. */
  isRead(messages: readonly StoredMessage[], seen: readonly StoredMessage[]): boolean {
    return (
      seen.length === messages.length && messages.every(({ id }, position) => id === seen[position]?.id && this.known.has(sourceOf(id)))
    );
  }

  /** How the final list differs from the last one that history has. */
  finalEdit(key: string, messages: readonly StoredMessage[]): { readonly base?: string; readonly splices: readonly Splice[] } {
    const before = this.entries.get(key);
    return { ...(before === undefined ? {} : { base: before.base }), splices: this.splice(before?.ids ?? [], messages) };
  }

  private splice(before: readonly string[], messages: readonly StoredMessage[]): readonly Splice[] {
    const splices = spliceBetween(before, messages, (id) => this.known.has(sourceOf(id)));
    for (const [, , insert] of splices) for (const item of insert) if (typeof item !== 'string') this.enters(item.id);
    return splices;
  }

  private enters(id: string): void {
    this.known.add(id);
    this.fresh.push(id);
  }
}

function changedSlots(before: Partial<RequestSlots>, slots: RequestSlots): Partial<RequestSlots> | undefined {
  const changed = Object.entries(slots).filter(([key, value]) => {
    const earlier: unknown = before[key as keyof RequestSlots] ?? null;
    return earlier !== value && JSON.stringify(earlier) !== JSON.stringify(value);
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
