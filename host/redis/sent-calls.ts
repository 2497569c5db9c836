import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Delta } from '../../contract/deltas';
import type { RedisClient } from './redis-client';

/** A line has the deltas of one attempt, numbered from 0, so that readers can tell repeated and lost deltas. */
export type StreamEntry =
  | { readonly line: string; readonly from: number; readonly origin: Origin; readonly deltas: readonly object[] }
  | { readonly line: string; readonly settled: string };

type Origin = Pick<Delta, 'agent' | 'runPath' | 'address'>;

interface Line {
  readonly name: string;
  readonly runId: string;
  readonly origin: Origin;
  kept: string[];
  first: number;
  bytes: number;
  sent: number;
  settled: boolean;
}

const streamLength = { strategy: 'MAXLEN', strategyModifier: '~', threshold: 20_000 } as const;
const openMs = 3_600_000;
/** Slow readers still find the last deltas of a run whose calls have ended. */
const endedMs = 60_000;
const pauseMs = 1_000;
const mostBytes = 4_000_000;
const mostUnsent = 10_000;
/** Of a Redis that takes batches slowly or not at all. */
const mostWaiting = 32_000_000;

export const streamOf = (runId: string): string => `holdfast:deltas:${runId}`;

/** Writes deltas to the streams of their runs, one batch at a time. After a break, open calls are written again from their beginning. */
export class SentCalls {
  private readonly open = new Map<string, Line>();
  private readonly unsent = new Set<Line>();
  private readonly name = randomUUID();
  private count = 0;
  private isSending = false;
  private waiting = 0;
  sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly ready: () => RedisClient | undefined,
    private readonly onSent: (error?: unknown) => void,
  ) {}

  publish(runId: string, { agent, runPath, address, ...delta }: Delta): void {
    const key = `${runId} ${address}`;
    const isFirst = delta.type === 'attempt-void' || delta.type === 'attempt-start';
    const line = (isFirst ? undefined : this.open.get(key)) ?? this.begin(key, runId, { agent, runPath, address });
    const json = JSON.stringify(delta);
    line.kept.push(json);
    line.bytes += json.length;
    this.waiting += json.length;
    if (delta.type === 'attempt-void') this.open.delete(key);
    this.send(line);
  }

  settle(runId: string, address: string): void {
    const key = `${runId} ${address}`;
    const line = this.open.get(key);
    if (line === undefined) return;
    this.open.delete(key);
    line.settled = true;
    this.send(line);
  }

  /** Redis may have lost all entries. */
  again(): void {
    this.waiting = 0;
    for (const line of [...this.unsent, ...this.open.values()]) {
      line.sent = line.first;
      this.send(line);
    }
  }

  private begin(key: string, runId: string, origin: Origin): Line {
    const before = this.open.get(key);
    if (before !== undefined) this.unsent.delete(before);
    const name = `${this.name} ${this.count++}`;
    const line: Line = { name, runId, origin, kept: [], first: 0, bytes: 0, sent: 0, settled: false };
    this.open.set(key, line);
    return line;
  }

  private send(line: Line): void {
    const isTooMuch = this.ready() === undefined ? line.settled || line.bytes > mostBytes : this.waiting > mostWaiting;
    if (isTooMuch) forget(line, lengthOf(line));
    const [oldest] = this.unsent;
    if (this.unsent.size >= mostUnsent && oldest !== undefined) this.unsent.delete(oldest);
    this.unsent.add(line);
    if (this.isSending) return;
    this.isSending = true;
    this.sending = this.sendAll();
  }

  private async sendAll(): Promise<void> {
    await Promise.resolve();
    for (let client = this.ready(); client !== undefined && this.unsent.size > 0; client = this.ready()) {
      const { waiting } = this;
      const error = await this.sendBatch(client);
      this.waiting -= waiting;
      this.onSent(error);
      if (error !== undefined && this.ready() !== undefined) await delay(pauseMs, undefined, { ref: false });
    }
    this.isSending = false;
  }

  /** Returns why Redis refused a line, which is sent again unless its call has ended. */
  private async sendBatch(client: RedisClient): Promise<unknown> {
    const open = new Set([...this.open.values()].map(({ runId }) => runId));
    const errors = await Promise.all(
      [...this.unsent].map(async (line) => {
        const upTo = lengthOf(line);
        const { settled } = line;
        try {
          await sendLine(client, line, open.has(line.runId) ? openMs : endedMs);
          line.sent = Math.max(line.sent, upTo);
        } catch (error) {
          if (line.bytes > mostBytes) forget(line, upTo);
          if (settled && client.isReady) this.unsent.delete(line);
          return error;
        }
        if (line.bytes > mostBytes) forget(line, line.sent);
        if (line.sent === lengthOf(line) && line.settled === settled) this.unsent.delete(line);
        return undefined;
      }),
    );
    return errors.find((error) => error !== undefined);
  }
}

async function sendLine(client: RedisClient, { name, runId, origin, kept, first, sent, settled }: Line, ttlMs: number): Promise<void> {
  const batch = client.multi();
  const add = (json: string): unknown => batch.xAdd(streamOf(runId), '*', { json }, { TRIM: streamLength });
  if (sent < first + kept.length)
    add(`{"line":"${name}","from":${sent},"origin":${JSON.stringify(origin)},"deltas":[${kept.slice(sent - first).join()}]}`);
  if (settled) add(JSON.stringify({ line: name, settled: origin.address } satisfies StreamEntry));
  await batch.pExpire(streamOf(runId), ttlMs).execAsPipeline();
}

function lengthOf({ first, kept }: Line): number {
  return first + kept.length;
}

/** Late readers then see nothing of the line, because half an answer misleads. */
function forget(line: Line, upTo: number): void {
  line.kept = line.kept.slice(upTo - line.first);
  line.first = upTo;
  line.sent = Math.max(line.sent, upTo);
  line.bytes = line.kept.reduce((sum, json) => sum + json.length, 0);
}
