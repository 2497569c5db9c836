import { setTimeout } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { ListOptions } from '../../client/listing/list-options';
import type { ListedRun } from '../../contract/service';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';

let bed: TestBed;
let temporal: Temporal;
const clients: HoldfastClient[] = [];
beforeAll(async () => {
  bed = await startTestBed(script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.')));
  temporal = await openTemporal();
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await bed.close();
  await temporal.close();
});

async function clientOf(tenant: string): Promise<HoldfastClient> {
  const client = await connect({ server: testServer(), taskQueue: bed.taskQueue, tenant });
  clients.push(client);
  return client;
}

async function allRuns(client: HoldfastClient, options: ListOptions): Promise<readonly ListedRun[]> {
  const { runs, next } = await client.list(options);
  return next === undefined ? runs : [...runs, ...(await allRuns(client, { ...options, after: next }))];
}

describe('lists of a server', () => {
  it('keep the place and the begin of a run that continues as new, again and again', async () => {
    const client = await clientOf('order');
    const ids = ['first', 'second', 'third'];
    for (const id of ids) {
      await (await client.start('guarded', 'hello', { id })).outcome();
      await setTimeout(5);
    }
    const listed = async (): Promise<readonly ListedRun[]> => allRuns(client, { limit: 1 });
    let before: readonly ListedRun[] = [];
    await eventually(async () => {
      before = await listed();
      expect(before.map(({ id, status }) => [id, status])).toEqual([...ids].reverse().map((id) => [id, 'waiting']));
    });
    const first = new Client({ connection: temporal.connection }).workflow.getHandle('order/first');
    for (let round = 0; round < 2; round++) {
      const execution = (await first.describe()).runId;
      await first.signal('continue-as-new');
      await eventually(async () => expect((await first.describe()).runId).not.toBe(execution));
    }
    await eventually(async () => expect(await listed()).toEqual(before));
    expect((await client.list({ total: true })).total).toBe(3);
    expect((await client.list({ total: true, limit: 1 })).total).toBe(3);
    const [, second] = before;
    expect((await client.list({ until: second?.startedAt ?? '' })).runs.map(({ id }) => id)).toEqual(['first']);
    expect((await client.list({ since: second?.startedAt ?? '' })).runs.map(({ id }) => id)).toEqual(['third', 'second']);
    await client.run('first').approve(before[2]?.interrupts[0]?.id ?? '');
    await client.run('first').outcome();
    await eventually(async () => {
      const runs = await listed();
      expect(runs.map(({ id, startedAt }) => [id, startedAt])).toEqual(before.map(({ id, startedAt }) => [id, startedAt]));
      expect(runs[2]).toMatchObject({ status: 'completed', interrupts: [] });
      expect(runs[2]).not.toHaveProperty('waitingSince');
    });
  });

  it('filter by status, agent, tags, who started it and how long it waits', async () => {
    const client = await clientOf('filters');
    const start = async (id: string, agent: string, tags: string[], by?: string): Promise<void> => {
      await (await client.start(agent, 'hello', { id, tags, ...(by === undefined ? {} : { by }) })).outcome();
    };
    await start('a', 'guarded', ['night', 'it\'s "odd" \\'], 'ada');
    await start('b', 'guarded', ['night'], "o'hara \\");
    await start('c', 'plain', ['night', 'eu'], 'ada');
    await start('d', 'plain', ['Night'], "o'hara");
    const found = async (options: ListOptions): Promise<string> => (await client.list(options)).runs.map(({ id }) => id).join('');
    await eventually(async () => expect(await found({ status: 'completed' })).toBe('dc'));
    await eventually(async () => expect(await found({})).toBe('dcba'));
    await eventually(async () => expect(await found({ status: 'waiting' })).toBe('ba'));
    expect(await found({ status: 'open' })).toBe('ba');
    expect(await found({ status: 'running' })).toBe('');
    expect(await found({ status: 'completed', agent: 'plain' })).toBe('dc');
    expect(await found({ tag: 'night' })).toBe('cba');
    expect(await found({ tag: ['eu', 'night'] })).toBe('c');
    expect(await found({ tag: 'it\'s "odd" \\' })).toBe('a');
    expect(await found({ tag: 'nigh' })).toBe('');
    expect(await found({ startedBy: 'ada' })).toBe('ca');
    expect(await found({ startedBy: "o'hara \\" })).toBe('b');
    expect(await found({ startedBy: "o'hara" })).toBe('d');
    expect(await found({ tag: 'Night' })).toBe('d');
    expect(await found({ mayAnswer: 'kim' })).toBe('ba');
    expect(await found({ waitingSince: '1h' })).toBe('');
    expect(await found({ waitingSince: new Date(Date.now() + 60_000), tag: 'night' })).toBe('ba');
    expect(await found({ since: '1h', until: new Date(Date.now() + 60_000) })).toBe('dcba');
    expect(await found({ until: '1h' })).toBe('');
    expect((await (await clientOf('others')).forTenant('filters').list({ tag: 'eu' })).runs).toMatchObject([{ id: 'c', startedBy: 'ada' }]);
    expect(await client.interrupts({ tag: 'night', startedBy: 'ada' })).toEqual({
      interrupts: [expect.objectContaining({ runId: 'a', agent: 'guarded', startedBy: 'ada', waitingSince: expect.any(String) })],
      more: false,
    });
  });
});
