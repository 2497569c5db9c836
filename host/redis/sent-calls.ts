import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Delta } from '../../contract/deltas';
import type { RedisClient } from './redis-client';

/** A line has the deltas of one attempt, numbered from 0, so that readers can tell repeated and lost deltas. */
export type StreamEntry =
  | { readonly line: string; readonly from: number; readonly origin: Origin; readonly deltas: readonly object[] }
  | { readonly settled: string };

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

export const streamOf = (runId: string): string => `holdfast:deltas:${runId}`;

/** Writes deltas to the streams of their runs, one batch at a time. After a break, open calls are written again from their beginning. */
export class SentCalls {
  private readonly open = new Map<string, Line>();
  private readonly unsent = new Set<Line>();
  private readonly name = randomUUID();
  private count = 0;
  private isSending = false;
  sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly ready: () => RedisClient | undefined,
    private readonly onError: (error: unknown) => void,
  ) {}

  publish(runId: string, { agent, runPath, address, ...delta }: Delta): void {
    const key = `${runId} ${address}`;
    const isFirst = delta.type === 'attempt-void' || delta.type === 'attempt-start';
    const line = (isFirst ? undefined : this.open.get(key)) ?? this.begin(key, runId, { agent, runPath, address });
    const json = JSON.stringify(delta);
    line.kept.push(json);
    line.bytes += json.length;
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
    if (this.ready() === undefined && (line.settled || line.bytes > mostBytes)) forget(line, lengthOf(line));
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
      try {
        await this.sendBatch(client);
      } catch (error) {
        this.onError(error);
        if (this.ready() !== undefined) await delay(pauseMs, undefined, { ref: false });
      }
    }
    this.isSending = false;
  }

  private async sendBatch(client: RedisClient): Promise<void> {
    const batch = client.multi();
    const sent = [...this.unsent].map((line) => ({ line, upTo: lengthOf(line), settled: line.settled }));
    const open = new Set([...this.open.values()].map(({ runId }) => runId));
    for (const { line, upTo, settled } of sent) {
      const { name, runId, origin, kept, first, sent: from } = line;
      const add = (json: string): unknown => batch.xAdd(streamOf(runId), '*', { json }, { TRIM: streamLength });
      if (from < upTo)
        add(`{"line":"${name}","from":${from},"origin":${JSON.stringify(origin)},"deltas":[${kept.slice(from - first).join()}]}`);
      if (settled) add(JSON.stringify({ settled: origin.address } satisfies StreamEntry));
      batch.pExpire(streamOf(runId), open.has(runId) ? openMs : endedMs);
    }
    await batch.execAsPipeline();
    for (const { line, upTo, settled } of sent) {
      line.sent = Math.max(line.sent, upTo);
      if (line.bytes > mostBytes) forget(line, line.sent);
      if (line.sent === lengthOf(line) && line.settled === settled) this.unsent.delete(line);
    }
  }
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
