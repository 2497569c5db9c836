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
let redis: TestRedis;
let run = '';
let runs = 0;

function newBus(url = redis.url): RedisBus {
  const bus = new RedisBus(url, (problem) => problems.push(problem));
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

async function asked<T>(ask: (client: RedisClient) => Promise<T>): Promise<T> {
  const client = await connectRedis(redis.url, { onError: () => undefined });
  try {
    return await ask(client);
  } finally {
    client.destroy();
  }
}

const cutAll = (): Promise<unknown> => asked((client) => client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']));
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
    const own = await startRedis();
    const worker = newBus(own.url);
    const live = reader(newBus(own.url));
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
    await own.kill();
    say(worker, 1, 'b');
    const meanwhile = reader(newBus(own.url));
    await eventually(() => Promise.resolve(problems.length === 3 ? true : undefined));
    const back = await startRedis(Number(new URL(own.url).port));
    say(worker, 1, 'c');
    await Promise.all([live, meanwhile, reader(newBus(own.url))].map((one) => shows(one, 'start a b c')));
    expect(problems.map(({ code }) => code)).toEqual(['deltas-not-shared', 'deltas-not-shared', 'deltas-not-shared']);
    await back.kill();
  });

  it('of a call that ended while Redis was away are lost, and the call seems open to nobody', async () => {
    const own = await startRedis();
    const worker = newBus(own.url);
    const live = reader(newBus(own.url));
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
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
    const own = await startRedis();
    const worker = newBus(own.url);
    const live = reader(newBus(own.url));
    say(worker, 1, start, 'a');
    await shows(live, 'start a');
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
    ['the end of the call', { settled: address }],
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
