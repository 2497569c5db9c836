import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../client/connect';
import { freePort } from '../../host/server/free-port';
import { eventually } from '../support/temporal';
import { testServer } from '../support/test-bed';
import { signedAs } from '../support/trigger-bed';
import { killAll, spawnProgram } from './child';
import type { TriggerServiceSettings } from './trigger-process';

const senders = 20;
const deliveries = 2000;
const distinct = deliveries * 0.7;
/** Numbers of answers after which the service is killed. */
const kills = [600, 1300];

/** Every tenth delivery is ignored, and every tenth is kept. */
const kindOf = (number: number): string => ['paid', 'strange'][number % 10] ?? 'late';

const answerTo = (number: number): object =>
  ({ paid: { ignored: true }, strange: { kept: `msg_${number}` } })[kindOf(number)] ?? { run: `orders:msg_${number}` };

/** A sender repeats a delivery until the service answers, as real senders do. */
async function send(number: number, port: number, isUp: () => Promise<unknown>): Promise<string> {
  const body = JSON.stringify({ order: String(number), kind: kindOf(number) });
  for (;;) {
    await isUp();
    const url = `http://127.0.0.1:${port}/v1/triggers/orders`;
    const response = await fetch(url, { method: 'POST', headers: signedAs(body, { id: `msg_${number}` }), body }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response?.status === 202 && text !== undefined) return text;
    if (response !== undefined && response.status < 500) throw new Error(`${response.status} ${text ?? ''}`);
  }
}

afterAll(killAll);

it('2,000 deliveries, 600 of them repeats, start 1,120 runs in the name of the trigger, while the service is killed twice', async () => {
  const tenant = `storm-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-triggers-'));
  const settings: TriggerServiceSettings = { address: testServer().address, tenant, taskQueue: tenant, port: await freePort(), folder };
  const spawn = async (): Promise<ReturnType<typeof spawnProgram>> => {
    const spawned = spawnProgram('trigger-process', settings);
    await spawned.line('listening');
    return spawned;
  };
  let child = await spawn();
  let restart: Promise<void> = Promise.resolve();
  const kill = async (): Promise<void> => {
    await child.murder();
    child = await spawn();
  };
  const answers = new Map<number, Set<string>>();
  const numbers = Array.from({ length: deliveries }, (_, place) => (place * 7919) % distinct);
  let answered = 0;
  const work = async (): Promise<void> => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const text = await send(number, settings.port, () => restart);
      answers.set(number, (answers.get(number) ?? new Set()).add(text));
      answered += 1;
      if (kills.includes(answered)) restart = kill();
    }
  };
  await Promise.all(Array.from({ length: senders }, work));
  await child.murder();

  const found = [...answers].map(([number, texts]) => [number, ...texts]).sort(([one], [other]) => Number(one) - Number(other));
  expect(found).toEqual(Array.from({ length: distinct }, (_, number) => [number, JSON.stringify(answerTo(number))]));
  const client = await connect({ server: testServer(), tenant, taskQueue: tenant });
  await eventually(async () => expect((await client.list({ total: true, limit: 1 })).total).toBe(1120));
  expect((await client.list({ limit: 1000 })).runs.every(({ startedBy }) => startedBy === 'trigger:orders')).toBe(true);
  await client.close();
});
