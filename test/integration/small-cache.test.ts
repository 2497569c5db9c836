import { asksAgain } from '../../contract/news';
import { names } from '../../contract/names';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, script, text } from '../support/test-bed';

const bed = sharedBed({ maxCachedRuns: 2 });
const refund = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
const model = bed.scripted(script(refund, refund, text('Done.')));

describe('runs that wait for answers, more than a worker may keep in memory', () => {
  it('answer a query, go on with each answer, and no workflow task fails', async () => {
    const runs = [];
    for (const _ of [1, 2, 3, 4]) {
      const run = await model.start('guarded', 'Refund.');
      expect(await run.outcome()).toMatchObject({ status: 'waiting' });
      runs.push(run);
    }
    for (const _ of ['first refund', 'second refund'])
      for (const run of runs) {
        const outcome = await run.outcome();
        if (outcome.status !== 'waiting') throw new Error(`${run.id} is ${outcome.status}.`);
        const [interrupt] = outcome.interrupts;
        expect(bed.worker.cachedRuns).toBeLessThanOrEqual(2);
        expect(await bed.temporal.handle(run.id).query(names.statusQuery)).toMatchObject({
          status: 'waiting',
          interrupts: [{ id: interrupt?.id }],
        });
        await run.approve(interrupt?.id ?? '');
      }
    for (const run of runs) {
      expect(await run.result()).toBe('Done.');
      const { events = [] } = await bed.temporal.handle(run.id).fetchHistory();
      expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
    }
  });

  it('refuse a query directly after the first new task of a loaded run, as it may bring events of another worker, and answer the next query', async () => {
    const [run, ...others] = await Promise.all([1, 2, 3].map(() => model.start('guarded', 'Refund.')));
    if (run === undefined) throw new Error('No run has begun.');
    const outcome = await run.outcome();
    if (outcome.status !== 'waiting') throw new Error(`${run.id} is ${outcome.status}.`);
    for (const other of others) {
      expect(await other.outcome()).toMatchObject({ status: 'waiting' });
      // Each query may be the first after the first new task of a run that was loaded again.
      const asked = (): Promise<unknown> => bed.temporal.handle(other.id).query(names.statusQuery);
      await asked().catch(asked);
    }
    const handle = bed.temporal.handle(run.id);
    await handle.signal('unheard');
    await eventually(async () => {
      const { events = [] } = await handle.fetchHistory();
      expect(events?.at(-1)?.workflowTaskCompletedEventAttributes).toBeTruthy();
    });
    const ask = (): Promise<unknown> => bed.temporal.handle(run.id).query(names.statusQuery);
    await expect(ask()).rejects.toThrow(asksAgain);
    expect(await ask()).toMatchObject({ status: 'waiting' });
  });

  it('may all be cancelled', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => model.start('guarded', 'Refund.')));
    for (const run of runs) expect(await run.outcome()).toMatchObject({ status: 'waiting' });
    await Promise.all(runs.map((run) => run.cancel()));
    for (const run of runs) expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
  });
});
