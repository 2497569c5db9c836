import { randomUUID } from 'node:crypto';
import { ServiceClient } from '../../client/http/index';
import type { BatchResult, ShownBatch } from '../../contract/batches';
import type { BatchBed } from '../support/batch-bed';
import { startBatchBed } from '../support/batch-bed';
import { eventually } from '../support/eventually';
import { gate } from '../support/gate';
import { calls, text } from '../support/test-bed';

/** Inputs say what their runs come to. */
const held = gate();
let asked = 0;
let bed: BatchBed;
beforeAll(async () => {
  bed = await startBatchBed(async ({ messages }) => {
    asked += 1;
    const said = JSON.stringify(messages);
    if (said.includes('broken')) throw Object.assign(new Error('The model broke.'), { code: 'model-refused', retryable: false });
    if (said.includes('held')) await held.pass();
    if (said.includes('dear') && !said.includes('tool-result')) return calls({ name: 'refund', input: { orderId: '1', amount: 80 } });
    return text('done');
  });
});
afterAll(() => bed.close());

const linesOf = (inputs: readonly unknown[]) => inputs.map((input) => JSON.stringify(input)).join('\n');
const untilIt = (id: string, isSo: (batch: ShownBatch) => boolean): Promise<ShownBatch> =>
  eventually(async () => {
    const batch = await bed.service.batch(id);
    return isSo(batch) ? batch : undefined;
  });
const hasEnded = ({ status }: ShownBatch): boolean => status !== 'running';

async function resultsOf(id: string, status?: BatchResult['status']): Promise<readonly BatchResult[]> {
  const results: BatchResult[] = [];
  for await (const result of bed.service.batchResults(id, status === undefined ? {} : { status })) results.push(result);
  return results;
}

describe('a batch', () => {
  it('of 300 lines comes to one run and one result a line, with two services that leave', async () => {
    const id = `orders-${randomUUID()}`;
    const inputs = Array.from({ length: 300 }, (_, at) => (at % 100 === 50 ? `broken ${at}` : `order ${at}`));
    const before = asked;
    expect(await bed.service.startBatch({ agent: 'plain', id, concurrency: 10 }, linesOf(inputs))).toMatchObject({
      isNew: true,
      lines: 300,
    });
    for (const started of [60, 160]) {
      const queues = await bed.serve();
      await untilIt(id, (batch) => batch.started >= started);
      await queues.shutdown();
    }
    expect(await bed.service.batch(id)).toMatchObject({ status: 'running' });
    const queues = await bed.serve();
    const batch = await untilIt(id, hasEnded);
    await queues.shutdown();
    expect(batch).toMatchObject({ status: 'completed', started: 300, counts: { completed: 297, failed: 3, running: 0, refused: 0 } });
    const results = await resultsOf(id);
    expect(results.map(({ line }) => line)).toEqual(inputs.map((_, at) => at + 1));
    expect(new Set(results.map((result) => result.id)).size).toBe(300);
    expect(results.filter(({ status }) => status === 'failed').map(({ line }) => line)).toEqual([51, 151, 251]);
    expect(results[0]).toEqual({ line: 1, id: `${id}-000001`, status: 'completed', output: 'done' });
    expect(await resultsOf(id, 'failed')).toHaveLength(3);
    expect(asked - before).toBeGreaterThanOrEqual(300);
  });

  it('goes on while runs wait for people, and ends after the last answer', async () => {
    const queues = await bed.serve();
    const id = `refunds-${randomUUID()}`;
    const inputs = [...Array.from({ length: 4 }, () => 'dear'), ...Array.from({ length: 6 }, () => 'order')];
    await bed.service.startBatch({ agent: 'guarded', id, concurrency: 2, tag: ['night'] }, linesOf(inputs));
    await untilIt(id, ({ counts: { waiting, completed } }) => waiting === 4 && completed === 6);
    expect((await resultsOf(id)).map(({ status }) => status)).toEqual(inputs.map((input) => (input === 'dear' ? 'waiting' : 'completed')));
    const { runs } = await bed.service.list({ tag: ['night', `batch=${id}`], status: 'waiting' });
    for (const run of runs) await bed.service.answer(run.id, run.interrupts[0]?.id ?? '', { decision: 'approve', by: 'kim' });
    const batch = await untilIt(id, hasEnded);
    await queues.shutdown();
    expect(batch).toMatchObject({ status: 'completed', counts: { completed: 10, waiting: 0 } });
  });

  it('that is stopped starts nothing more, and cancels its open runs if asked, also without a service', async () => {
    const ids = [`stopped-${randomUUID()}`, `cancelled-${randomUUID()}`] as const;
    const queues = await bed.serve();
    for (const id of ids) {
      await bed.service.startBatch({ agent: 'plain', id, concurrency: 2 }, linesOf(Array.from({ length: 8 }, () => `held ${id}`)));
      await untilIt(id, ({ counts: { running } }) => running === 2);
    }
    await bed.service.stopBatch(ids[0]);
    await bed.service.stopBatch(ids[1], { cancelRuns: true });
    const [stopped, cancelled] = await Promise.all(ids.map((id) => untilIt(id, hasEnded)));
    expect(stopped).toMatchObject({ status: 'stopped', started: 2, counts: { running: 2 } });
    expect(cancelled).toMatchObject({ status: 'stopped', started: 2 });
    const states = async (id: string): Promise<readonly string[]> => (await resultsOf(id)).map(({ status }) => status);
    expect(await states(ids[0])).toEqual(['running', 'running', ...Array.from({ length: 6 }, () => 'pending')]);
    await eventually(async () => (await states(ids[1])).filter((status) => status === 'cancelled').length === 2 || undefined);
    await expect(bed.service.stopBatch(ids[0])).rejects.toMatchObject({ code: 'batch-ended' });
    await queues.shutdown();
    const unserved = `unserved-${randomUUID()}`;
    await bed.service.startBatch({ agent: 'plain', id: unserved }, '"order"');
    await bed.service.stopBatch(unserved);
    expect(await untilIt(unserved, hasEnded)).toMatchObject({ status: 'stopped', started: 0 });
    held.open();
  });

  it('names lines whose id belongs to another run, and finds runs of equal lines', async () => {
    const queues = await bed.serve();
    const taken = `taken-${randomUUID()}`;
    await bed.service.start({ agent: 'plain', input: 'first', id: taken });
    const id = `own-${randomUUID()}`;
    const lines = linesOf([{ input: 'second', id: taken }, { input: 'first', id: taken }, 'third']);
    await bed.service.startBatch({ agent: 'plain', id }, lines);
    expect(await untilIt(id, hasEnded)).toMatchObject({ status: 'completed', started: 2, counts: { completed: 2, refused: 1 } });
    await queues.shutdown();
    expect(await resultsOf(id)).toMatchObject([
      { line: 1, id: taken, status: 'refused', error: { code: 'run-id-in-use' } },
      { line: 2, id: taken, status: 'completed' },
      { line: 3, status: 'completed' },
    ]);
    expect(await bed.service.startBatch({ agent: 'plain', id }, lines)).toMatchObject({ isNew: false });
    await expect(bed.service.startBatch({ agent: 'plain', id }, '"fourth"')).rejects.toMatchObject({ code: 'batch-in-use' });
    const { batches } = await eventually(async () => {
      const page = await bed.service.batches();
      return page.batches.some((one) => one.id === id) ? page : undefined;
    });
    expect(batches.find((one) => one.id === id)).toMatchObject({ agent: 'plain', status: 'completed', lines: 3 });
    await expect(bed.service.batch('nothing')).rejects.toMatchObject({ code: 'batch-unknown' });
  });

  it('starts runs in the name of its caller, and is unknown to callers of another tenant', async () => {
    const service = await bed.withAccess();
    const id = `named-${randomUUID()}`;
    const [acme, other] = ['acme', 'other'].map((tenant) => new ServiceClient(service, { headers: { 'x-tenant': tenant } }));
    const queues = await bed.serve();
    await acme?.startBatch({ agent: 'plain', id }, '"order"');
    await eventually(async () => ((await acme?.batch(id))?.status === 'completed' ? true : undefined));
    await queues.shutdown();
    expect(await acme?.view(`${id}-000001`)).toMatchObject({ startedBy: 'ada', status: 'completed' });
    expect(await acme?.batch(id)).toMatchObject({ startedBy: 'ada' });
    const ask = [other?.batch(id), other?.stopBatch(id), other?.batchResults(id).next()];
    for (const answer of ask) await expect(answer).rejects.toMatchObject({ code: 'batch-unknown' });
    expect(await other?.batches()).toEqual({ batches: [] });
  });

  it('of a schedule has the lines of its time, and a schedule whose function throws goes on with the next time', async () => {
    const name = `s_${randomUUID().slice(0, 8)}`;
    let asked = 0;
    const lines = async () => {
      if (++asked === 1) throw new Error('The table is locked.');
      return [`order of night ${asked}`, { input: 'order', id: `${name}-own` }, 'order'];
    };
    const spec = {
      cron: '0 2 * * *',
      paused: true,
      overlap: 'buffer-all',
      batch: { agent: 'plain', lines, tags: [name], concurrency: 2 },
    } as const;
    bed.schedules[name] = spec;
    await bed.client.schedules.apply({ [name]: spec });
    const queues = await bed.serve();
    const range = { since: '2026-11-01T00:00:00Z', until: '2026-11-03T00:00:00Z' };
    expect(await bed.client.schedules.backfill(name, range)).toEqual({ times: 2 });
    const ids = [1, 2].map((day) => `${name}-2026-11-0${day}T02:00:00Z`);
    await eventually(async () => ((await bed.client.schedules.get(name)).runs.length === 2 ? true : undefined));
    expect(await bed.client.schedules.get(name)).toMatchObject({
      ...{ agent: 'plain', batch: { agent: 'plain', tags: [name], concurrency: 2 } },
      runs: [...ids].reverse().map((id) => ({ id })),
    });
    const [failed, completed] = await Promise.all(ids.map((id) => untilIt(id, hasEnded)));
    const error = { code: 'batch-lines-failed', message: `\`lines\` of the schedule "${name}" failed: The table is locked.` };
    expect(failed).toMatchObject({ id: ids[0], status: 'failed', started: 0, lines: 0, error });
    expect(completed).toMatchObject({ id: ids[1], status: 'completed', lines: 3, started: 3, startedBy: `schedule:${name}` });
    await eventually(async () => ((await bed.service.batch(ids[1] ?? '')).counts.completed === 3 ? true : undefined));
    expect(await resultsOf(ids[1] ?? '')).toMatchObject([{ id: `${ids[1]}-000001`, output: 'done' }, { id: `${name}-own` }, { line: 3 }]);
    expect(await bed.service.view(`${name}-own`)).toMatchObject({ startedBy: `schedule:${name}`, tags: expect.arrayContaining([name]) });
    expect(asked).toBe(2);
    await queues.shutdown();
    await expect(bed.client.schedules.set('x', spec as never)).rejects.toMatchObject({ code: 'schedule-invalid' });
  });

  it('of a schedule that is cancelled by the next time cancels its runs', async () => {
    const name = `c_${randomUUID().slice(0, 8)}`;
    const spec = {
      cron: '0 2 * * *',
      paused: true,
      overlap: 'cancel-other',
      batch: { agent: 'guarded', lines: () => ['dear', 'dear'] },
    } as const;
    bed.schedules[name] = spec;
    await bed.client.schedules.apply({ [name]: spec });
    const queues = await bed.serve();
    await bed.client.schedules.runNow(name);
    const id = await eventually(async () => (await bed.client.schedules.get(name)).runs[0]?.id);
    await untilIt(id, ({ counts: { waiting } }) => waiting === 2);
    await bed.client.schedules.runNow(name);
    expect(await untilIt(id, hasEnded)).toMatchObject({ status: 'stopped', started: 2 });
    expect((await resultsOf(id)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    const next = await eventually(async () => (await bed.client.schedules.get(name)).runs.find((run) => run.id !== id)?.id);
    await bed.service.stopBatch(next, { cancelRuns: true });
    await untilIt(next, hasEnded);
    await queues.shutdown();
  });

  it('whose runs wait for people leaves its place to other batches', async () => {
    const queues = await bed.serve();
    const waiting = Array.from({ length: 6 }, () => `waiting-${randomUUID()}`);
    for (const id of waiting) await bed.service.startBatch({ agent: 'guarded', id }, '"dear"');
    for (const id of waiting) await untilIt(id, ({ counts }) => counts.waiting === 1);
    const id = `beside-${randomUUID()}`;
    await bed.service.startBatch({ agent: 'plain', id }, '"order"');
    expect(await untilIt(id, hasEnded)).toMatchObject({ status: 'completed' });
    expect((await bed.service.batch(waiting[0] ?? '')).problem).toBeUndefined();
    for (const one of waiting) await bed.service.stopBatch(one, { cancelRuns: true });
    for (const one of waiting) expect(await untilIt(one, hasEnded)).toMatchObject({ status: 'stopped', started: 1 });
    await queues.shutdown();
  });

  it('whose lines the store lost says so, and waits for a service that has them', async () => {
    const id = `lost-${randomUUID()}`;
    await bed.service.startBatch({ agent: 'plain', id }, '"order"');
    const [key = ''] = (await bed.store.list('batch/')).slice(-1);
    const kept = await bed.store.get(key);
    await bed.store.delete(key);
    const queues = await bed.serve();
    expect((await untilIt(id, ({ problem }) => problem !== undefined)).problem?.code).toBe('batch-lines-missing');
    await expect(resultsOf(id)).rejects.toMatchObject({ code: 'batch-lines-missing' });
    const limited = {
      tenant: 'default',
      user: 'mal',
      roles: [],
      proof: 'identify',
      may: new Set(['runs:control'] as const),
      mayWith: () => true,
    };
    await expect(bed.client.as(limited).batches.stop(id, { cancelRuns: true })).rejects.toMatchObject({ code: 'action-forbidden' });
    await bed.store.set(key, kept ?? '');
    expect(await untilIt(id, hasEnded)).toMatchObject({ status: 'completed', counts: { completed: 1 } });
    await queues.shutdown();
  });
});
