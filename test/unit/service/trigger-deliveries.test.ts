import type { Hono } from 'hono';
import type { HoldfastClient } from '../../../client/index';
import { HoldfastError } from '../../../contract/errors';
import type { ServiceStore } from '../../../service/store/store';
import type { Triggers } from '../../../service/triggers/options';
import { memoryStore } from '../../support/memory-store';
import { answerOf } from '../../support/service-app';
import type { Answered, StartedRuns } from '../../support/trigger-bed';
import { deliver, secret, startedRuns, triggerApp } from '../../support/trigger-bed';

interface Order {
  readonly kind: 'late' | 'paid' | 'broken' | 'taken';
}

const triggersWith = (mends: boolean): Triggers => ({
  orders: {
    from: 'standard',
    secrets: secret,
    start: ({ payload, id }) => {
      const { kind } = payload as unknown as Order;
      if (kind === 'paid') return undefined;
      if (kind === 'broken' && !mends) throw new Error('no such field');
      return { agent: 'support', input: `${kind} ${id}`, ...(kind === 'taken' ? { id: mends ? 'free' : 'taken' } : {}) };
    },
  },
});

const dead = new HoldfastError('server-unreachable', 'Nothing answers.');

/** Answers nothing from the step on: the process has ended before or after the step took effect. */
function killedAt(step: number, moment: 'before' | 'after') {
  let count = 0;
  const dying =
    <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      count += 1;
      if (count > step || (count === step && moment === 'before')) throw dead;
      const done = await work(...args);
      if (count === step) throw dead;
      return done;
    };
  return {
    store: (store: ServiceStore): ServiceStore => ({
      ...store,
      get: dying(store.get),
      set: dying(store.set),
      delete: dying(store.delete),
      list: dying(store.list),
    }),
    client: (runs: StartedRuns): Pick<StartedRuns, 'client'> => {
      const { start, place } = runs.client as Required<Pick<HoldfastClient, 'start' | 'place'>>;
      const client = { place, start: dying(start as () => Promise<never>), as: (): unknown => client };
      return { client: client as unknown as StartedRuns['client'] };
    },
    hasEnded: () => count >= step,
  };
}

const keptIn = ({ entries }: ReturnType<typeof memoryStore>): readonly string[] =>
  [...entries.keys()].filter((key) => key.startsWith('kept/'));

const moments = ['before', 'after'] as const;

async function eachDeath(play: (death: ReturnType<typeof killedAt>) => Promise<void>): Promise<number> {
  for (let step = 1; ; step++) {
    const deaths = moments.map((moment) => killedAt(step, moment));
    for (const death of deaths) await play(death);
    if (!deaths.every(({ hasEnded }) => hasEnded())) return step - 1;
  }
}

describe('a service that is killed at any step', () => {
  it.each<readonly [Order['kind'], object, number]>([
    ['late', { run: 'orders:msg_1' }, 5],
    ['paid', { ignored: true }, 3],
    ['broken', { kept: 'msg_1' }, 3],
    ['taken', { kept: 'msg_1' }, 5],
  ])('gives a repeat of a delivery "%s" one run at most, and the answer %j', async (kind, answer, steps) => {
    const played = await eachDeath(async (death) => {
      const [store, runs] = [memoryStore(), startedRuns()];
      runs.runs.set('taken', 'another');
      await deliver(triggerApp(death.client(runs), triggersWith(false), death.store(store)), 'orders', { kind });
      const app = triggerApp(runs, triggersWith(false), store);
      for (let repeat = 0; repeat < 2; repeat++) expect(await deliver(app, 'orders', { kind })).toEqual({ status: 202, body: answer });
      expect([...runs.runs]).toEqual([['taken', 'another'], ...('run' in answer ? [['orders:msg_1', 'late msg_1']] : [])]);
      const { deliveries } = (await answerOf(app, 'GET', '/triggers/orders/deliveries')).body;
      expect(deliveries).toHaveLength('kept' in answer ? 1 : 0);
    });
    expect(played).toBe(steps);
  });

  it.each<readonly [Order['kind'], string]>([
    ['broken', 'orders:msg_1'],
    ['taken', 'free'],
  ])('lets a second replay of a kept delivery "%s" start one run, and keeps the delivery no longer', async (kind, id) => {
    await eachDeath(async (death) => {
      const [store, runs] = [memoryStore(), startedRuns()];
      runs.runs.set('taken', 'another');
      await deliver(triggerApp(runs, triggersWith(false), store), 'orders', { kind });
      const replay = '/triggers/orders/deliveries/msg_1/replay';
      await answerOf(triggerApp(death.client(runs), triggersWith(true), death.store(store)), 'POST', replay);
      const app = triggerApp(runs, triggersWith(true), store);
      for (let repeat = 0; repeat < 2; repeat++) expect(await answerOf(app, 'POST', replay)).toEqual({ status: 200, body: { run: id } });
      expect(await deliver(app, 'orders', { kind })).toEqual({ status: 202, body: { run: id } });
      expect([...runs.runs]).toEqual([
        ['taken', 'another'],
        [id, `${kind} msg_1`],
      ]);
      expect(keptIn(store)).toEqual([]);
    });
  });

  it('starts nothing of a dropped delivery', async () => {
    await eachDeath(async (death) => {
      const [store, runs] = [memoryStore(), startedRuns()];
      await deliver(triggerApp(runs, triggersWith(false), store), 'orders', { kind: 'broken' });
      const path = '/triggers/orders/deliveries/msg_1';
      await answerOf(triggerApp(death.client(runs), triggersWith(false), death.store(store)), 'DELETE', path);
      const app = triggerApp(runs, triggersWith(true), store);
      await answerOf(app, 'DELETE', path);
      expect(await deliver(app, 'orders', { kind: 'broken' })).toEqual({ status: 202, body: { ignored: true } });
      expect(runs.runs.size).toBe(0);
      expect((await answerOf(app, 'GET', '/triggers/orders/deliveries')).body.deliveries).toEqual([]);
      expect(keptIn(store)).toEqual([]);
    });
  });
});

it('the sender of a delivery that waits learns no address', async () => {
  const { client, store } = killedAt(1, 'before');
  const app = triggerApp(client(startedRuns()), triggersWith(false), store(memoryStore()));
  const { status, body } = await deliver(app, 'orders', { kind: 'late' });
  expect([status, body.error]).toMatchObject([
    503,
    { code: 'server-unreachable', message: 'The service cannot take the delivery now. Send the delivery again.' },
  ]);
});

describe('a delivery that came while no run could be started', () => {
  const path = '/triggers/orders/deliveries';
  const away = async () => {
    const [store, runs] = [memoryStore(), startedRuns()];
    const none = { ...runs.client, as: (): unknown => ({ start: () => Promise.reject(dead) }) } as StartedRuns['client'];
    expect((await deliver(triggerApp({ client: none }, triggersWith(false), store), 'orders', { kind: 'late' })).status).toBe(503);
    return { app: triggerApp(runs, triggersWith(false), store), store, runs };
  };

  it('is listed, and starts one run by a replay and a repeat, in any order', async () => {
    const replay = (app: Hono) => answerOf(app, 'POST', `${path}/msg_1/replay`);
    const repeat = (app: Hono) => deliver(app, 'orders', { kind: 'late' });
    for (const acts of [
      [replay, repeat],
      [repeat, replay],
    ]) {
      const { app, store, runs } = await away();
      expect((await answerOf(app, 'GET', path)).body.deliveries).toEqual([
        { id: 'msg_1', at: expect.any(String), payload: '{"kind":"late"}' },
      ]);
      for (const act of acts) expect((await act(app)).body).toEqual({ run: 'orders:msg_1' });
      expect([...runs.runs]).toEqual([['orders:msg_1', 'late msg_1']]);
      expect(keptIn(store)).toEqual([]);
    }
  });

  it('starts nothing after it was dropped', async () => {
    const { app, store, runs } = await away();
    expect((await answerOf(app, 'DELETE', `${path}/msg_1`)).status).toBe(200);
    expect((await deliver(app, 'orders', { kind: 'late' })).body).toEqual({ ignored: true });
    expect([runs.runs.size, keptIn(store)]).toEqual([0, []]);
  });
});

it('a run that the server has forgotten is not started again', async () => {
  const [store, runs] = [memoryStore(), startedRuns()];
  const app = triggerApp(runs, triggersWith(false), store);
  await deliver(app, 'orders', { kind: 'late' });
  runs.runs.clear();
  expect(await deliver(app, 'orders', { kind: 'late' })).toEqual({ status: 202, body: { run: 'orders:msg_1' } });
  expect(runs.runs.size).toBe(0);
});

describe('services that share a store', () => {
  const named = (name: string): Triggers => ({
    orders: { from: 'standard', secrets: secret, start: () => ({ agent: 'support', input: name, id: name }) },
  });
  /** Every order in which two services take their steps. */
  const orders = Array.from({ length: 2 ** 8 }, (_, bits) => Array.from({ length: 8 }, (_step, place) => (bits >> place) & 1));

  it('start one run for two equal deliveries, whatever comes first', async () => {
    for (const order of orders) {
      const [store, runs] = [memoryStore(), startedRuns()];
      const waiting: [(() => void)[], (() => void)[]] = [[], []];
      const stepped = (who: 0 | 1): ServiceStore => {
        const step =
          <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
          async (...args: Args): Promise<T> => {
            await new Promise<void>((go) => waiting[who].push(go));
            return work(...args);
          };
        return { ...store, get: step(store.get), set: step(store.set) };
      };
      const answers: Answered[] = [];
      const both = ([0, 1] as const).map(async (who) => {
        answers.push(await deliver(triggerApp(runs, named(who === 0 ? 'left' : 'right'), stepped(who)), 'orders', {}));
      });
      const rest = [...order];
      while (answers.length < 2) {
        await new Promise(setImmediate);
        const next = rest.shift() ?? 0;
        (waiting[next as 0 | 1].shift() ?? waiting[1 - next]?.shift())?.();
      }
      await Promise.all(both);
      expect(answers[0]).toEqual(answers[1]);
      expect([...runs.runs.keys()]).toEqual([answers[0]?.body.run]);
    }
  });
});
