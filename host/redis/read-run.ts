import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Delta } from '../../contract/deltas';
import { ProcessBus } from '../event-bus';
import type { StreamEntry } from './sent-calls';

type Listener = (delta: Delta) => void;
export type StreamReply = readonly { readonly name: string; readonly messages: Entries }[];
type Entries = readonly { readonly id: string; readonly message: Readonly<Record<string, string>> }[];

export const pageSize = 1_000;
/** The longest wait for each more delta of a call that the history shows as ended. */
const lastDeltasMs = 1_000;
/** Redis may show a run from its beginning again, and a worker its last calls. */
const keptEnded = 1_000;

const line = z.string();
const origin = z.object({ agent: z.string(), runPath: z.array(z.string()), address: z.string() });
const deltas = z.array(z.looseObject({ type: z.string() }));
const entries = z.union([z.object({ line, settled: z.string() }), z.object({ line, from: z.number(), origin, deltas })]);

/** Shows the stream of a run to listeners: each delta once and in order. */
export class ReadRun {
  last = '0-0';
  /** The listeners come after the first page, without the calls that have ended by then. */
  private isBegun = false;
  private readonly bus = new ProcessBus();
  private readonly listeners = new Map<Listener, (() => void) | undefined>();
  private readonly calls = new Map<string, Map<string, number>>();
  private readonly ends = new Map<string, () => void>();
  private readonly ended = new Set<string>();

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
      const entry = entryOf(message['json']);
      if (entry === undefined || this.ended.has(entry.line)) continue;
      if ('settled' in entry) this.settle(entry.settled, entry.line);
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

  private hear({ line, from, origin, deltas }: Extract<StreamEntry, { from: number }>): void {
    const lines = this.calls.get(origin.address) ?? new Map<string, number>();
    let next = lines.get(line) ?? 0;
    for (const [at, body] of deltas.entries()) {
      // A repeated delta is skipped. A lost delta stops the line until the writer repeats the line.
      if (from + at !== next) continue;
      next += 1;
      const delta = { ...origin, ...body } as Delta;
      this.bus.publish(this.runId, delta);
      if (delta.type === 'attempt-void') return this.end(origin.address, line);
    }
    if (next > 0) this.calls.set(origin.address, lines.set(line, next));
  }

  private settle(address: string, ...lines: readonly string[]): void {
    this.bus.settle(this.runId, address);
    this.end(address, ...lines);
  }

  private end(address: string, ...lines: readonly string[]): void {
    for (const line of [...(this.calls.get(address)?.keys() ?? []), ...lines]) this.ended.add(line);
    for (const oldest of [...this.ended].slice(0, -keptEnded)) this.ended.delete(oldest);
    this.calls.delete(address);
    this.ends.get(address)?.();
    this.ends.delete(address);
  }
}

/** Undefined: another program wrote the entry. */
function entryOf(json = ''): StreamEntry | undefined {
  try {
    return entries.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
