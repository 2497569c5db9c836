import { calls, script, startTestBed, text } from '../support/test-bed';
import type { TestBed } from '../support/test-bed';

describe('a run on a real server', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.')));
  });
  afterAll(() => bed.close());

  it('stops at the approval, takes the decision and ends', async () => {
    const run = await bed.client.start('guarded', 'Refund order 42');
    const waiting = await run.outcome();
    if (waiting.status !== 'waiting') throw new Error(waiting.status);
    const [interrupt] = waiting.interrupts;
    expect(interrupt).toMatchObject({ kind: 'approval', tool: 'refund', input: { orderId: '42', amount: 80 } });
    await run.approve(interrupt?.id ?? '', { by: 'ada' });
    expect(await run.outcome()).toEqual({ status: 'completed', output: 'Done.', text: 'Done.' });
  });
});
