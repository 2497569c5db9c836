import { setTimeout as delay } from 'node:timers/promises';
import type { Delta } from '../../contract/deltas';
import { ProcessBus } from '../event-bus';
import type { StreamEntry } from './sent-calls';

type Listener = (delta: Delta) => void;
export type StreamReply = readonly { readonly name: string; readonly messages: Entries }[];
type Entries = readonly { readonly id: string; readonly message: Readonly<Record<string, string>> }[];

export const pageSize = 1_000;
/** The longest wait for each more delta of a call that the history shows as ended. */
const lastDeltasMs = 1_000;

/** Shows the stream of a run to listeners: each delta once and in order. */
export class ReadRun {
  last = '0-0';
  /** The listeners come after the first page, without the calls that have ended by then. */
  private isBegun = false;
  private readonly bus = new ProcessBus();
  private readonly listeners = new Map<Listener, (() => void) | undefined>();
  private readonly calls = new Map<string, Map<string, number>>();
  private readonly ends = new Map<string, () => void>();

  constructor(private readonly runId: string) {}

  add(listener: Listener): void {
    this.listeners.set(listener, this.isBegun ? this.bus.subscribe(this.runId, listener) : undefined);
  }

  remove(listener: Listener): boolean {
    this.listeners.get(listener)?.();
    this.listeners.delete(listener);
    return this.listeners.size > 0;
  }

  take(entries: Entries): void {
    for (const { id, message } of entries) {
      this.last = id;
      const entry = JSON.parse(message['json'] ?? '') as StreamEntry;
      if ('settled' in entry) this.settle(entry.settled);
      else this.hear(entry);
    }
    if (this.isBegun || entries.length === pageSize) return;
    this.isBegun = true;
    for (const listener of this.listeners.keys()) this.add(listener);
  }

  async settled(address: string): Promise<void> {
    const lines = this.calls.get(address);
    if (lines === undefined) return;
    const end = new Promise<void>((resolve) => this.ends.set(address, resolve));
    const countHeard = (): number => [...lines.values()].reduce((sum, count) => sum + count, 0);
    for (let heard = 0; this.calls.has(address) && heard < countHeard();) {
      heard = countHeard();
      await Promise.race([end, delay(lastDeltasMs, undefined, { ref: false })]);
    }
    this.settle(address);
  }

  private hear({ line, from, origin, deltas }: Extract<StreamEntry, { line: string }>): void {
    const lines = this.calls.get(origin.address) ?? new Map<string, number>();
    let next = lines.get(line) ?? 0;
    for (const [at, body] of deltas.entries()) {
      // A repeated delta is skipped. A lost delta stops the line until the writer repeats the line.
      if (from + at !== next) continue;
      next += 1;
      const delta = { ...origin, ...body } as Delta;
      this.bus.publish(this.runId, delta);
      if (delta.type === 'attempt-void') return this.end(origin.address);
    }
    if (next > 0) this.calls.set(origin.address, lines.set(line, next));
  }

  private settle(address: string): void {
    this.bus.settle(this.runId, address);
    this.end(address);
  }

  private end(address: string): void {
    this.calls.delete(address);
    this.ends.get(address)?.();
    this.ends.delete(address);
  }
}
