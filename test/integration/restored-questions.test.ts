import { names } from '../../contract/names';
import type { RunEvent } from '../../contract/events';
import { SwitchedParts } from '../../worker/switched-parts';
import { gate } from '../support/gate';
import { errorOfReplay, renewed, startWithShortTasks } from '../support/short-tasks';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

let temporal: Temporal;
beforeAll(async () => {
  temporal = await openTemporal();
});
afterAll(() => temporal.close());

const refund = script(calls({ id: 'a', name: 'refund', input: { orderId: '42', amount: 80 } }), text('As you like.'));

it('a question ends with a run that is cancelled behind a continue-as-new before its code asks again, and the history replays', async () => {
  const prepared = gate();
  let isSlow = false;
  const { activitiesOf } = SwitchedParts.prototype;
  const slowly = jest.spyOn(SwitchedParts.prototype, 'activitiesOf').mockImplementation(function (this: SwitchedParts, buildId) {
    const { prepareRun, ...activities } = activitiesOf.call(this, buildId);
    return { ...activities, prepareRun: async (...request) => (isSlow && (await prepared.pass()), prepareRun(...request)) };
  });
  const bed = await startTestBed(refund);
  slowly.mockRestore();
  try {
    const cancels = {
      signal: (id: string) => temporal.handle(id).signal(names.cancelSignal, {}),
      server: (id: string) => temporal.handle(id).cancel(),
    };
    const ids = await Promise.all(Object.keys(cancels).map((how) => startWithShortTasks(temporal, how, bed, 'guarded')));
    await Promise.all(ids.map((id) => bed.client.run(id).outcome({ timeout: '30s' })));
    isSlow = true;
    const firsts = await Promise.all(ids.map((id) => temporal.executionOf(id)));
    await Promise.all(ids.map((id) => temporal.handle(id).signal(names.continueAsNewSignal)));
    await Promise.all(ids.map((id, n) => temporal.untilAnotherExecution(id, firsts[n] ?? '')));
    await Promise.all(ids.map((id) => renewed(temporal, id)));
    await Promise.all(Object.values(cancels).map((cancel, n) => cancel(ids[n] ?? '')));
    await Promise.all(ids.map((id) => renewed(temporal, id)));
    prepared.open();
    for (const id of ids) {
      const run = bed.client.run(id);
      // The question is shown until the run has been prepared.
      await eventually(async () => expect((await run.outcome({ timeout: '30s' })).status).not.toBe('waiting'));
      expect(await run.outcome({ timeout: '30s' })).toEqual({ status: 'cancelled' });
      const log: RunEvent[] = [];
      for await (const event of run.events({ deltas: false })) log.push(event);
      expect(log.flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : []))).toEqual(['cancel']);
      expect(await errorOfReplay(temporal, id, await temporal.executionOf(id), 'requests')).toBeUndefined();
      await run.resume();
      expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'waiting', interrupts: [{ kind: 'approval' }] });
    }
  } finally {
    await bed.close();
  }
});
