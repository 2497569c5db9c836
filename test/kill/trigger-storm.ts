import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../client/connect';
import { freePort } from '../../host/server/free-port';
import { eventually } from '../support/temporal';
import { testServer } from '../support/test-bed';
import { signedAs } from '../support/trigger-bed';
import { spawnProgram } from './child';
import type { TriggerServiceSettings } from './trigger-process';

const senders = 20;

/** Every tenth delivery is ignored, and every tenth is kept. */
const kindOf = (number: number): string => ['paid', 'strange'][number % 10] ?? 'late';

/**
 * Many senders deliver while the service is killed twice. Three of ten deliveries are repeats. A sender repeats a delivery until an answer
 * comes, as real senders do.
 */
export async function triggerStorm(deliveries: number): Promise<void> {
  const distinct = Math.round(deliveries * 0.7);
  const tenant = `storm-${randomUUID()}`;
  const settings: TriggerServiceSettings = {
    address: testServer().address,
    tenant,
    taskQueue: tenant,
    port: await freePort(),
    folder: mkdtempSync(join(tmpdir(), 'holdfast-triggers-')),
  };
  const spawn = async () => {
    const child = spawnProgram('trigger-process', settings);
    await child.line('listening');
    return child;
  };
  let child = await spawn();
  let isUp: Promise<unknown> = Promise.resolve();
  const kill = async (): Promise<void> => {
    await child.murder();
    child = await spawn();
  };
  const answers = new Map<number, Set<string>>();
  const numbers = Array.from({ length: deliveries }, (_, place) => (place * 7919) % distinct);
  const kills = [Math.round(deliveries / 3), Math.round((deliveries * 2) / 3)];
  let answered = 0;
  const deliver = async (number: number): Promise<string> => {
    const body = JSON.stringify({ order: String(number), kind: kindOf(number) });
    for (;;) {
      await isUp;
      const response = await fetch(`http://127.0.0.1:${settings.port}/v1/triggers/orders`, {
        method: 'POST',
        headers: signedAs(body, { id: `msg_${number}` }),
        body,
      }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.status === 202 && text !== undefined) return text;
      if (response !== undefined && response.status < 500) throw new Error(`${response.status} ${text ?? ''}`);
    }
  };
  await Promise.all(
    Array.from({ length: senders }, async () => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        const text = await deliver(number);
        answers.set(number, (answers.get(number) ?? new Set()).add(text));
        answered += 1;
        if (kills.includes(answered)) isUp = kill();
      }
    }),
  );
  const expected = (number: number): object =>
    ({ paid: { ignored: true }, strange: { kept: `msg_${number}` } })[kindOf(number)] ?? { run: `orders:msg_${number}` };
  expect([...answers].map(([number, texts]) => [number, [...texts]])).toEqual(
    [...answers.keys()].map((number) => [number, [JSON.stringify(expected(number))]]),
  );
  expect(answers.size).toBe(distinct);
  await child.murder();
  const client = await connect({ server: testServer(), tenant, taskQueue: tenant });
  const late = [...answers.keys()].filter((number) => kindOf(number) === 'late');
  await eventually(async () => expect((await client.list({ total: true, limit: 1 })).total).toBe(late.length));
  const { by } = await client
    .run(`orders:msg_${late[0]}`)
    .view()
    .then(({ startedBy }) => ({ by: startedBy }));
  expect(by).toBe('trigger:orders');
  await client.close();
}
