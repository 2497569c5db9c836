import { join } from 'node:path';
import { names } from '../../../contract/names';
import type { Temporal } from '../../support/temporal';
import { openTemporal } from '../../support/temporal';
import type { TestBed } from '../../support/test-bed';
import { calls, script, startTestBed, text } from '../../support/test-bed';

describe('[check 4] races on a server', () => {
  let temporal: Temporal;
  let bed: TestBed;
  beforeAll(async () => {
    temporal = await openTemporal();
    const refunds = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
    bed = await startTestBed((request) => (request.instructions.includes('approvedInTime') ? refunds(request) : text('Done.')), {
      agents: join(__dirname, '..', '..', 'fixtures', 'racing-agents.ts'),
    });
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  it('end a run whose losing branch catches what it is told and goes on', async () => {
    const run = await bed.client.start('polling', 'Hi');
    await run.outcome();
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('bind a call to an approval that was given in a branch, also behind a continue-as-new', async () => {
    const run = await bed.client.start('approvedInTime', 'Hi');
    await run.outcome();
    await run.approve((await run.interrupts())[0]?.id ?? '');
    await run.outcome();
    const before = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    await run.resume((await run.interrupts())[0]?.id ?? '', 1);
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: expect.stringContaining('changed its arguments') },
    });
  });
});
