import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutCredentials } from '../../contract/credentials';
import { defined } from '../../contract/defined';
import type { Delta, DeltaSink, DeltaSource } from '../../contract/deltas';
import { HoldfastError, messageOf } from '../../contract/errors';
import { pageSize, ReadRun, type StreamReply } from './read-run';
import { connectRedis, redisPatienceMs, type RedisClient } from './redis-client';
import { SentCalls, streamOf } from './sent-calls';

/** A connection whose other side is gone without a word is closed. */
const silentMs = 16_000;
const blockMs = 5_000;
const pauseMs = 200;
const wakeMs = 60_000;
const isWrongType = (error: unknown): boolean => messageOf(error).startsWith('WRONGTYPE');

/**
 * Carries deltas from workers to readers in other processes, over Redis 5 or newer. A Redis that is away costs deltas only.
 * @example
 * const deltas = new RedisBus('redis://localhost:6379', (problem) => console.error(problem.message));
 * const client = await connect({ server: { address: '127.0.0.1:7233', namespace: 'default' }, deltas });
 * for await (const event of (await client.start('support', 'Hello')).events()) console.log(event.type);
 * await client.close();
 * await deltas.close();
 */
export class RedisBus implements DeltaSink, DeltaSource {
  private readonly clients: Promise<RedisClient>[] = [];
  private client: RedisClient | undefined;
  private blocking: Promise<RedisClient> | undefined;
  private readonly sent = new SentCalls(
    () => this.ready,
    (error) => (error === undefined ? this.isBack('writing') : this.isAway('writing', error)),
  );
  private readonly runs = new Map<string, ReadRun>();
  private readonly wakeStream = `holdfast:deltas:wake:${randomUUID()}`;
  private isReading = false;
  private isSure = false;
  private woken = '0-0';
  private readonly away = new Set<'reading' | 'writing'>();
  private closed = false;

  constructor(
    private readonly url: string,
    private readonly onProblem: (problem: HoldfastError) => void = () => undefined,
    private readonly onBack: () => void = () => undefined,
  ) {
    const onReady = (): void => {
      this.isBack('writing');
      this.sent.again();
    };
    void this.open('writing', onReady).then((client) => {
      this.client = client;
      if (client.isReady) onReady();
    });
  }

  publish(runId: string, delta: Delta): void {
    if (!this.closed) this.sent.publish(runId, delta);
  }

  settle(runId: string, address: string): void {
    this.sent.settle(runId, address);
  }

  subscribe(runId: string, listener: (delta: Delta) => void): () => void {
    const stream = streamOf(runId);
    const run = this.runs.get(stream) ?? new ReadRun(runId);
    run.add(listener);
    if (!this.runs.has(stream)) {
      this.runs.set(stream, run);
      if (!this.isReading) void this.read();
      else this.wake();
    }
    return () => {
      if (!run.remove(listener) && this.runs.get(stream) === run) this.runs.delete(stream);
    };
  }

  async settled(runId: string, address: string): Promise<void> {
    if (this.ready !== undefined) await this.runs.get(streamOf(runId))?.settled(address);
  }

  async close(): Promise<void> {
    await Promise.race([this.sent.sending, delay(redisPatienceMs, undefined, { ref: false })]);
    this.closed = true;
    for (const client of await Promise.all(this.clients)) client.destroy();
  }

  private get ready(): RedisClient | undefined {
    return !this.closed && this.client?.isReady === true ? this.client : undefined;
  }

  private open(side: 'reading' | 'writing', onReady?: () => void): Promise<RedisClient> {
    const client = connectRedis(this.url, { onError: (error) => this.isAway(side, error), ...defined({ onReady }) }, { silentMs });
    this.clients.push(client);
    return client;
  }

  /** One blocking request waits for all runs that have readers. */
  private async read(): Promise<void> {
    this.isReading = true;
    while (this.runs.size > 0 && !this.closed) {
      const asked = new Map(this.runs);
      try {
        const client = await (this.blocking ??= this.open('reading', () => {
          this.isSure = false;
          this.woken = '0-0';
        }));
        const keys = await this.streams(client, asked);
        const found = (await client.xRead(keys, { BLOCK: blockMs, COUNT: pageSize })) as StreamReply | null;
        if (this.isSure) this.isBack('reading');
        for (const { name, messages } of found ?? []) {
          const run = this.runs.get(name);
          if (name === this.wakeStream) this.woken = messages.at(-1)?.id ?? this.woken;
          else if (run === asked.get(name)) run?.take(messages);
        }
      } catch (error) {
        if (isWrongType(error)) this.isSure = false;
        else this.isAway('reading', error);
        await delay(pauseMs, undefined, { ref: false });
      }
    }
    this.isReading = false;
  }

  /** Leaves out values of other programs, and begins again where a Redis with a late clock has lost entries. */
  private async streams(client: RedisClient, runs: Map<string, ReadRun>): Promise<{ key: string; id: string }[]> {
    const check = async ([key, run]: readonly [string, ReadRun]): Promise<void> => {
      try {
        const [newest] = (await client.xRevRange(key, '+', '-', { COUNT: 1 })) ?? [];
        if (Number.parseInt(newest?.id ?? '0') < Number.parseInt(run.last)) run.last = '0-0';
      } catch (error) {
        if (!isWrongType(error)) throw error;
        runs.delete(key);
        this.isSure = false;
        this.isAway('reading', new Error(`"${key}" is no stream and must be deleted`));
      }
    };
    if (!this.isSure) {
      this.isSure = true;
      await Promise.all([...runs].map(check));
    }
    return [...[...runs].map(([key, { last }]) => ({ key, id: last })), { key: this.wakeStream, id: this.woken }];
  }

  /** The open request does not have the newest run. */
  private wake(): void {
    const batch = this.ready?.multi().xAdd(this.wakeStream, '*', { json: '' }).pExpire(this.wakeStream, wakeMs);
    batch?.execAsPipeline().then(
      () => this.isBack('writing'),
      (error: unknown) => this.isAway('writing', error),
    );
  }

  private isBack(side: 'reading' | 'writing'): void {
    if (this.away.delete(side) && this.away.size === 0) this.onBack();
  }

  private isAway(side: 'reading' | 'writing', error: unknown): void {
    const wasAway = this.away.size > 0;
    this.away.add(side);
    if (wasAway || this.closed) return;
    const said = withoutCredentials(messageOf(error)).replace(/\.$/, '') || 'it gave no reason';
    const message = `Redis at HOLDFAST_REDIS_URL cannot be used: ${said}. Until it can, readers in other processes get whole messages.`;
    this.onProblem(new HoldfastError('deltas-not-shared', message, { cause: error }));
  }
}
