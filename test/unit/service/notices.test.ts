import { setImmediate as turn } from 'node:timers/promises';
import { HoldfastError } from '../../../contract/errors';
import type { RunEvent } from '../../../contract/events';
import { FeedLog } from '../../../service/feed/feed-log';
import { Notifier } from '../../../service/notices/notifier';
import { NotifySchema } from '../../../service/notices/options';
import type { NotifyOptions } from '../../../service/notices/options';
import type { Notice } from '../../../service/notices/outbox';
import { NoticeOutbox } from '../../../service/notices/outbox';
import type { ServiceStore } from '../../../service/store/store';
import { memoryStore } from '../../support/memory-store';

const hour = 3_600_000;
const began = 1_800_000_000_000;

/** Sleepers wake only as the test lets time pass. */
function virtualClock() {
  let time = began;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 2; turns += 1) await turn();
  };
  return {
    now: () => time,
    pause: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        sleepers.add({ at: time + ms, wake });
        signal.addEventListener('abort', wake);
      }),
    async pass(ms: number) {
      const end = time + ms;
      await settle();
      for (;;) {
        const [next] = [...sleepers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        if (next === undefined) break;
        sleepers.delete(next);
        time = Math.max(time, next.at);
        next.wake();
        await settle();
      }
      time = end;
    },
  };
}

const desk: NotifyOptions = {
  to: 'https://desk.example.com/',
  secret: 'whsec_',
  on: ['waiting', 'remind', 'escalate', 'completed', 'failed', 'stuck'],
};

type EventType = 'interrupt-start' | 'interrupt-remind' | 'interrupt-escalate' | 'model-start' | 'completed' | 'failed' | 'cancelled';

function eventOf(type: EventType, offset: number, time: number): RunEvent {
  const isEnd = type === 'completed' || type === 'failed' || type === 'cancelled';
  const interrupt = { id: 'pay', kind: 'question', agent: 'clerk', address: [], info: 'Pay?' };
  const body = isEnd ? { type: 'run-end', status: type } : { type, interruptId: 'pay', interrupt, at: time };
  return { ...body, offset, time } as unknown as RunEvent;
}

function bedOn(store: ServiceStore, receivers: readonly NotifyOptions[], clock = virtualClock(), tenant = 'acme') {
  const log = new FeedLog(store, tenant, 30 * 24 * hour);
  const tries: Notice[] = [];
  const warnings: string[] = [];
  const offsets = new Map<string, number>();
  let chunk = 0;
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let notifier: Notifier | undefined;
  const bed = {
    store,
    clock,
    log,
    tries,
    warnings,
    answer: (_: Notice): unknown => undefined,
    begin(on: ServiceStore = store, now: readonly NotifyOptions[] = receivers) {
      stop = new AbortController();
      const settings = { store: on, receivers: now, logger: { warn: (text: string) => void warnings.push(text) }, ...clock };
      const send = async (_: string, notice: Notice): Promise<void> => {
        tries.push(notice);
        const problem = await bed.answer(notice);
        if (problem !== undefined) throw problem as Error;
      };
      notifier = new Notifier({ ...settings, send }, new FeedLog(on, tenant, 30 * 24 * hour), stop.signal);
      running = notifier.run();
    },
    async end() {
      stop.abort();
      await running;
    },
    async happens(...happened: readonly (readonly [run: string, type: EventType, more?: { agent?: string; tags?: readonly string[] }])[]) {
      const entries = happened.map(([run, type, { agent = 'clerk', tags = ['night'] } = {}]) => {
        const offset = offsets.get(run) ?? 0;
        offsets.set(run, offset + 1);
        return JSON.stringify({ run, agent, tags, startedBy: 'ada', event: eventOf(type, offset, clock.now()) });
      });
      await log.append(chunk++, entries);
      notifier?.wake();
    },
    stuck: (run: string, at: string) =>
      notifier?.stuck({ run: { run, agent: 'clerk', tags: ['night'] }, error: { code: 'run-stuck', message: 'The code changed.' }, at }),
    told: () => tries.map(({ run, type }) => `${run.run} ${type}`),
    listed: () => new NoticeOutbox(store, tenant).list(100),
  };
  return bed;
}

const down = new Error('connect ECONNREFUSED');

describe('notices', () => {
  it('tell that a run waits, what its policy does, and how the run ended, and nothing else', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    await bed.clock.pass(0);
    await bed.happens(['a', 'model-start'], ['a', 'interrupt-start'], ['a', 'interrupt-remind'], ['a', 'interrupt-escalate']);
    await bed.happens(['a', 'completed'], ['b', 'failed'], ['c', 'cancelled']);
    await bed.clock.pass(1000);
    await bed.end();
    expect([...bed.told()].sort()).toEqual(['a completed', 'a escalate', 'a remind', 'a waiting', 'b failed']);
    expect(bed.told().filter((told) => told.startsWith('a'))).toEqual(['a waiting', 'a remind', 'a escalate', 'a completed']);
    expect(bed.tries[0]).toMatchObject({
      to: desk.to,
      run: { agent: 'clerk', tags: ['night'], startedBy: 'ada' },
      event: { type: 'interrupt-start' },
    });
    expect(await bed.listed()).toEqual({ notices: [], more: false });
  });

  it.each<[string, Partial<NotifyOptions>, readonly string[]]>([
    ['the types', { on: ['failed'] }, ['a failed', 'b failed']],
    ['the agents', { on: ['waiting'], agents: ['payer'] }, ['b waiting']],
    ['all of the tags', { on: ['waiting'], tags: ['night', 'eu'] }, ['b waiting']],
  ])('go only to receivers that ask for %s', async (_, asks, told) => {
    const bed = bedOn(memoryStore(), [{ ...desk, ...asks }]);
    bed.begin();
    await bed.clock.pass(0);
    await bed.happens(
      ['a', 'interrupt-start'],
      ['b', 'interrupt-start', { agent: 'payer', tags: ['eu', 'night'] }],
      ['a', 'failed'],
      ['b', 'failed'],
    );
    await bed.clock.pass(1000);
    await bed.end();
    expect([...bed.told()].sort()).toEqual(told);
  });

  it('go once to an address that stands in two entries', async () => {
    const bed = bedOn(memoryStore(), [desk, { ...desk, on: ['waiting'] }, { ...desk, to: 'https://other.example.com/', on: ['waiting'] }]);
    bed.begin();
    await bed.clock.pass(0);
    await bed.happens(['a', 'interrupt-start']);
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.tries.map(({ to }) => to).sort()).toEqual([desk.to, 'https://other.example.com/']);
    expect(new Set(bed.tries.map(({ id }) => id)).size).toBe(2);
  });

  it('arrive in the order of their run after an hour without the receiver, with one id for all attempts, and hold up no other receiver', async () => {
    const bed = bedOn(memoryStore(), [desk, { ...desk, to: 'https://other.example.com/' }]);
    bed.begin();
    await bed.clock.pass(0);
    const arrived: string[] = [];
    bed.answer = (notice) => {
      if (notice.to === desk.to && bed.clock.now() < began + hour) return down;
      arrived.push(`${notice.to === desk.to ? 'desk' : 'other'} ${notice.run.run} ${notice.type}`);
    };
    await bed.happens(['a', 'interrupt-start'], ['b', 'interrupt-start'], ['a', 'completed']);
    await bed.clock.pass(hour / 2);
    expect([...arrived].sort()).toEqual(['other a completed', 'other a waiting', 'other b waiting']);
    expect((await bed.listed()).notices).toHaveLength(3);
    expect((await bed.listed()).notices[0]).toMatchObject({ state: 'pending', problem: { code: 'notice-failed', message: down.message } });
    await bed.clock.pass(hour);
    await bed.end();
    expect(arrived.slice(3).filter((one) => one.startsWith('desk a'))).toEqual(['desk a waiting', 'desk a completed']);
    expect(arrived).toHaveLength(6);
    const ids = new Map(bed.tries.map(({ to, run, type, id }) => [`${to} ${run.run} ${type}`, id]));
    for (const { to, run, type, id } of bed.tries) expect(ids.get(`${to} ${run.run} ${type}`)).toBe(id);
    expect(bed.warnings.filter((text) => text.includes('does not take it'))).toHaveLength(2);
  });

  it('are undelivered after a day, and the next notice of the run goes on', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    await bed.clock.pass(0);
    bed.answer = ({ type }) => (type === 'waiting' ? down : undefined);
    await bed.happens(['a', 'interrupt-start'], ['a', 'completed']);
    await bed.clock.pass(23 * hour);
    expect(bed.told()).not.toContain('a completed');
    await bed.clock.pass(2 * hour);
    await bed.end();
    expect(bed.told().at(-1)).toBe('a completed');
    const { notices } = await bed.listed();
    expect(notices).toMatchObject([{ type: 'waiting', run: 'a', state: 'undelivered', problem: { message: down.message } }]);
    expect(notices[0]?.attempts).toBeGreaterThan(100);
  });

  it('are undelivered at once if their address is forbidden', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    await bed.clock.pass(0);
    bed.answer = () => new HoldfastError('push-refused', 'Notifications may not go to 10.0.0.8.');
    await bed.happens(['a', 'interrupt-start']);
    await bed.clock.pass(1000);
    await bed.end();
    expect((await bed.listed()).notices).toMatchObject([{ state: 'undelivered', attempts: 1, problem: { code: 'push-refused' } }]);
  });

  it('hold up no other receiver while one is slow, and are sent to the slow one ten at a time', async () => {
    const slow = { ...desk, to: 'https://slow.example.com/' };
    const bed = bedOn(memoryStore(), [slow, desk]);
    bed.begin();
    await bed.clock.pass(0);
    let open = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    bed.answer = async ({ to }) => {
      if (to !== slow.to) return;
      most = Math.max(most, (open += 1));
      await released;
      open -= 1;
    };
    await bed.happens(...Array.from({ length: 25 }, (_, at) => [`run-${at}`, 'interrupt-start'] as const));
    await bed.clock.pass(1000);
    expect(bed.tries.filter(({ to }) => to === desk.to)).toHaveLength(25);
    expect(open).toBe(10);
    release();
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.tries.filter(({ to }) => to === slow.to)).toHaveLength(25);
    expect(most).toBe(10);
  });

  it('are not sent for the time before the first receiver, and are sent for a pause of the service', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    await bed.happens(['old', 'interrupt-start']);
    await bed.clock.pass(hour);
    bed.begin();
    await bed.clock.pass(1000);
    await bed.end();
    await bed.clock.pass(10 * hour);
    await bed.happens(['new', 'interrupt-start']);
    bed.begin();
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.told()).toEqual(['new waiting']);
  });

  it('are sent for the first run of a tenant that came while the service was away, or whose first position the store did not take', async () => {
    const store = memoryStore();
    const other = bedOn(store, [desk]);
    other.begin();
    await other.clock.pass(0);
    await other.end();
    const bed = bedOn(store, [desk], other.clock, 'beta');
    await bed.clock.pass(2 * hour);
    await bed.happens(['new', 'interrupt-start']);
    const refusing: ServiceStore = {
      ...store,
      set: (key, ...given) => (key.startsWith('notices-at/') ? Promise.reject(new Error('The disk is full.')) : store.set(key, ...given)),
    };
    bed.begin(refusing);
    await bed.clock.pass(3000);
    await bed.end();
    bed.begin();
    await bed.clock.pass(3000);
    await bed.end();
    expect([other.told(), bed.told()]).toEqual([[], ['new waiting']]);
  });

  it('go only to receivers of their tenant', async () => {
    const bed = bedOn(memoryStore(), [
      { ...desk, tenants: ['beta'] },
      { ...desk, to: 'https://acme.example.com/', tenants: ['acme', 'beta'] },
    ]);
    bed.begin();
    await bed.happens(['a', 'interrupt-start']);
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.tries.map(({ to }) => to)).toEqual(['https://acme.example.com/']);
  });

  it('that another service left are sent after a minute', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    await bed.clock.pass(0);
    const left = {
      id: 'msg_1',
      to: desk.to,
      type: 'waiting',
      run: { run: 'a', agent: 'clerk', tags: [] },
      at: 0,
      since: began,
      attempts: 2,
    } as const;
    await new NoticeOutbox(bed.store, 'acme').add(left, '000000000000.000001');
    await bed.clock.pass(70_000);
    await bed.end();
    expect(bed.told()).toEqual(['a waiting']);
  });

  it('keep no service from closing if the configuration never answers', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    bed.answer = () => new Promise(() => undefined);
    await bed.happens(['a', 'interrupt-start'], ['b', 'interrupt-start']);
    await bed.clock.pass(1000);
    await bed.end();
    expect((await bed.listed()).notices).toHaveLength(2);
  });

  it('of events that a new feed collects later than the first receiver came, are not sent either', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    const old = { run: 'old', agent: 'clerk', tags: [], event: eventOf('completed', 0, began - hour) };
    bed.begin();
    await bed.clock.pass(1000);
    await bed.log.append(0, [JSON.stringify(old)]);
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.told()).toEqual([]);
  });

  it('go on with the oldest event of the feed if the feed no longer has all, and say so', async () => {
    const store = memoryStore();
    const bed = bedOn(store, [desk]);
    bed.begin();
    await bed.clock.pass(1000);
    await bed.end();
    await bed.happens(['a', 'interrupt-start']);
    await bed.happens(['b', 'interrupt-start']);
    for (const key of store.entries.keys()) if (key.startsWith('feed/') && key.endsWith('0')) store.entries.delete(key);
    bed.begin();
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.told()).toEqual(['b waiting']);
    expect(bed.warnings).toContain('Notices are missing, because the feed no longer has all events since the last notice.');
  });

  it('tell once that a run is stuck, also after a restart, and again if the run has gone on and is stuck again', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    for (const at of ['4', '4', '7']) {
      bed.begin();
      await bed.clock.pass(0);
      bed.stuck('a', at);
      bed.stuck('a', at);
      await bed.clock.pass(1000);
      await bed.end();
    }
    expect(bed.told()).toEqual(['a stuck', 'a stuck']);
    expect(bed.tries[0]).toMatchObject({ error: { code: 'run-stuck' } });
  });

  it('tell of earlier events before they tell that the run is stuck', async () => {
    const bed = bedOn(memoryStore(), [desk]);
    bed.begin();
    await bed.clock.pass(0);
    const waits = bed.happens(['a', 'interrupt-start']);
    bed.stuck('a', '1');
    await waits;
    await bed.clock.pass(1000);
    await bed.end();
    expect(bed.told()).toEqual(['a waiting', 'a stuck']);
  });

  it('arrive at least once, with one id and in the order of their run, wherever the service dies', async () => {
    const happened = [
      ['a', 'interrupt-start'],
      ['b', 'interrupt-start'],
      ['a', 'interrupt-remind'],
      ['b', 'failed'],
      ['a', 'completed'],
    ] as const;
    let deaths = 0;
    for (let step = 1, isOver = false; !isOver; step += 1) {
      const store = memoryStore();
      const bed = bedOn(store, [desk]);
      const arrived: string[] = [];
      bed.answer = (notice) => {
        // The receiver refuses each notice once.
        if (notice.attempts === 0) return down;
        arrived.push(`${notice.run.run} ${notice.type}`);
      };
      let steps = 0;
      const isDead = (): boolean => steps >= step;
      const dying = new Proxy<ServiceStore>(store, {
        get: (target, name: keyof ServiceStore) =>
          name === 'set' || name === 'delete'
            ? async (...given: readonly unknown[]) => {
                if (isDead()) throw new Error('The process is dead.');
                steps += 1;
                return (target[name] as (...of: readonly unknown[]) => Promise<unknown>)(...given);
              }
            : target[name],
      });
      bed.begin(dying);
      await bed.clock.pass(0);
      await bed.happens(...happened.slice(0, 3));
      await bed.happens(...happened.slice(3));
      await bed.clock.pass(20_000);
      isOver = !isDead();
      if (!isOver) deaths += 1;
      await bed.end();
      bed.begin();
      await bed.clock.pass(20_000);
      await bed.end();
      const first = [...new Set(arrived)];
      expect(first.filter((one) => one.startsWith('a'))).toEqual(['a waiting', 'a remind', 'a completed']);
      expect(first.filter((one) => one.startsWith('b'))).toEqual(['b waiting', 'b failed']);
      expect(new Set(bed.tries.map(({ id }) => id)).size).toBe(happened.length);
      expect(await bed.listed()).toEqual({ notices: [], more: false });
    }
    expect(deaths).toBeGreaterThan(15);
  });
});

describe('notify of the configuration', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const right = { to: 'https://desk.example.com/hooks?team=7', secret, on: ['waiting'] };
  const problemsOf = (given: object): readonly string[] =>
    NotifySchema.safeParse([given]).error?.issues.map(({ path, message }) => `${path.slice(1).join('.')} ${message}`) ?? [];

  it.each([
    right,
    { ...right, secret: `${secret} whsec_${Buffer.alloc(24, 9).toString('base64')}` },
    { ...right, on: desk.on, agents: ['clerk'], tags: ['night'], people: () => [] },
    { ...right, to: 'http://127.0.0.1:8080/', private: true },
    { ...right, to: 'http://hooks.internal/', private: true },
  ])('takes %j', (given) => expect(problemsOf(given)).toEqual([]));

  it.each<[object, string]>([
    [{ to: 'http://desk.example.com/' }, 'to is refused. Notifications may not go to'],
    [{ to: 'https://10.0.0.8/' }, 'unless the receiver has `private: true`'],
    [{ to: 'desk' }, 'to is refused. "desk" is no URL'],
    [{ to: 'https://ada:x@desk.example.com/' }, 'has a user or a password'],
    [{ to: 'ftp://desk.example.com/', private: true }, 'is no URL for notifications'],
    [{ secret: undefined }, 'secret is refused. It lacks a value. Set the environment variable'],
    [{ secret: 'short' }, 'secret is refused. It must be one to five secrets'],
    [{ on: [] }, 'on '],
    [{ on: ['done'] }, 'on.0 '],
    [{ agents: [] }, 'agents '],
    [{ people: 'ada' }, 'people is no function'],
    [{ url: 'https://desk.example.com/' }, 'Unrecognized key'],
  ])('refuses %j', (wrong, problem) => expect(problemsOf({ ...right, ...wrong }).join('\n')).toContain(problem));
});
