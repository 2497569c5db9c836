import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStore } from '../../../service/store/file-store';
import type { ServiceStore } from '../../../service/store/store';
import { RedisStore } from '../../../service/store/redis-store';
import { eventually } from '../../support/eventually';
import { errorOf, errorSaying } from '../../support/failures';
import { startRedis, type TestRedis } from '../../support/redis';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-access-'));
const opened: RedisStore[] = [];
let redis: TestRedis;
/** A busy host is no Redis that is away. */
const redisStore = (url = redis.url, patienceMs = 60_000): RedisStore => {
  const store = new RedisStore(url, patienceMs);
  opened.push(store);
  return store;
};

beforeAll(async () => void (redis = await startRedis()));
afterAll(async () => {
  for (const store of opened) store.close();
  await redis.kill();
  rmSync(folder, { recursive: true, force: true });
});

const files = join(folder, 'access');
const linesOf = async (store: ServiceStore): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const line of store.lines()) lines.push(line);
  return lines;
};
const absent = (store: ServiceStore, key: string): Promise<true> =>
  eventually(async () => ((await store.get(key)) === undefined ? true : undefined));
const times = <T>(count: number, make: (at: number) => T): readonly T[] => Array.from({ length: count }, (_, at) => make(at));

describe.each<readonly [string, () => ServiceStore]>([
  ['files', () => new FileStore(files)],
  ['Redis', () => redisStore()],
])('keys and sessions in %s', (_, open) => {
  it('are absent before they are set, also the audit log', async () => {
    const store = open();
    expect(await store.get('key/none')).toBeUndefined();
    expect(await store.list('key/')).toEqual([]);
    expect(await linesOf(store)).toEqual([]);
  });

  it('are seen by other processes, replaced, and deleted once', async () => {
    const [one, other] = [open(), open()];
    expect(await one.set('key/a', 'first')).toBe(true);
    expect(await other.get('key/a')).toBe('first');
    expect(await other.set('key/a', 'second')).toBe(true);
    expect(await one.get('key/a')).toBe('second');
    expect(await one.delete('key/a')).toBe(true);
    expect(await other.delete('key/a')).toBe(false);
    expect(await other.get('key/a')).toBeUndefined();
  });

  it.each(['key/aB', 'key/Ab', 'a b/ö?*[x]', '../up', '.', 'line\nbreak'])('take any text as the key: %j', async (key) => {
    const store = open();
    await store.set(key, `the value of ${key}`);
    expect(await store.get(key)).toBe(`the value of ${key}`);
    expect(await store.list(key)).toEqual([key]);
    await store.delete(key);
  });

  it('are listed by the beginning of the key', async () => {
    const store = open();
    for (const key of ['list/b', 'list/a', 'list*/c', 'other/list/']) await store.set(key, '1');
    expect(await store.list('list/')).toEqual(['list/a', 'list/b']);
    expect(await store.list('list*')).toEqual(['list*/c']);
  });

  it('are set by exactly one of many who set what is absent', async () => {
    const stores = [open(), open()];
    for (let round = 0; round < 20; round++) {
      const won = await Promise.all(
        times(8, (at) => (stores[at % 2] as ServiceStore).set(`race/${round}`, String(at), { ifAbsent: true })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await stores[0]?.get(`race/${round}`)).toBe(String(won.indexOf(true)));
    }
  });

  it('are deleted by exactly one of many', async () => {
    const stores = [open(), open()];
    for (let round = 0; round < 20; round++) {
      await stores[0]?.set('once', 'x');
      const won = await Promise.all(times(8, (at) => (stores[at % 2] as ServiceStore).delete('once')));
      expect(won.filter(Boolean)).toHaveLength(1);
    }
  });

  it('are gone after their time, and exactly one of many takes the free place', async () => {
    const stores = [open(), open()];
    for (let round = 0; round < 10; round++) {
      const key = `short/${round}`;
      await stores[0]?.set(key, 'old', { ttlMs: 1 });
      await absent(stores[1] as ServiceStore, key);
      expect(await stores[0]?.delete(key)).toBe(false);
      const won = await Promise.all(times(8, (at) => (stores[at % 2] as ServiceStore).set(key, `new ${at}`, { ifAbsent: true })));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await stores[1]?.get(key)).toBe(`new ${won.indexOf(true)}`);
    }
  });

  it('last until their time, and without an end after a set without one', async () => {
    const store = open();
    await store.set('session/a', 'x', { ttlMs: 60_000 });
    expect(await store.get('session/a')).toBe('x');
    await store.set('session/b', 'x', { ttlMs: 1 });
    await store.set('session/b', 'y');
    expect(await store.list('session/')).toEqual(['session/a', 'session/b']);
  });

  it('have an audit log with whole lines in order, of many processes', async () => {
    const stores = [open(), open()];
    const written = times(40, (at) => `${at} ${'x'.repeat(3_000)}`);
    await Promise.all(written.map((line, at) => (stores[at % 2] as ServiceStore).append(line)));
    await stores[0]?.append('the last line');
    const lines = await linesOf(stores[1] as ServiceStore);
    expect([...lines].sort()).toEqual([...written, 'the last line'].sort());
    expect(lines.at(-1)).toBe('the last line');
    expect(await stores[0]?.list('audit')).toEqual([]);
  });
});

describe('a folder of keys and sessions', () => {
  it('is closed to others, and keeps no file of what has ended', async () => {
    const place = join(folder, 'closed');
    const store = new FileStore(place);
    await store.set('session/a', 'x', { ttlMs: 1 });
    await store.set('session/b', 'x');
    await store.append('line');
    await absent(store, 'session/a');
    expect(await store.list('session/')).toEqual(['session/b']);
    expect(readdirSync(place).sort()).toEqual(['audit.jsonl', 'session%2fb.json']);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(place)) expect(statSync(join(place, name)).mode & 0o777).toBe(0o600);
  });

  it('is not made by reading', async () => {
    const store = new FileStore(join(folder, 'unmade'));
    await store.get('key/a');
    await store.list('');
    await store.delete('key/a');
    expect(existsSync(join(folder, 'unmade'))).toBe(false);
  });

  it('gives a problem of the disk its code', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(new FileStore(join(folder, 'file', 'access')).set('key/a', 'x')).rejects.toEqual(errorOf('config-invalid'));
  });
});

describe('a Redis that is away', () => {
  it.each<readonly [string, () => Promise<{ readonly url: string; close(): Promise<unknown> | void }>]>([
    ['refuses the connection', async () => ({ url: 'redis://:geheim@127.0.0.1:1', close: () => undefined })],
    [
      'says nothing',
      async () => {
        const silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        return { url: `redis://:geheim@127.0.0.1:${(silent.address() as AddressInfo).port}`, close: () => void silent.close() };
      },
    ],
  ])('is said with its code and without the password: it %s', async (_, begin) => {
    const { url, close } = await begin();
    const store = redisStore(url, 100);
    const error: unknown = await store.get('key/a').catch((refused: unknown) => refused);
    expect(error).toEqual(errorSaying('identity-unavailable', /^Redis, which has the keys and sessions, cannot be used: /));
    expect(String(error)).not.toContain('geheim');
    store.close();
    await close();
  });

  it('is asked again when it is back, after it went away at work', async () => {
    const own = await startRedis();
    const store = redisStore(own.url);
    await store.set('key/a', 'x');
    await own.kill();
    await expect(store.get('key/a')).rejects.toEqual(errorOf('identity-unavailable'));
    const back = await startRedis(Number(new URL(own.url).port));
    await eventually(() => store.set('key/a', 'y').catch(() => undefined));
    expect(await store.get('key/a')).toBe('y');
    await back.kill();
  });

  it('is not connected again after the store was closed', async () => {
    const store = redisStore();
    await store.set('key/a', 'x');
    store.close();
    await expect(store.get('key/a')).rejects.toEqual(errorSaying('identity-unavailable', /the service has closed its store/));
  });
});
