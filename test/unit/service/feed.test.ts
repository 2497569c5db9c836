import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../contract/errors';
import type { RunEvent } from '../../../contract/events';
import type { FeedRun } from '../../../client/reading/feed-source';
import { FeedLog, cursorOf } from '../../../service/feed/feed-log';
import type { FeederSettings } from '../../../service/feed/feeder';
import { Feeder } from '../../../service/feed/feeder';
import { FileStore } from '../../../service/store/file-store';
import type { ServiceStore } from '../../../service/store/store';
import { placeOfTenant } from '../../../service/store/store';
import { eventually } from '../../support/eventually';
import { memoryStore } from '../../support/memory-store';

interface FakeRun {
  readonly tenant: string;
  readonly id: string;
  events: number;
  runId: string;
  status: 'running' | 'waiting' | 'ended';
  isFirst?: boolean;
  /** A list shows the run only then. */
  isListed: boolean;
  changes: (() => void)[];
}

const keepMs = 60_000;
const everything = { limit: 1000, fits: () => true };

function server() {
  const runs = new Map<string, FakeRun>();
  let reads = 0;
  const run = (id: string, tenant = 'acme'): FakeRun => {
    const made: FakeRun = { tenant, id, events: 0, runId: `${id}-1`, status: 'running', isListed: true, changes: [] };
    runs.set(`${tenant}/${id}`, made);
    return made;
  };
  const change = (one: FakeRun, to: Partial<FakeRun>): void => {
    Object.assign(one, to);
    for (const wake of one.changes.splice(0)) wake();
  };
  const rowOf = ({ tenant, id, runId, status, events, isFirst }: FakeRun): FeedRun => ({
    workflowId: `${tenant}/${id}`,
    runId,
    tenant,
    isOpen: status !== 'ended',
    startTime: Number(runId.split('-').at(-1)),
    isFirst: isFirst ?? runId.endsWith('-1'),
    row: { id, agent: 'clerk', tags: ['night'], startedBy: 'ada' },
    shows: status === 'waiting' ? `waiting ${events}` : status,
  });
  async function* list(isOpen: boolean): AsyncGenerator<FeedRun> {
    for (const one of [...runs.values()]) if (one.isListed && (one.status !== 'ended') === isOpen) yield rowOf(one);
  }
  const source: FeederSettings['source'] = {
    open: () => list(true),
    stuck: () => Promise.resolve(undefined),
    closed: () => list(false),
    lengthOf: (workflowId) => Promise.resolve(String(runs.get(workflowId)?.events)),
    async *events(workflowId, from, signal) {
      const one = runs.get(workflowId);
      if (one === undefined) throw new HoldfastError('run-unknown', 'There is no run.');
      reads += 1;
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      for (let offset = from; !signal.aborted;) {
        while (offset < one.events) yield { offset: offset++, type: 'custom', time: 0 } as unknown as RunEvent;
        if (one.status !== 'running') return;
        await Promise.race([new Promise<void>((resolve) => one.changes.push(resolve)), aborted]);
      }
    },
  };
  return { runs, run, change, source, reads: () => reads };
}

function feederOn(source: FeederSettings['source'], store: ServiceStore, more: Pick<FeederSettings, 'notices'> = {}) {
  const end = new AbortController();
  const warnings: string[] = [];
  const feeder = new Feeder({ ...more, source, store, keepMs, pauseMs: 1, logger: { warn: (message) => void warnings.push(message) } });
  const over = feeder.run(end.signal);
  return {
    warnings,
    close: () => {
      end.abort();
      return over;
    },
  };
}

async function told(store: ServiceStore, tenant = 'acme'): Promise<Readonly<Record<string, readonly number[]>>> {
  const found: Record<string, number[]> = {};
  const log = new FeedLog(store, tenant, keepMs);
  for (let page = await log.page(everything); ; page = await log.page({ ...everything, since: page.next })) {
    for (const { run, event } of page.events) (found[run] ??= []).push(event.offset);
    if (!page.more) break;
  }
  return found;
}

const chunks = `feed/${placeOfTenant('acme')}/`;
const endedKey = (run: string): string => `feed-run/${createHash('sha256').update(`acme/${run}`).digest('hex')}`;

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, offset) => offset);

/** The crash comes before or after the effect of the nth write. */
function crashing(store: ServiceStore, nth: number, takesEffect: boolean) {
  let writes = 0;
  let crash: () => void = () => undefined;
  const crashed = new Promise<void>((resolve) => (crash = resolve));
  const set: ServiceStore['set'] = async (...given) => {
    writes += 1;
    if (writes < nth) return store.set(...given);
    if (writes === nth && takesEffect) await store.set(...given);
    crash();
    // A killed process goes on with nothing.
    return new Promise(() => undefined);
  };
  return { store: { ...store, set }, crashed };
}

describe('a service that leads the feed', () => {
  it('begins to read at most 16 open runs at once, and follows all', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    const runs = upTo(50).map((at) => run(`run-${at}`));
    for (const one of runs) change(one, { events: 1 });
    let [reading, most] = [0, 0];
    const counted: typeof source = {
      ...source,
      async *events(...asked) {
        most = Math.max(most, (reading += 1));
        await new Promise(setImmediate);
        reading -= 1;
        yield* source.events(...asked);
      },
    };
    const feeder = feederOn(counted, store);
    await eventually(async () => (Object.keys(await told(store)).length === 50 ? true : undefined));
    for (const one of runs) change(one, { events: 2, status: 'ended' });
    await eventually(async () => (Object.values(await told(store)).every(({ length }) => length === 2) ? true : undefined));
    await feeder.close();
    expect(most).toBeLessThanOrEqual(16);
  });

  it('begins with other runs where runs at work have no event for the feed', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    for (const at of upTo(16)) run(`quiet-${at}`);
    change(run('last'), { events: 1 });
    const feeder = feederOn(source, store);
    await eventually(async () => ((await told(store))['last'] === undefined ? undefined : true));
    await feeder.close();
  });

  it('still leads after a look that lasted longer than the lease', async () => {
    jest.useFakeTimers();
    const { source } = server();
    const store = memoryStore();
    let go: () => void = () => undefined;
    const slow: typeof source = {
      ...source,
      async *closed() {
        await new Promise<void>((resolve) => (go = resolve));
      },
    };
    const feeder = feederOn(slow, store);
    await jest.advanceTimersByTimeAsync(10);
    const mark = await store.get('feed-leader');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await store.get('feed-leader')).toBe(mark);
    expect(mark).toBeDefined();
    go();
    const closed = feeder.close();
    await jest.advanceTimersByTimeAsync(1000);
    await closed;
    jest.useRealTimers();
  });
});

describe('the feed of all runs', () => {
  it('has notifiers tell of new events and of a run that is stuck, and waits for their end', async () => {
    const { run, change, source } = server();
    const stuck: object[] = [];
    const ended: string[] = [];
    const woken = new Set<string>();
    const problem = { error: { code: 'run-stuck', message: 'The code changed.' }, offset: 2 };
    const isStuck: typeof source.stuck = (workflowId) => Promise.resolve(workflowId === 'acme/one' ? problem : undefined);
    const feeder = feederOn({ ...source, stuck: isStuck }, memoryStore(), {
      notices: {
        tenants: () => Promise.resolve(['beta']),
        notifierOf: ({ tenant }, signal) => ({
          run: () => new Promise((resolve) => signal.addEventListener('abort', () => resolve(void ended.push(tenant)))),
          wake: () => void woken.add(tenant),
          stuck: (told) => void stuck.push({ tenant, told }),
        }),
      },
    });
    change(run('one'), { events: 2, status: 'waiting' });
    change(run('two'), { events: 2, status: 'waiting' });
    await eventually(() => Promise.resolve(stuck.length > 0 ? true : undefined));
    await feeder.close();
    const about = { run: 'one', agent: 'clerk', tags: ['night'], startedBy: 'ada' };
    expect(stuck).toEqual([{ tenant: 'acme', told: { run: about, error: problem.error, at: 'one-1 2' } }]);
    expect([...ended].sort()).toEqual(['acme', 'beta']);
    expect([...woken]).toEqual(['acme']);
  });

  it('has the events of each run once and in order, while runs go on, wait, go on and end', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    const feeder = feederOn(source, store);
    const [one, other] = [run('one'), run('other')];
    change(one, { events: 3 });
    change(other, { events: 2, status: 'waiting' });
    await eventually(async () => ((await told(store))['one']?.length === 3 ? true : undefined));
    change(other, { events: 4, status: 'running' });
    change(one, { events: 5, status: 'ended' });
    change(other, { events: 6, status: 'ended' });
    await eventually(async () => ((await told(store))['other']?.length === 6 ? true : undefined));
    await feeder.close();
    expect(await told(store)).toEqual({ one: upTo(5), other: upTo(6) });
    expect(feeder.warnings).toEqual([]);
  });

  it('has a run that a list shows late, a run that goes on after its end, and changes of a waiting run that no list shows', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    const late = run('late');
    change(late, { events: 4, status: 'ended', isListed: false });
    const failed = run('failed');
    change(failed, { events: 2, status: 'ended' });
    const feeder = feederOn(source, store);
    await eventually(async () => ((await told(store))['failed']?.length === 2 ? true : undefined));
    change(failed, { events: 3, status: 'running', runId: 'failed-2' });
    change(late, { isListed: true });
    await eventually(async () =>
      (await told(store))['late']?.length === 4 && (await told(store))['failed']?.length === 3 ? true : undefined,
    );
    await feeder.close();
    expect(await told(store)).toEqual({ late: upTo(4), failed: upTo(3) });
  });

  it.each(Array.from({ length: 12 }, (_, at) => [at + 1, true] as const).flatMap(([nth]) => [[nth, true] as const, [nth, false] as const]))(
    'has each event once after a crash at write %i, which takes effect: %s',
    async (nth, takesEffect) => {
      const { run, change, source } = server();
      const store = memoryStore();
      const [one, other] = [run('one'), run('other', 'beta')];
      const crash = crashing(store, nth, takesEffect);
      const first = feederOn(source, crash.store);
      change(one, { events: 2 });
      change(other, { events: 700, status: 'ended' });
      const third = run('third');
      change(third, { events: 1, status: 'ended' });
      const isTold = async () =>
        (await told(store))['one']?.length === 2 && (await told(store))['third'] !== undefined ? true : undefined;
      let isCrashed = false;
      void crash.crashed.then(() => (isCrashed = true));
      await eventually(async () => isCrashed || (await isTold()) || undefined);
      change(one, { events: 4, status: 'ended' });
      // The lease of the crashed service ends.
      await store.delete('feed-leader');
      const second = feederOn(source, store);
      change(third, { events: 2, runId: 'third-2', status: 'ended' });
      await eventually(async () =>
        (await told(store))['one']?.length === 4 &&
        (await told(store))['third']?.length === 2 &&
        (await told(store, 'beta'))['other']?.length === 700
          ? true
          : undefined,
      );
      await second.close();
      void first.close();
      expect(await told(store)).toEqual({ one: upTo(4), third: upTo(2) });
      expect(await told(store, 'beta')).toEqual({ other: upTo(700) });
    },
  );

  it('has each event once where two services believe that they lead', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    const blind: ServiceStore = { ...store, get: (key) => (key === 'feed-leader' ? Promise.resolve(undefined) : store.get(key)) };
    const leads: ServiceStore = {
      ...blind,
      set: (key, ...rest) => (key === 'feed-leader' ? Promise.resolve(true) : store.set(key, ...rest)),
    };
    const feeders = [feederOn(source, leads), feederOn(source, leads)];
    const runs = ['a', 'b', 'c'].map((id) => run(id));
    for (let events = 1; events <= 20; events += 1) {
      for (const one of runs) change(one, { events });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    for (const one of runs) change(one, { status: 'ended' });
    await eventually(async () => (Object.values(await told(store)).every(({ length }) => length === 20) ? true : undefined));
    await Promise.all(feeders.map(({ close }) => close()));
    expect(await told(store)).toEqual({ a: upTo(20), b: upTo(20), c: upTo(20) });
  });

  it('reads a run no more that it has to the end, and goes on without a run that nobody can read', async () => {
    const { runs, run, change, source, reads } = server();
    const store = memoryStore();
    change(run('one'), { events: 1, status: 'ended' });
    const gone = run('gone');
    change(gone, { events: 1, status: 'ended' });
    const broken: typeof source = {
      ...source,
      events: (id, ...rest) => {
        if (id === 'acme/gone') throw new HoldfastError('run-unknown', 'There is no run.');
        return source.events(id, ...rest);
      },
    };
    const feeder = feederOn(broken, store);
    await eventually(async () => ((await told(store))['one'] === undefined ? undefined : true));
    const later = run('later');
    change(later, { events: 1, status: 'ended' });
    await eventually(async () => (['one', 'later'].every((id) => store.entries.has(endedKey(id))) ? true : undefined));
    await feeder.close();
    const before = reads();
    expect(feeder.warnings).toEqual(['The feed of events lacks the rest of the run gone: There is no run.']);
    runs.delete('acme/gone');
    const again = feederOn(source, store);
    change(run('last'), { events: 1, status: 'ended' });
    await eventually(async () => ((await told(store))['last'] === undefined ? undefined : true));
    await again.close();
    expect(reads()).toBe(before + 1);
  });

  it('has a run with the longest id, and every event of a run whose id was used before, by a run that the server has forgotten', async () => {
    const { run, change, source } = server();
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-feed-'));
    const store = new FileStore(directory);
    const [long, again] = [run('A'.repeat(200)), run('again')];
    change(long, { events: 1, status: 'ended' });
    change(again, { events: 3, status: 'ended' });
    const feeder = feederOn(source, store);
    await eventually(() => store.get(endedKey('again')));
    change(again, { events: 2, runId: 'again-9', isFirst: true });
    await eventually(async () => ((await told(store))['again']?.length === 5 ? true : undefined));
    await feeder.close();
    expect(feeder.warnings).toEqual([]);
    expect(await told(store)).toEqual({ [long.id]: [0], again: [0, 1, 2, 0, 1] });
    rmSync(directory, { recursive: true });
  });

  it('goes on with other runs where the data of one run cannot be read, and reads that run later', async () => {
    const { run, change, source } = server();
    const store = memoryStore();
    const now = jest.spyOn(Date, 'now');
    let isBroken = true;
    change(run('broken'), { events: 1, status: 'ended' });
    const partly: typeof source = {
      ...source,
      events: (id, ...rest) => {
        if (id === 'acme/broken' && isBroken) throw new TypeError('The storage has no such object.');
        return source.events(id, ...rest);
      },
    };
    const feeder = feederOn(partly, store);
    change(run('other'), { events: 1, status: 'ended' });
    await eventually(async () => ((await told(store))['other'] === undefined ? undefined : true));
    isBroken = false;
    const ahead = performance.timeOrigin + performance.now() + 61_000;
    now.mockImplementation(() => ahead + performance.now());
    // The store of the test forgets what ends with the time.
    await eventually(async () => (store.entries.has(`${chunks}000000000001`) ? true : undefined));
    await feeder.close();
    now.mockRestore();
    expect(await told(store)).toEqual({ other: [0], broken: [0] });
    expect(feeder.warnings).toEqual(['The feed of events lacks the rest of the run broken: The storage has no such object.']);
  });
});

const lineOf = (run: string, offset = 0, text = ''): string =>
  JSON.stringify({ run, agent: 'clerk', tags: [], event: { offset, type: 'custom', text } });

describe('a page of the feed', () => {
  const filled = async (chunks: readonly (readonly string[])[]) => {
    const store = memoryStore();
    const log = new FeedLog(store, 'acme', keepMs);
    for (const [chunk, runs] of chunks.entries())
      await log.append(
        chunk,
        runs.map((run, offset) => lineOf(run, offset)),
      );
    return { store, log };
  };

  it('goes on behind any event of an earlier page, and behind an empty page', async () => {
    const { log } = await filled([['a', 'b'], ['c'], ['d', 'e']]);
    const whole = await log.page(everything);
    expect(whole).toMatchObject({ more: false, next: '3.0' });
    const rest = async (since: string) => (await log.page({ ...everything, since })).events.map(({ run }) => run);
    expect(await Promise.all(whole.events.map(({ cursor }) => rest(cursor)))).toEqual([
      ['b', 'c', 'd', 'e'],
      ['c', 'd', 'e'],
      ['d', 'e'],
      ['e'],
      [],
    ]);
    const some = await log.page({ ...everything, limit: 3 });
    expect([some.events.length, some.more, await rest(some.next)]).toEqual([3, true, ['d', 'e']]);
    const none = await log.page({ limit: 10, fits: () => false });
    expect([none.events, await rest(none.next)]).toEqual([[], []]);
  });

  it('has at most 4 MiB of events, and at least one event', async () => {
    const log = new FeedLog(memoryStore(), 'acme', keepMs);
    const large = 'ä'.repeat(700_000);
    await log.append(
      0,
      ['a', 'b', 'c'].map((run) => lineOf(run, 0, large)),
    );
    await log.append(1, [lineOf('d', 0, large.repeat(4)), lineOf('e')]);
    const pages: string[][] = [];
    for (let [since, more]: [string | undefined, boolean] = [undefined, true]; more;) {
      const page = await log.page({ ...everything, since });
      pages.push(page.events.map(({ run }) => run));
      ({ next: since, more } = page);
    }
    expect(pages).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
  });

  it('refuses a cursor whose events are gone, and a cursor that the feed never gave', async () => {
    const { store, log } = await filled([['a'], ['b'], ['c']]);
    await store.delete(`${chunks}000000000000`);
    await expect(log.page({ ...everything, since: cursorOf({ chunk: 0, index: 1 }) })).rejects.toMatchObject({ code: 'cursor-expired' });
    expect((await log.page(everything)).events.map(({ run }) => run)).toEqual(['b', 'c']);
    for (const since of ['9.0', 'x', '1', '1.2.3', '-1.0'])
      await expect(log.page({ ...everything, since })).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('has a chunk that is written between the look at the chunk and the look at the end', async () => {
    const { store, log } = await filled([['a']]);
    let looks = 0;
    const late: ServiceStore = {
      ...store,
      get: async (key) => {
        const found = await store.get(key);
        if (key === `${chunks}000000000001` && looks++ === 0) await log.append(1, [lineOf('b')]);
        return found;
      },
    };
    const { events, next } = await new FeedLog(late, 'acme', keepMs).page({ ...everything, since: '1.0' });
    expect([events.map(({ run }) => run), next]).toEqual([['b'], '2.0']);
  });
});
