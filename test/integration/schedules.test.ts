import { Client } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { ScheduleSpec } from '../../contract/schedules';
import { recordHistory, replayHistories } from '../../testing/index';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, fixtureAgents, fixtureBundle, testServer, text } from '../support/test-bed';

const bed = sharedBed();
const file = join(mkdtempSync(join(tmpdir(), 'holdfast-schedules-')), 'run.json');
afterAll(() => rmSync(join(file, '..'), { recursive: true }));

const freshName = (): string => `s_${randomUUID().slice(0, 8)}`;
const newYear = { cron: '0 0 1 1 *' } as const;
const closing = (): ScheduleSpec['start'] => ({ agent: 'plain', input: 'Close', model: bed.scripted(() => text('Closed.')).model });

async function firstRun(client: HoldfastClient, name: string): Promise<string> {
  let id = '';
  await eventually(async () => {
    id = (await client.schedules.get(name)).runs[0]?.id ?? '';
    expect(id).not.toBe('');
  });
  return id;
}

async function runNow(start: ScheduleSpec['start']): Promise<{ readonly name: string; readonly id: string }> {
  const name = freshName();
  await bed.client.schedules.set(name, { ...newYear, start });
  await bed.client.schedules.runNow(name);
  return { name, id: await firstRun(bed.client, name) };
}

describe('a run of a schedule', () => {
  it('starts a run that is like the run of a client, with the name of the schedule', async () => {
    const { name, id } = await runNow({ ...closing(), tags: ['nightly'], values: { a: 1 }, deadline: '1h' });
    expect(id).toMatch(new RegExp(`^${name}-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$`));
    const run = bed.client.run(id);
    await expect(run.result()).resolves.toBe('Closed.');
    await expect(run.view()).resolves.toMatchObject({ id, status: 'completed', startedBy: `schedule:${name}`, tags: ['nightly'] });
    const events = [];
    for await (const event of run.events()) events.push(event);
    const by = { by: `schedule:${name}`, proof: `schedule:${name}` };
    expect(events[0]).toMatchObject({ type: 'run-start', agent: 'plain', input: 'Close', ...by });
    await eventually(async () => {
      const { runs } = await bed.client.list({ startedBy: `schedule:${name}`, tag: 'nightly', status: 'completed' });
      expect(runs).toEqual([expect.objectContaining({ id, agent: 'plain' })]);
    });
    const same = await bed.client.start('plain', 'Close', { id });
    expect(same).toMatchObject({ id, isNew: false });
    const { raw } = await bed.temporal.handle(id).describe();
    expect(raw.workflowExecutionInfo?.priority?.fairnessKey).toBe('default');
    const { workflowExecutionTimeout } = raw.executionConfig ?? {};
    expect(Number(workflowExecutionTimeout?.seconds)).toBe(3600);
  });

  it('continues as new, asks, and is replayed under its own id', async () => {
    const { model } = bed.scripted(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? text('Paid.') : calls({ name: 'refund', input: { orderId: '42', amount: 80 } }),
    );
    const { id } = await runNow({ agent: 'guarded', input: 'Refund', model });
    const run = bed.client.run(id);
    expect((await run.outcome()).status).toBe('waiting');
    await bed.temporal.goOnAsNew(id);
    const [interrupt] = await run.interrupts();
    await run.approve(interrupt?.id ?? '');
    await expect(run.result()).resolves.toBe('Paid.');
    await recordHistory({ server: testServer(), id, file });
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: file, changes: 'requests' });
    expect(replayed.map(({ differences }) => differences)).toEqual([[], []]);
  });

  it('is cancelled and resumed, and a failed run is retried', async () => {
    const { pass, open } = gate();
    const held = bed.scripted(async () => (await pass(), text('Late.')));
    const { id } = await runNow({ agent: 'plain', input: 'Wait', model: held.model });
    await bed.client.run(id).cancel();
    open();
    await expect(bed.client.run(id).result()).rejects.toMatchObject({ code: 'cancelled' });
    await bed.client.run(id).resume();
    await expect(bed.client.run(id).result()).resolves.toBe('Late.');
    let isBroken = true;
    const { model } = bed.scripted(() => {
      if (isBroken) throw Object.assign(new Error('out of order'), { isRetryable: false });
      return text('Good.');
    });
    const failed = await runNow({ agent: 'plain', input: 'Try', model });
    await expect(bed.client.run(failed.id).result()).rejects.toMatchObject({ code: 'model-failed' });
    isBroken = false;
    await bed.client.run(failed.id).retry();
    await expect(bed.client.run(failed.id).result()).resolves.toBe('Good.');
  });
});

describe('times', () => {
  const timesOf = async (spec: Omit<ScheduleSpec, 'start'>, since: string, until: string): Promise<readonly string[]> => {
    const name = freshName();
    await bed.client.schedules.set(name, { ...spec, paused: true, start: closing() });
    const { times } = await bed.client.schedules.backfill(name, { since, until });
    let runs: readonly string[] = [];
    await eventually(async () => {
      runs = (await bed.client.schedules.get(name)).runs.map(({ id }) => id.slice(name.length + 1)).reverse();
      expect(runs).toHaveLength(times);
    });
    await bed.client.schedules.delete(name);
    return runs;
  };

  it('are those of a zone: a time that the clock leaves out has no run, and a time that comes twice has one', async () => {
    const berlin = { cron: '30 2 * * *', zone: 'Europe/Berlin' };
    expect(await timesOf(berlin, '2026-03-28T00:00:00Z', '2026-03-30T12:00:00Z')).toEqual(['2026-03-28T01:30:00Z', '2026-03-30T00:30:00Z']);
    expect(await timesOf(berlin, '2026-10-24T00:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
      '2026-10-24T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
  });

  it('count from the first to the last, and a backfill that is repeated starts no second run', async () => {
    const name = freshName();
    await bed.client.schedules.set(name, { cron: '0 2 * * *', paused: true, start: closing() });
    const range = { since: '2026-11-01T02:00:00Z', until: '2026-11-03T02:00:01Z' };
    for (let time = 0; time < 2; time++) expect(await bed.client.schedules.backfill(name, range)).toEqual({ times: 3 });
    const ids = [3, 2, 1].map((day) => `${name}-2026-11-0${day}T02:00:00Z`);
    await eventually(async () => expect((await bed.client.schedules.get(name)).runs.map(({ id }) => id)).toEqual(ids));
    for (const id of ids) await expect(bed.client.run(id).result()).resolves.toBe('Closed.');
    await bed.client.schedules.set(name, { cron: '* * * * *', paused: true, start: closing() });
    await expect(bed.client.schedules.backfill(name, { ...range, until: '2026-11-01T04:00:00Z' })).rejects.toMatchObject({
      code: 'request-invalid',
      message: expect.stringMatching(/has 120 times/),
    });
    await expect(bed.client.schedules.backfill(name, range)).rejects.toThrow(/at least 1,000 times/);
  });

  it.each([
    ['0 0 13 * 5', ['2026-11-06', '2026-11-13', '2026-11-20']],
    ['0 0 * * SUN', ['2026-11-01', '2026-11-08', '2026-11-15']],
    ['0 0 * NOV 5-7', ['2026-11-01', '2026-11-06', '2026-11-07']],
  ])('of %s are those of cron', async (cron, days) => {
    const expected = days.map((day) => `${day}T00:00:00Z`);
    expect((await timesOf({ cron }, '2026-11-01', '2026-11-21')).slice(0, 3)).toEqual(expected);
  });

  it('come by themselves, and each starts one run', async () => {
    const name = freshName();
    await bed.client.schedules.set(name, { every: '10s', start: closing() });
    const id = await firstRun(bed.client, name);
    const { runs } = await bed.client.schedules.get(name);
    await bed.client.schedules.delete(name);
    expect(id.slice(name.length + 1)).toMatch(/0Z$/);
    expect(runs).toHaveLength(1);
    await expect(bed.client.run(id).result()).resolves.toBe('Closed.');
  });

  it('without a worker start a run that waits, and the times meanwhile are skipped', async () => {
    const client = await connect({ server: testServer(), taskQueue: `nobody-${randomUUID()}` });
    const name = freshName();
    await client.schedules.set(name, { every: '10s', start: closing() });
    const id = await firstRun(client, name);
    await eventually(async () => expect((await client.schedules.get(name)).skipped).toBeGreaterThan(0));
    await expect(client.run(id).view()).resolves.toMatchObject({ id, status: 'running' });
    expect((await client.schedules.get(name)).runs.map((one) => one.id)).toEqual([id]);
    await client.schedules.delete(name);
    await client.run(id).terminate();
    await client.close();
  });
});

describe('schedules of the configuration', () => {
  /** Each test has a tenant of its own, because the configuration says which schedules of a tenant there are. */
  async function service(tenant = `t-${randomUUID()}`): Promise<HoldfastClient> {
    const client = await connect({ server: testServer(), taskQueue: bed.taskQueue, tenant });
    closers.push(() => client.close());
    return client;
  }
  const closers: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(closers.map((close) => close())));
  const standing = async (client: HoldfastClient, name: string): Promise<unknown> => {
    const handle = new Client({ connection: bed.temporal.connection }).schedule.getHandle(`${client.place.tenant}/${name}`);
    return (await handle.describe()).raw.conflictToken;
  };

  it('stay untouched if their text is the same, also when a person has paused them', async () => {
    const client = await service();
    const specs = { night: { ...newYear, note: 'At night', start: closing() } };
    expect(await client.schedules.apply(specs)).toEqual({ night: 'made' });
    expect(await client.schedules.get('night')).toMatchObject({ source: 'config', paused: false, note: 'At night', cron: '0 0 1 1 *' });
    await client.schedules.pause('night', 'holidays');
    const before = await standing(client, 'night');
    expect(await client.schedules.apply(specs)).toEqual({ night: 'same' });
    expect(await standing(client, 'night')).toEqual(before);
    expect(await client.schedules.apply({ night: { ...specs.night, cron: '0 3 * * *' } })).toEqual({ night: 'changed' });
    expect(await client.schedules.get('night')).toMatchObject({ paused: true, note: 'holidays', cron: '0 3 * * *', zone: 'UTC' });
  });

  it('are paused when the file has them no more, and go on when they are back', async () => {
    const client = await service();
    const specs = { night: { ...newYear, start: closing() } };
    await client.schedules.set('hand', { ...newYear, start: closing() });
    expect(await client.schedules.apply({ ...specs, hand: specs.night })).toEqual({ night: 'made', hand: 'taken' });
    await eventually(async () => expect(await client.schedules.list()).toHaveLength(2));
    const another = await service(client.place.tenant);
    expect(await another.schedules.apply({})).toEqual({ night: 'paused' });
    expect(await client.schedules.list()).toEqual([
      expect.objectContaining({ name: 'hand', source: 'api', paused: false }),
      expect.objectContaining({ name: 'night', source: 'config', paused: true, note: 'removed from the configuration' }),
    ]);
    expect(await client.schedules.apply(specs)).toEqual({ night: 'resumed' });
    expect(await client.schedules.get('night')).toMatchObject({ paused: false });
    await expect(client.schedules.set('night', specs.night)).rejects.toMatchObject({ code: 'schedule-configured' });
  });

  it('end in one state when services apply them at once', async () => {
    const [one, other] = await Promise.all([service('twins'), service('twins')]);
    for (const cron of ['0 1 * * *', '0 2 * * *', '0 3 * * *']) {
      const specs = { night: { cron, start: closing() } };
      await Promise.all([one.schedules.apply(specs), other.schedules.apply(specs)]);
      expect(await one.schedules.get('night')).toMatchObject({ cron });
      expect(await other.schedules.apply(specs)).toEqual({ night: 'same' });
    }
  });
});

it('schedules of another tenant look like unknown schedules', async () => {
  const name = freshName();
  await bed.client.schedules.set(name, { ...newYear, start: closing() });
  const { schedules } = bed.client.forTenant('other');
  await eventually(async () => expect((await bed.client.schedules.list()).map((one) => one.name)).toContain(name));
  expect(await schedules.list()).toEqual([]);
  const unknown = { code: 'schedule-unknown', message: `There is no schedule "${name}".` };
  await expect(schedules.get(name)).rejects.toMatchObject(unknown);
  await expect(schedules.pause(name)).rejects.toMatchObject(unknown);
  await expect(schedules.delete(name)).rejects.toMatchObject(unknown);
  await bed.client.schedules.delete(name);
  await expect(bed.client.schedules.get(name)).rejects.toMatchObject(unknown);
});
