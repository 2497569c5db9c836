import type { DeliveryOutcome, KeptDeliveries, KeptDelivery } from '../../contract/deliveries';
import { limits } from '../../contract/limits';
import type { Failure } from '../../contract/messages/messages';
import { hashOf } from '../access/secrets';
import type { ServiceStore } from '../store/store';
import { readJson } from '../store/store';
import type { DeliveryHeaders, TriggerStart } from './options';

/** A decision about a delivery. A run that was started and a delivery that was ignored are final. */
export type DeliveryDecision =
  | { readonly start: TriggerStart & { readonly id: string } }
  | { readonly run: string }
  | { readonly ignored: true }
  | { readonly problem: Failure };

type Entry = { readonly at: string } & DeliveryDecision;

export interface LastEntry {
  readonly id: string;
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

/** Undefined: the decision is not final. */
export function outcomeOf(decision: DeliveryDecision): DeliveryOutcome | undefined {
  if ('run' in decision) return { run: decision.run };
  return 'ignored' in decision ? { ignored: true } : undefined;
}

/** Decisions about the deliveries of a trigger. An entry is written once, so that of several services one decides, and all follow. */
export class DeliveryLog {
  private readonly place: string;

  constructor(
    private readonly store: ServiceStore,
    owner: { readonly tenant: string; readonly name: string },
  ) {
    this.place = hashOf(`${owner.tenant}/${owner.name}`).slice(0, 32);
  }

  /** Undefined: the delivery is unknown. */
  async last(id: string): Promise<LastEntry | undefined> {
    let last: LastEntry | undefined;
    while (last === undefined || outcomeOf(last.entry) === undefined) {
      const number: number = last === undefined ? 0 : last.number + 1;
      const entry = await readJson<Entry>(this.store, this.keyOf(id, number));
      if (entry === undefined) break;
      last = { id, number, entry, since: last?.since ?? entry.at };
    }
    return last;
  }

  /** Returns the entry of the writer who was first. */
  async add(id: string, decision: DeliveryDecision, after?: LastEntry): Promise<LastEntry> {
    const number = after === undefined ? 0 : after.number + 1;
    const own: Entry = { at: new Date().toISOString(), ...decision };
    const isFirst = await this.store.set(this.keyOf(id, number), JSON.stringify(own), once(after?.since ?? own.at));
    const entry = isFirst ? own : await readJson<Entry>(this.store, this.keyOf(id, number));
    // The entry of another writer has just ended.
    return entry === undefined ? this.add(id, decision, after) : { id, number, entry, since: after?.since ?? entry.at };
  }

  async keep(last: LastEntry, delivery: ReceivedDelivery): Promise<void> {
    await this.store.set(this.keptKey(last), JSON.stringify(delivery), once(last.since));
  }

  readKept(last: LastEntry): Promise<ReceivedDelivery | undefined> {
    return readJson(this.store, this.keptKey(last));
  }

  async forget(last: LastEntry): Promise<void> {
    await this.store.delete(this.keptKey(last));
  }

  async listKept(limit: number): Promise<KeptDeliveries> {
    const keys = [...(await this.store.list(`kept/${this.place}/`))].sort().reverse();
    const deliveries: KeptDelivery[] = [];
    for (const key of keys) {
      const kept = await readJson<ReceivedDelivery>(this.store, key);
      const last = kept === undefined ? undefined : await this.last(kept.id);
      if (kept === undefined || last === undefined || outcomeOf(last.entry) !== undefined) {
        // A delivery that was decided while a slow repeat kept it again.
        await this.store.delete(key);
      } else if (deliveries.length < limit) {
        const problem = 'problem' in last.entry ? { problem: last.entry.problem } : {};
        deliveries.push({ id: kept.id, at: last.since, ...problem, payload: kept.body.slice(0, mostShown) });
      } else return { deliveries, more: true };
    }
    return { deliveries, more: false };
  }

  /** Ids may be longer than names of files. */
  private keyOf(id: string, number: number): string {
    return `delivery/${this.place}/${hashOf(id)}/${number}`;
  }

  private keptKey({ id, since }: LastEntry): string {
    return `kept/${this.place}/${since}/${hashOf(id)}`;
  }
}

/** All entries of a delivery end with its first entry. */
function once(since: string): Parameters<ServiceStore['set']>[2] {
  return { ttlMs: Math.max(1, Date.parse(since) + limits.deliveryMs - Date.now()), ifAbsent: true };
}
