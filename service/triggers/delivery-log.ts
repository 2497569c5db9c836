import type { KeptDeliveries, KeptDelivery } from '../../contract/deliveries';
import { limits } from '../../contract/limits';
import type { Failure } from '../../contract/messages/messages';
import { hashOf } from '../access/secrets';
import type { ServiceStore } from '../store/store';
import type { DeliveryHeaders, TriggerStart } from './options';

/** A decision about a delivery. A run that was started and a delivery that was ignored are final. */
export type DeliveryDecision =
  | { readonly start: TriggerStart & { readonly id: string } }
  | { readonly run: string }
  | { readonly ignored: true }
  | { readonly problem: Failure };

type Entry = { readonly at: string } & DeliveryDecision;

export interface LastEntry {
  readonly number: number;
  readonly entry: Entry;
  readonly since: string;
}

export interface ReceivedDelivery {
  readonly id: string;
  readonly headers: DeliveryHeaders;
  readonly body: string;
}

const mostShown = 2_000;

function isFinal(entry: Entry): boolean {
  return 'run' in entry || 'ignored' in entry;
}

/**
 * Decisions about the deliveries of a trigger. An entry is written once, so that of several services one decides, and all follow.
 */
export class DeliveryLog {
  private readonly place: string;

  constructor(
    private readonly store: ServiceStore,
    owner: { readonly tenant: string; readonly trigger: string },
    private readonly now: () => number = Date.now,
  ) {
    this.place = hashOf(`${owner.tenant}/${owner.trigger}`).slice(0, 32);
  }

  /** Undefined: the delivery is unknown. */
  async last(id: string): Promise<LastEntry | undefined> {
    let last: LastEntry | undefined;
    while (last === undefined || !isFinal(last.entry)) {
      const number: number = (last?.number ?? -1) + 1;
      const entry = await this.read(id, number);
      if (entry === undefined) break;
      last = { number, entry, since: last?.since ?? entry.at };
    }
    return last;
  }

  /** Returns the entry of the writer who was first. All entries of a delivery end with its first entry. */
  async add(id: string, decision: DeliveryDecision, after?: LastEntry): Promise<LastEntry> {
    const at = new Date(this.now()).toISOString();
    const { number = -1, since = at } = after ?? {};
    const options = { ttlMs: this.leftOf(since), ifAbsent: true } as const;
    const isFirst = await this.store.set(this.keyOf(id, number + 1), JSON.stringify({ at, ...decision }), options);
    const entry = isFirst ? { at, ...decision } : await this.read(id, number + 1);
    // The entry of another writer has just ended.
    if (entry === undefined) return this.add(id, decision, after);
    return { number: number + 1, entry, since: after === undefined ? entry.at : since };
  }

  async keep({ since }: LastEntry, { id, headers, body }: ReceivedDelivery): Promise<void> {
    await this.store.set(this.keptKey(id, since), JSON.stringify({ id, headers: withoutSecrets(headers), body }), {
      ttlMs: this.leftOf(since),
      ifAbsent: true,
    });
  }

  async readKept({ since }: LastEntry, id: string): Promise<ReceivedDelivery | undefined> {
    return this.received(this.keptKey(id, since));
  }

  async forget({ since }: LastEntry, id: string): Promise<void> {
    await this.store.delete(this.keptKey(id, since));
  }

  async listKept(limit: number): Promise<KeptDeliveries> {
    const keys = [...(await this.store.list(this.keptPrefix))].sort().reverse();
    const deliveries: KeptDelivery[] = [];
    for (const key of keys) {
      const kept = await this.received(key);
      const last = kept === undefined ? undefined : await this.last(kept.id);
      if (kept === undefined || last === undefined || isFinal(last.entry)) {
        // A delivery that was decided while a slow repeat kept it again.
        await this.store.delete(key);
        continue;
      }
      if (deliveries.length === limit) return { deliveries, more: true };
      const problem = 'problem' in last.entry ? { problem: last.entry.problem } : {};
      deliveries.push({ id: kept.id, at: last.since, ...problem, payload: kept.body.slice(0, mostShown) });
    }
    return { deliveries, more: false };
  }

  private async read(id: string, number: number): Promise<Entry | undefined> {
    const text = await this.store.get(this.keyOf(id, number));
    return text === undefined ? undefined : (JSON.parse(text) as Entry);
  }

  private async received(key: string): Promise<ReceivedDelivery | undefined> {
    const text = await this.store.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as ReceivedDelivery);
  }

  /** Ids may be longer than names of files. */
  private keyOf(id: string, number: number): string {
    return `delivery/${this.place}/${hashOf(id)}/${number}`;
  }

  private get keptPrefix(): string {
    return `kept/${this.place}/`;
  }

  private keptKey(id: string, since: string): string {
    return `${this.keptPrefix}${since}/${hashOf(id)}`;
  }

  private leftOf(since: string): number {
    return Math.max(1, Date.parse(since) + limits.deliveryMs - this.now());
  }
}

function withoutSecrets(headers: DeliveryHeaders): DeliveryHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/signature|token|secret|key/.test(name)));
}
