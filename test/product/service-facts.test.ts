import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '../../client/http/index';
import type { RunningService } from '../../service/http/start-service';
import { eventually } from '../support/eventually';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

let bed: ServiceBed;
let holdfast: ServiceClient;
let service: RunningService;
beforeAll(async () => {
  bed = await startServiceBed();
  service = await bed.another({
    prices: { 'demo/rules': { input: 1, output: 2 } },
    hosting: { server: 'embedded', hasWorker: true, project: () => bed.project.facts },
  });
  holdfast = new ServiceClient(service.url);
});
afterAll(async () => {
  await service.close();
  await bed.close();
});

const ended = async (id: string): Promise<void> => {
  for await (const event of holdfast.events(id)) if (event.type === 'run-end') break;
};
const waits = async (id: string): Promise<void> => {
  for await (const event of holdfast.events(id)) if (event.type === 'interrupt-start') break;
};
const refund = { agent: 'support', input: 'Refund order 42, it arrived broken' };

describe('a service', () => {
  it('says what it serves: agents with their tools, tools with their effects, models', async () => {
    const facts = await holdfast.service();
    const { tenant, taskQueue } = bed;
    expect(facts).toMatchObject({ namespace: 'default', taskQueue, tenant, hasWorker: true, problems: [] });
    expect(facts.agents.map(({ name, tools, isExported }) => ({ name, tools, isExported }))).toEqual([
      { name: 'orders', tools: ['lookupOrder'], isExported: true },
      { name: 'support', tools: ['lookupOrder', 'refund'], isExported: true },
    ]);
    expect(facts.tools).toContainEqual(expect.objectContaining({ name: 'refund', kind: 'worker', effect: 'idempotent' }));
    expect(facts.models).toContainEqual(expect.objectContaining({ name: 'default' }));
  });

  it('counts runs by their status, and what ended before a time not', async () => {
    await holdfast.start({ ...refund, id: 'counted-waiting' });
    await waits('counted-waiting');
    await holdfast.start({ agent: 'orders', input: { orderId: '42' }, id: 'counted-done' });
    await ended('counted-done');
    const seen = await eventually(async () => {
      // A new `since` per request avoids the cache.
      const counts = await bed.client.counts({ since: new Date(Date.now() - 3_600_000 - Math.random() * 1000) });
      return counts.waiting === 1 && counts.completed === 1 ? counts : undefined;
    });
    expect(seen).toMatchObject({ running: 0, idle: 0, failed: 0, cancelled: 0 });
    expect(await holdfast.counts({ since: '2h' })).toMatchObject({ waiting: 1 });
    expect((await holdfast.counts({ since: new Date(Date.now() + 60_000).toISOString() })).completed).toBe(0);
    await expect(holdfast.counts({ since: 'yesterday' })).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('finds runs by the beginning of their id', async () => {
    const found = await eventually(async () => {
      const { runs, total } = await holdfast.list({ id: 'counted-', total: true });
      return total === 2 ? runs : undefined;
    });
    expect(found.map(({ id }) => id).sort()).toEqual(['counted-done', 'counted-waiting']);
    expect((await holdfast.list({ id: 'counted-w' })).runs).toHaveLength(1);
    expect((await holdfast.list({ id: 'ounted' })).runs).toEqual([]);
    await expect(holdfast.list({ id: "x'" })).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(holdfast.list({ id: 'x', parent: 'counted-done' })).rejects.toMatchObject({ code: 'request-invalid' });
  });
});

describe('usage', () => {
  it('is that of the model calls of all runs, by agent, model and day, with their cost', async () => {
    const report = await eventually(async () => {
      const usage = await holdfast.usage({ by: 'agent', since: '1h' });
      return usage.rows.length === 2 && usage.left === 0 ? usage : undefined;
    });
    for (const id of ['support', 'orders']) {
      const runs = (await holdfast.list({ agent: id })).runs;
      const used = await Promise.all(runs.map(async (run) => (await holdfast.view(run.id)).usage));
      const row = report.rows.find(({ key }) => key === id);
      expect(row?.usage.inputTokens).toBe(used.reduce((sum, { inputTokens }) => sum + inputTokens, 0));
      expect(row?.usage.outputTokens).toBe(used.reduce((sum, { outputTokens }) => sum + outputTokens, 0));
    }
    expect(report.total.cost).toMatchObject({ complete: true, amount: expect.any(Number) });
    const byDay = await holdfast.usage({ by: 'day', since: '1h' });
    expect(byDay.rows.reduce((sum, { calls }) => sum + calls, 0)).toBe(report.total.calls);
    expect(byDay.rows[0]?.key).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect((await holdfast.usage({ by: 'model' })).rows.map(({ key }) => key)).toEqual(['demo/rules']);
    expect(await holdfast.usage({ since: '2020-01-01', until: '2020-01-02' })).toMatchObject({ rows: [], counted: 0, left: 0 });
    await expect(holdfast.usage({ since: '1h', until: '2h' })).rejects.toMatchObject({ code: 'request-invalid' });
  });
});

describe('many runs at once', () => {
  it('say in a dry run what would be refused, and nothing is changed', async () => {
    const ids = ['counted-waiting', 'counted-done', 'nobody'];
    const codes = (outcomes: readonly { readonly error?: { readonly code: string } }[]): readonly (string | undefined)[] =>
      outcomes.map(({ error }) => error?.code);
    expect(codes(await holdfast.cancelAll(ids, { dryRun: true }))).toEqual([undefined, 'run-ended', 'run-unknown']);
    expect(codes(await holdfast.retryAll(ids, { dryRun: true }))).toEqual(['run-not-failed', 'run-not-failed', 'run-unknown']);
    expect((await holdfast.retryAll(ids, { dryRun: true }))[0]?.error?.message).toContain('has not failed: it has not ended.');
    const upgrades = await holdfast.upgradeAll(ids, { dryRun: true });
    expect(codes(upgrades)).toEqual([undefined, 'run-ended', 'run-unknown']);
    expect(upgrades[0]).toMatchObject({ moved: false, build: expect.any(String) });
    expect((await holdfast.view('counted-waiting')).status).toBe('waiting');
  });

  it('move to the newest build, as the dry run has said, and builds say who drains', async () => {
    await holdfast.start({ ...refund, id: 'stays' });
    await waits('stays');
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-builds-'));
    const agents = join(folder, 'agents.ts');
    writeFileSync(agents, readFileSync(bed.project.agentsFile, 'utf8').replace('You tell customers', 'You always tell customers'));
    const { buildId } = await bed.deploy(agents);
    const builds = await eventually(async () => {
      const list = await holdfast.builds();
      return list.builds.some(({ state }) => state === 'draining') ? list.builds : undefined;
    });
    expect(builds[0]).toMatchObject({ id: buildId, isNewest: true, state: 'newest' });
    expect(builds[1]).toMatchObject({ isNewest: false, state: 'draining', openRuns: expect.any(Number) });
    const both = ['counted-waiting', 'counted-done'];
    expect(await holdfast.upgradeAll(both, { dryRun: true })).toMatchObject([
      { id: both[0], build: buildId, moved: true },
      { id: both[1], error: { code: 'run-ended' } },
    ]);
    expect(await holdfast.upgradeAll(both)).toMatchObject([
      { id: both[0], build: buildId, moved: true },
      { id: both[1], error: { code: 'run-ended' } },
    ]);
    await eventually(async () => ((await holdfast.view('counted-waiting')).build === buildId ? true : undefined));
    await holdfast.cancelAll(['counted-waiting', 'stays']);
  });
});
