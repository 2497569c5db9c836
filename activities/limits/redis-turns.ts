import { withoutCredentials } from '../../contract/credentials';
import { HoldfastError, messageOf } from '../../contract/errors';
import { connectRedis, redisPatienceMs, type RedisClient } from '../../host/redis/redis-client';
import { inTime } from '../calls/in-time';
import { rateOf } from './bucket';
import type { Asker, SharedTurns } from './gate';
import type { Limit } from './limit';

const leaseMs = 30_000;
const pollMs = 100;
/** A call that stopped asking must not delay other calls. */
const seenMs = 2_000;

/**
 * Keys: leases, waiting calls by age, waiting calls by last request, rest of the rates. A worker names only its first waiting call, which
 * also waits for older calls of other workers.
 */
const askScript = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local id, since, tokens, concurrent = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
redis.call('ZADD', KEYS[2], since, id)
redis.call('ZADD', KEYS[3], now + ${seenMs}, id)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 180000) end
local before = redis.call('ZRANK', KEYS[2], id)
if concurrent > 0 and before >= concurrent - redis.call('ZCARD', KEYS[1]) then return ${pollMs} end
local levels = {}
for i, name in ipairs({ 'requests', 'tokens' }) do
  local burst, perMs = tonumber(ARGV[3 + 2 * i]), tonumber(ARGV[4 + 2 * i])
  if burst > 0 then
    local saved = redis.call('HMGET', KEYS[4], name, name .. ':at')
    local level = math.min(burst, (tonumber(saved[1]) or burst) + math.max(0, now - (tonumber(saved[2]) or now)) * perMs)
    local needed = math.min(1 + (name == 'requests' and before or 0), burst)
    if level < needed then return math.max(1, math.min(1000, math.ceil((needed - level) / perMs))) end
    levels[name] = level - (name == 'requests' and 1 or tokens)
  end
end
for name, level in pairs(levels) do redis.call('HSET', KEYS[4], name, tostring(level), name .. ':at', now) end
redis.call('ZREM', KEYS[2], id)
redis.call('ZREM', KEYS[3], id)
redis.call('ZADD', KEYS[1], now + ${leaseMs}, id)
redis.call('PEXPIRE', KEYS[1], 180000)
return 0`;

const renewScript = `
local clock = redis.call('TIME')
return redis.call('ZADD', KEYS[1], 'XX', clock[1] * 1000 + math.floor(clock[2] / 1000) + ${leaseMs}, ARGV[1])`;

const endScript = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
for i, name in ipairs({ 'requests', 'tokens' }) do
  local more = tonumber(ARGV[1 + i])
  if more ~= 0 and redis.call('HEXISTS', KEYS[4], name) == 1 then redis.call('HINCRBYFLOAT', KEYS[4], name, -more) end
end
return 0`;

class RedisTurns implements SharedTurns {
  private readonly keys: string[];
  private readonly rates: string[];
  private readonly leases = new Map<string, NodeJS.Timeout>();

  constructor(
    name: string,
    private readonly limit: Limit,
    private readonly redis: RedisLink,
  ) {
    // The braces keep a limit's keys on one node of a cluster.
    this.keys = ['held', 'waiting', 'seen', 'rates'].map((part) => `holdfast:limits:{${name}}:${part}`);
    this.rates = [limit.perMinute, limit.tokensPerMinute].flatMap((perMinute) => {
      if (perMinute === undefined) return ['0', '0'];
      const { burst, perMs } = rateOf(perMinute);
      return [String(burst), String(perMs)];
    });
  }

  async ask({ id, since, tokens }: Asker): Promise<number> {
    const wait = await this.eval(askScript, id, String(since), String(tokens), String(this.limit.concurrent ?? 0), ...this.rates);
    if (wait === undefined || wait > 0) return wait ?? 0;
    clearInterval(this.leases.get(id));
    this.leases.set(
      id,
      setInterval(() => void this.eval(renewScript, id), leaseMs / 3),
    );
    return 0;
  }

  end({ id, tokens }: Asker, taken: number): void {
    this.leave(id, 0, taken - tokens);
  }

  giveBack({ id, tokens }: Asker): void {
    this.leave(id, -1, -tokens);
  }

  forget(id: string): void {
    this.leave(id, 0, 0);
  }

  private leave(id: string, requests: number, tokens: number): void {
    clearInterval(this.leases.get(id));
    this.leases.delete(id);
    void this.eval(endScript, id, String(requests), String(tokens));
  }

  private async eval(script: string, ...given: string[]): Promise<number | undefined> {
    const said = await this.redis.eval(script, this.keys, given);
    return typeof said === 'number' ? said : undefined;
  }
}

/** While the connection is broken, the worker keeps the limits alone, and reports the break once. */
export class RedisLink {
  private told = false;
  private closed = false;

  private client: RedisClient | undefined;

  private constructor(
    private readonly prefix: string,
    private readonly onProblem: (problem: HoldfastError) => void,
  ) {}

  static async open(url: string, prefix: string, onProblem: (problem: HoldfastError) => void): Promise<RedisLink> {
    const link = new RedisLink(prefix, onProblem);
    link.client = await connectRedis(url, { onError: (error) => link.isAway(error), onReady: () => (link.told = false) });
    return link;
  }

  turnsOf(name: string, limit: Limit): SharedTurns {
    return new RedisTurns(`${this.prefix} ${name}`, limit, this);
  }

  async eval(script: string, keys: string[], given: string[]): Promise<unknown> {
    const { client } = this;
    if (this.closed || client?.isReady !== true) return undefined;
    try {
      return await inTime(client.eval(script, { keys, arguments: given }), redisPatienceMs, () => {
        throw new Error(`it said nothing for ${redisPatienceMs / 1000} s`);
      });
    } catch (error) {
      this.isAway(error);
      return undefined;
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.client?.destroy();
  }

  private isAway(error: unknown): void {
    if (this.told || this.closed) return;
    this.told = true;
    const said = withoutCredentials(messageOf(error)) || 'it gave no reason';
    this.onProblem(
      new HoldfastError(
        'limits-not-shared',
        `Redis at HOLDFAST_REDIS_URL cannot be used: ${said}. Until it can, each worker keeps to its limits alone, and all together may take more.`,
        { cause: error },
      ),
    );
  }
}
