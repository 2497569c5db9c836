import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../../contract/errors';
import { freePort } from '../../host/server/free-port';
import { ServiceClient } from '../../client/http/index';
import type { Child } from '../kill/child';
import { killAll, spawnProgram } from '../kill/child';
import type { PaymentScript, PaymentSettings } from '../kill/payment-process';
import type { PaymentServer } from '../kill/payment-server';
import { startPaymentServer } from '../kill/payment-server';
import { programSettings } from '../kill/program-settings';
import type { ServiceAloneSettings } from '../kill/service-alone';
import { testServer } from '../support/test-bed';

/* 20 clients start 500 paying runs through HTTP with retries, while worker and service are killed twice each. */

const clients = 20;
const each = 25;
const taskQueue = `starts-${process.pid}`;
const kills: Readonly<Record<number, 'worker' | 'service'>> = { 100: 'worker', 200: 'service', 300: 'worker', 400: 'service' };

let payments: PaymentServer;
let port: number;
const children: Partial<Record<'worker' | 'service', Child>> = {};
const killed: string[] = [];

const programs = {
  worker: () =>
    spawnProgram('payment-process', {
      ...programSettings(taskQueue),
      payments: payments.url,
      holds: false,
    } satisfies PaymentSettings),
  service: () => spawnProgram('service-alone', { address: testServer().address, taskQueue, port } satisfies ServiceAloneSettings),
};

async function spawnOne(which: 'worker' | 'service'): Promise<void> {
  const child = programs[which]();
  children[which] = child;
  await child.line(which === 'worker' ? 'ready' : 'listening');
}

async function killOne(which: 'worker' | 'service'): Promise<void> {
  await children[which]?.murder();
  killed.push(which);
  await spawnOne(which);
}

beforeAll(async () => {
  [payments, port] = await Promise.all([startPaymentServer(), freePort()]);
  await Promise.all([spawnOne('worker'), spawnOne('service')]);
}, 120_000);
afterAll(async () => {
  killAll();
  await payments.close();
});

const holdfast = (): ServiceClient => new ServiceClient(`http://127.0.0.1:${port}`);

async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!['service-unreachable', 'server-unreachable'].includes(codeOf(error) ?? '')) throw error;
      await delay(50);
    }
  }
}

const amountOf = (number: number): number => number + 1;

it('ends every run once, and every payment is made once', async () => {
  let kill = Promise.resolve();
  const isNew = new Map<string, number>();
  let started = 0;
  const client = async (number: number): Promise<void> => {
    for (let own = 0; own < each; own++) {
      const run = number * each + own;
      const script: PaymentScript = [[{ id: 'call', tool: 'pay', amount: amountOf(run) }]];
      const id = `${taskQueue}-${run}`;
      const start = (): ReturnType<ServiceClient['start']> =>
        persistently(() => holdfast().start({ agent: 'plain', input: JSON.stringify(script), id, tags: [taskQueue], stream: false }));
      const answers = await Promise.all(run % 3 === 0 ? [start(), start()] : [start()]);
      isNew.set(id, answers.filter((answer) => answer.isNew).length);
      const which = kills[++started];
      if (which !== undefined) kill = kill.then(() => killOne(which));
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  await kill;
  expect(killed.sort()).toEqual(['service', 'service', 'worker', 'worker']);
  const ids = [...isNew.keys()];
  expect(ids).toHaveLength(clients * each);
  // A start whose answer was lost counts as new for no client.
  expect([...isNew.values()].filter((count) => count > 1)).toEqual([]);

  const open = new Set(ids);
  while (open.size > 0) {
    const [id = ''] = open;
    const { status } = await persistently(() => holdfast().view(id));
    if (status === 'running') await delay(50);
    else {
      expect({ id, status }).toEqual({ id, status: 'completed' });
      open.delete(id);
    }
  }
  const amounts = payments.receipts.map(({ amount }) => amount).sort((a, b) => a - b);
  expect(amounts).toEqual(ids.map((_, number) => amountOf(number)));
  expect(new Set(payments.receipts.map(({ key }) => key)).size).toBe(ids.length);
  for (;;) {
    const { total } = await persistently(() => holdfast().list({ tag: [taskQueue], total: true, limit: 1 }));
    if (total === ids.length) break;
    expect(total).toBeLessThan(ids.length);
    await delay(100);
  }
}, 300_000);
