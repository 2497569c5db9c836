import { names } from '../../contract/names';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

let temporal: Temporal;
let bed: TestBed;
beforeAll(async () => {
  temporal = await openTemporal();
  const refund = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
  bed = await startTestBed(script(refund, refund, text('Done.')), { idleRunMs: 200 });
});
afterAll(async () => {
  await bed.close();
  await temporal.close();
});

/** Waits until the worker has so many runs in memory. */
async function cached(count: number): Promise<void> {
  while (bed.worker.cachedRuns !== count) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a run that waits for an answer', () => {
  it('leaves the memory of its worker, answers a query, and goes on with each answer; its history has nothing of that', async () => {
    const run = await bed.client.start('guarded', 'Refund.');
    for (const round of [1, 2]) {
      const outcome = await run.outcome();
      if (outcome.status !== 'waiting') throw new Error(`Round ${round}: ${outcome.status}`);
      const [interrupt] = outcome.interrupts;
      await cached(0);
      const answer = await temporal.handle(run.id).query(names.statusQuery);
      expect(answer).toMatchObject({ status: 'waiting', interrupts: [{ id: interrupt?.id }] });
      await cached(0);
      await run.approve(interrupt?.id ?? '');
    }
    expect(await run.result()).toBe('Done.');
    const { events = [] } = await temporal.handle(run.id).fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes)).toEqual([]);
  });

  it('may be cancelled there, and others with it', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => bed.client.start('guarded', 'Refund.')));
    for (const run of runs) expect(await run.outcome()).toMatchObject({ status: 'waiting' });
    await cached(0);
    await Promise.all(runs.map((run) => run.cancel()));
    for (const run of runs) expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
  });
});
