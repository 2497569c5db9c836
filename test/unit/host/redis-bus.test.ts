import type { Delta, DeltaBody } from '../../../contract/deltas';
import type { HoldfastError } from '../../../contract/errors';
import { RedisBus } from '../../../host/redis/redis-bus';
import { connectRedis, type RedisClient } from '../../../host/redis/redis-client';
import { eventually } from '../../support/eventually';
import { startRedis, type TestRedis } from '../../support/redis';
import { shortDelta } from '../../support/streaming-model';

const address = 'a/t1/model';
const start = { type: 'attempt-start' } as const;
const lost = { type: 'attempt-void' } as const;
const delta = (body: DeltaBody | string, attempt = 1): Delta => ({
  agent: 'a',
  runPath: ['a'],
  address,
  attempt,
  ...(typeof body === 'string' ? { type: 'text-delta', text: body } : body),
});

const buses: RedisBus[] = [];
const problems: HoldfastError[] = [];
let backs = 0;
let redis: TestRedis;
let run = '';
let runs = 0;

function newBus(url = redis.url): RedisBus {
  const bus = new RedisBus(
    url,
    (problem) => problems.push(problem),
    () => backs++,
  );
  buses.push(bus);
  return bus;
}

function say(bus: RedisBus, attempt: number, ...bodies: readonly (DeltaBody | string)[]): void {
  for (const body of bodies) bus.publish(run, delta(body, attempt));
}

/** What a reader of another process shows, texts joined. */
function reader(bus = newBus()): { readonly shown: () => string; readonly all: string[]; readonly stop: () => void } {
  const all: string[] = [];
  const stop = bus.subscribe(run, (one) => void all.push(shortDelta(one)));
  return { all, shown: () => all.join(' '), stop };
}

const shows = (one: { shown: () => string }, wanted: string): Promise<unknown> =>
  eventually(() => Promise.resolve(one.shown() === wanted ? true : undefined)).catch(() => expect(one.shown()).toBe(wanted));

async function asked<T>(ask: (client: RedisClient) => Promise<T>, url = redis.url): Promise<T> {
  const client = await connectRedis(url, { onError: () => undefined });
  try {
    return await ask(client);
  } finally {
    client.destroy();
  }
}

/** A call at work, over a Redis of its own. */
async function streaming() {
  const own = await startRedis();
  const worker = newBus(own.url);
  const bus = newBus(own.url);
  const live = reader(bus);
  say(worker, 1, start, 'a');
  await shows(live, 'start a');
  return { own, worker, bus, live };
}

const cut = ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'];
const cutAll = (): Promise<unknown> => asked((client) => client.sendCommand(cut));
const writes = (entry: object): Promise<unknown> =>
  asked((client) => client.xAdd(`holdfast:deltas:${run}`, '*', { json: JSON.stringify(entry) }));
const origin = { agent: 'a', runPath: ['a'], address };
const texts = (from: number, ...said: readonly (DeltaBody | string)[]): object => ({
  line: 'l',
  from,
  origin,
  deltas: said.map((body) => ({ ...(typeof body === 'string' ? { type: 'text-delta', text: body } : body), attempt: 1 })),
});

beforeAll(async () => void (redis = await startRedis()));
beforeEach(() => {
  run = `run-${runs++}`;
  problems.length = 0;
  backs = 0;
});
afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.close())));
afterAll(() => redis.kill());

describe('deltas of a worker', () => {
  it('come to the readers of every process once and in order, and to late readers from the beginning of the open attempt', async () => {
    const worker = newBus();
    const early = [reader(), reader()];
    say(worker, 1, start, 'a');
    await Promise.all(early.map((one) => shows(one, 'start a')));
    const late = reader();
    await shows(late, 'start a');
    say(worker, 1, 'b', 'c');
    await Promise.all([...early, late].map((one) => shows(one, 'start a b c')));
    expect(problems).toEqual([]);
  });

  it('are progress of tools, too', async () => {
    const [worker, bus] = [newBus(), newBus()];
    const shown: Delta[] = [];
    bus.subscribe(run, (one) => void shown.push(one));
    const progress = delta({ type: 'tool-progress', callId: 'c', tool: 'dig', data: { meters: [1, null, '\u2028"'] } });
    say(worker, 1, start);
    worker.publish(run, progress);
    await eventually(() => Promise.resolve(shown.length === 2 ? true : undefined));
    expect(shown).toEqual([delta(start), progress]);
  });

  it('come to no reader of another run, and no longer to a reader that has left', async () => {
    const worker = newBus();
    const bus = newBus();
    const [stays, leaves] = [reader(bus), reader(bus)];
    say(worker, 1, start, 'a');
    await shows(leaves, 'start a');
    leaves.stop();
    worker.publish('another run', delta('x'));
    say(worker, 1, 'b');
    await shows(stays, 'start a b');
    expect(leaves.shown()).toBe('start a');
  });

  it('of a killed worker are void with the next attempt, and all are gone for late readers when the call has ended', async () => {
    const early = reader();
    say(newBus(), 1, start, 'a');
    await shows(early, 'start a');
    const next = newBus();
    say(next, 1, lost);
    say(next, 2, start, 'b');
    await shows(early, 'start a void start b');
    await shows(reader(), 'void start b');
    next.settle(run, address);
    next.publish(run, { ...delta(start), address: 'other' });
    await shows(early, 'start a void start b start');
    await shows(reader(), 'start');
  });

  it('come once over cut connections of worker and readers', async () => {
    const worker = newBus();
    const live = reader();
    const wanted = ['start'];
    say(worker, 1, start);
    for (let round = 0; round < 5; round++) {
      for (let piece = 0; piece < 20; piece++) {
        say(worker, 1, `${round}.${piece}`);
        wanted.push(`${round}.${piece}`);
        if (piece === 10) await cutAll();
      }
      await shows(live, wanted.join(' '));
    }
    await shows(reader(), wanted.join(' '));
  });

  it('come once over a Redis that was killed and has lost everything, also to readers that came meanwhile', async () => {
    const { own, worker, live } = await streaming();
    await own.kill();
    say(worker, 1, 'b');
    const meanwhile = reader(newBus(own.url));
    await eventually(() => Promise.resolve(problems.length === 3 ? true : undefined));
    const back = await startRedis(Number(new URL(own.url).port));
    say(worker, 1, 'c');
    await Promise.all([live, meanwhile, reader(newBus(own.url))].map((one) => shows(one, 'start a b c')));
    expect(problems.map(({ code }) => code)).toEqual(['deltas-not-shared', 'deltas-not-shared', 'deltas-not-shared']);
    await eventually(() => Promise.resolve(backs >= 3 ? true : undefined));
    expect(backs).toBe(3);
    await back.kill();
  });

  it('come over a Redis that is back empty, with a clock that is late', async () => {
    const own = await startRedis();
    const add = (id: string): Promise<unknown> =>
      asked((client) => client.xAdd(`holdfast:deltas:${run}`, id, { json: '{"line":"none","settled":"none"}' }), own.url);
    await add(`${Date.now() + 600_000}-0`);
    const worker = newBus(own.url);
    const live = reader(newBus(own.url));
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
    await own.kill();
    const back = await startRedis(Number(new URL(own.url).port));
    await eventually(() => {
      say(worker, 1, '.');
      return Promise.resolve(live.all.length > 2 ? true : undefined);
    });
    expect(live.shown()).toMatch(/^start a [. ]+$/);
    await back.kill();
  });

  it('of a call that ended while Redis was away are lost, and the call seems open to nobody', async () => {
    const { own, worker, live } = await streaming();
    await own.kill();
    say(worker, 1, 'b');
    await eventually(() => Promise.resolve(problems.length >= 2 ? true : undefined));
    worker.settle(run, address);
    const back = await startRedis(Number(new URL(own.url).port));
    worker.publish(run, { ...delta(start), address: 'other' });
    await shows(live, 'start a start');
    await shows(reader(newBus(own.url)), 'start');
    await back.kill();
  });

  it('are kept in bounds while Redis is away', async () => {
    const { own, worker, live } = await streaming();
    await own.kill();
    await eventually(() => Promise.resolve(problems.length >= 2 ? true : undefined));
    for (let count = 0; count < 50; count++) say(worker, 1, 'x'.repeat(100_000));
    const back = await startRedis(Number(new URL(own.url).port));
    say(worker, 1, 'end of the call');
    worker.publish(run, { ...delta(start), address: 'other' });
    await shows(live, 'start a start');
    await back.kill();
  });
});

describe('Redis', () => {
  it('that hangs delays neither calls nor durable events, and what it does not take is kept in bounds', async () => {
    const { own, worker, bus, live } = await streaming();
    own.signal('SIGSTOP');
    say(worker, 1, 'b');
    await new Promise(setImmediate);
    for (let count = 0; count < 50; count++) worker.publish(run, { ...delta('x'.repeat(1_000_000)), address: `long ${count % 5}` });
    await bus.settled(run, address);
    own.signal('SIGCONT');
    await eventually(() => {
      worker.publish(run, { ...delta(start), address: 'other' });
      return Promise.resolve(live.all.at(-1) === 'start' ? true : undefined);
    });
    expect(live.shown()).toMatch(/^start a (b )?start/);
    await own.kill();
  });

  const refusals: readonly (readonly [string, readonly string[][], readonly string[][]])[] = [
    ['is full', [['CONFIG', 'SET', 'maxmemory', '1']], [['CONFIG', 'SET', 'maxmemory', '0']]],
    ['is a replica', [['REPLICAOF', '127.0.0.1', '1']], [['REPLICAOF', 'NO', 'ONE']]],
    ['has another type at the name', [['SET', 'holdfast:deltas:RUN', 'x']], [['DEL', 'holdfast:deltas:RUN']]],
    ['has another password', [['CONFIG', 'SET', 'requirepass', 'new'], cut], [['CONFIG', 'SET', 'requirepass', '']]],
  ];
  it.each(refusals)('that %s is said once each time, and then all goes on', async (_, breaks, heals) => {
    const own = await startRedis();
    const tell = (commands: readonly string[][], url = own.url): Promise<unknown> => {
      const all = commands.map((words) => words.map((word) => word.replace('RUN', run)));
      return asked((client) => Promise.all(all.map((words) => client.sendCommand(words))), url);
    };
    const worker = newBus(own.url);
    const live = reader(newBus(own.url));
    const others = newBus(own.url);
    for (const round of [1, 2]) {
      say(worker, round, start, 'a');
      await eventually(() => Promise.resolve(live.all.at(-1) === 'a' ? true : undefined));
      problems.length = 0;
      await tell(breaks);
      say(worker, round, 'b');
      others.publish(`other ${round}`, delta(start));
      await eventually(() => Promise.resolve(problems.length > 0 ? true : undefined));
      await tell(heals, own.url.replace('//', '//:new@')).catch(() => tell(heals));
      say(worker, round, 'c');
      await eventually(() => Promise.resolve(live.all.at(-1) === 'c' ? true : undefined));
      expect(problems.length).toBeLessThanOrEqual(3);
      expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['deltas-not-shared']));
    }
    expect(live.shown()).toBe('start a b c start a b c');
    await own.kill();
  });

  it('keeps a bounded number of entries, and nothing for long', async () => {
    const worker = newBus();
    const live = reader();
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
    await asked((client) => {
      const batch = client.multi();
      for (let count = 0; count < 21_000; count++) batch.xAdd(`holdfast:deltas:${run}`, '*', { json: '{"line":"none","settled":"none"}' });
      return batch.execAsPipeline();
    });
    say(worker, 1, 'b');
    await shows(live, 'start a b');
    const inRedis = await asked(async (client) => ({
      length: await client.xLen(`holdfast:deltas:${run}`),
      ttl: await client.pTTL(`holdfast:deltas:${run}`),
    }));
    expect(inRedis.length).toBeLessThanOrEqual(20_100);
    expect(inRedis.ttl).toBeGreaterThan(0);
    worker.settle(run, address);
    await eventually(() => asked(async (client) => ((await client.pTTL(`holdfast:deltas:${run}`)) <= 60_000 ? true : undefined)));
    const left = await asked(async (client) => Promise.all((await client.keys('*')).map((key) => client.pTTL(key))));
    expect(left.filter((ttl) => ttl < 0 || ttl > 3_600_000)).toEqual([]);
  });

  it('keeps no connection of a client that is closed while it connects', async () => {
    const client = await connectRedis(redis.url, { onError: () => undefined });
    const closed = new Promise<void>((resolve) => {
      client.once('reconnecting', () => queueMicrotask(() => resolve(client.destroy())));
    });
    await cutAll();
    await closed;
    await eventually(() => asked(async (own) => ((await own.clientList()).length === 1 ? true : undefined)));
  });
});

describe('a reader', () => {
  it('passes over what is repeated, and shows nothing after a loss until the rest comes', async () => {
    const live = reader();
    await writes(texts(0, start, 'a'));
    await writes(texts(0, start, 'a', 'b'));
    await shows(live, 'start a b');
    await writes(texts(4, 'd'));
    await writes(texts(2, 'b', 'c', 'd'));
    await shows(live, 'start a b c d');
  });

  it('has no harm from a value of another program at the name of another run, which is said once with its name', async () => {
    const own = await startRedis();
    const bus = newBus(own.url);
    const name = `holdfast:deltas:bad ${run}`;
    await asked((client) => client.set(name, 'x'), own.url);
    bus.subscribe(`bad ${run}`, () => undefined);
    const live = reader(bus);
    const worker = newBus(own.url);
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
    say(worker, 1, 'b');
    await shows(live, 'start a b');
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(`"${name}" is no stream`)]);
    await own.kill();
  });

  it('that comes back sees the open attempt from its beginning, although the request for its first visit is still open', async () => {
    const bus = newBus();
    const first = reader(bus);
    await writes(texts(0, start, 'a'));
    await shows(first, 'start a');
    first.stop();
    const second = reader(bus);
    await writes(texts(2, 'b'));
    await shows(second, 'start a b');
  });

  it('shows nothing of an attempt whose beginning is gone', async () => {
    await writes(texts(3, 'half'));
    const live = reader();
    await writes({ ...texts(0, start), line: 'm', origin: { ...origin, address: 'other' } });
    await shows(live, 'start');
  });

  it.each([
    ['the end of the call', { line: 'l', settled: address }],
    ['a void attempt', { ...texts(0, lost), line: 'm' }],
  ])('waits for the last deltas of an ended call, until %s', async (_, entry) => {
    const bus = newBus();
    const live = reader(bus);
    await writes(texts(0, start, 'a'));
    await shows(live, 'start a');
    const order: string[] = [];
    const settled = bus.settled(run, address).then(() => order.push(live.shown()));
    await writes(texts(2, 'b'));
    await writes(entry);
    await settled;
    expect(order[0]).toMatch(/^start a b/);
    await bus.settled(run, address);
  });
});

it('a Redis that is not there is said once, without its password, and calls go on', async () => {
  const bus = newBus('redis://:geheim@127.0.0.1:1');
  const live = reader(bus);
  say(bus, 1, start, 'a');
  bus.settle(run, address);
  await bus.settled(run, address);
  await eventually(() => Promise.resolve(problems.length > 0 ? true : undefined));
  await bus.close();
  expect(problems.map(({ code }) => code)).toEqual(['deltas-not-shared']);
  expect(problems[0]?.message).toMatch(/^Redis at HOLDFAST_REDIS_URL cannot be used: /);
  expect(problems[0]?.message).not.toContain('geheim');
  expect(live.all).toEqual([]);
});
