import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { inTime } from '../../activities/calls/in-time';
import { connectRedis, redisPatienceMs, type RedisClient } from '../../host/redis/redis-client';
import type { ServiceStore } from './store';

type SetOptions = Parameters<ServiceStore['set']>[2];

const prefix = 'holdfast:access:';
const auditKey = `${prefix}audit`;
/** Redis keeps the audit log in memory. */
const mostLines = 1_000_000;
const pageSize = 1_000;

/** For services on several hosts. */
export class RedisStore implements ServiceStore {
  private connected: Promise<RedisClient> | undefined;
  private problem: unknown;

  constructor(
    private readonly url: string,
    private readonly patienceMs = redisPatienceMs,
  ) {}

  async get(key: string): Promise<string | undefined> {
    return (await this.ask((redis) => redis.get(prefix + key))) ?? undefined;
  }

  async set(key: string, value: string, { ttlMs, ifAbsent }: SetOptions = {}): Promise<boolean> {
    const expiration = ttlMs === undefined ? undefined : ({ type: 'PX', value: Math.max(1, Math.round(ttlMs)) } as const);
    const condition = ifAbsent === true ? ('NX' as const) : undefined;
    return (await this.ask((redis) => redis.set(prefix + key, value, defined({ expiration, condition })))) === 'OK';
  }

  async delete(key: string): Promise<boolean> {
    return (await this.ask((redis) => redis.del(prefix + key))) === 1;
  }

  async list(wanted: string): Promise<readonly string[]> {
    const found = new Set<string>();
    const options = { MATCH: `${escaped(prefix + wanted)}*`, COUNT: pageSize };
    let cursor = '0';
    do {
      const from = cursor;
      const page = await this.ask((redis) => redis.scan(from, options));
      for (const key of page.keys) if (key !== auditKey) found.add(key.slice(prefix.length));
      cursor = page.cursor;
    } while (cursor !== '0');
    return [...found].sort();
  }

  async append(line: string): Promise<void> {
    const trim = { strategy: 'MAXLEN', strategyModifier: '~', threshold: mostLines } as const;
    await this.ask((redis) => redis.xAdd(auditKey, '*', { line }, { TRIM: trim }));
  }

  async *lines(): AsyncGenerator<string> {
    for (let start: string | undefined = '-'; start !== undefined;) {
      const from: string = start;
      const page = (await this.ask((redis) => redis.xRange(auditKey, from, '+', { COUNT: pageSize }))) ?? [];
      for (const { message } of page) yield message['line'] ?? '';
      start = page.length < pageSize ? undefined : `(${page.at(-1)?.id}`;
    }
  }

  close(): void {
    void this.connected?.then((redis) => redis.destroy()).catch(() => undefined);
    this.connected = Promise.reject(new Error('the service has closed its store'));
    this.connected.catch(() => undefined);
  }

  private async ask<T>(question: (redis: RedisClient) => Promise<T>): Promise<T> {
    try {
      return await inTime((this.connected ??= this.connect()).then(question), this.patienceMs, () => {
        throw new Error(`it said nothing for ${this.patienceMs / 1000} s`);
      });
    } catch (error) {
      const reason = messageOf(this.problem ?? error) || 'it gave no reason';
      throw new HoldfastError('identity-unavailable', `Redis, which has the keys and sessions, cannot be used: ${reason}.`, {
        cause: error,
      });
    }
  }

  private connect(): Promise<RedisClient> {
    const onError = (error: unknown): unknown => (this.problem = error);
    return connectRedis(this.url, { onError, onReady: () => (this.problem = undefined) }, { patienceMs: this.patienceMs });
  }
}

function escaped(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&');
}
