import type { Run } from '../../client/run';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import { aroundPages } from '../support/around-pages';
import { gate } from '../support/gate';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

const refund = (orderId: string): { name: string; input: { orderId: string; amount: number } } => ({
  name: 'refund',
  input: { orderId, amount: 80 },
});

async function all(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const list: RunEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

describe('an interrupt that was answered', () => {
  let bed: TestBed;
  let temporal: Temporal;
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(script(calls(refund('1'), refund('2')), text('Done.')));
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const endsIn = (log: readonly RunEvent[]): readonly string[] =>
    log.flatMap((event) => (event.type === 'interrupt-end' ? [event.interruptId] : []));

  it('is open for no reader that comes after the answer, also right after a continue-as-new and where others read what is older', async () => {
    const run: Run = await bed.client.start('guarded', 'Go.');
    await run.outcome();
    const [first = '', second = ''] = (await run.interrupts()).map(({ id }) => id);
    const slow = gate();
    let slowed = false;
    const stop = aroundPages(bed.client, async (request, ask) => {
      const page = await ask(request);
      if (request.waitNewEvent && slowed) await slow.pass();
      return page;
    });
    const leave = new AbortController();
    const follower = run.events({ deltas: false, signal: leave.signal });
    await follower.next();
    // What followers are told from now on comes late.
    slowed = true;
    const before = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, before);
    await run.approve(first);
    expect((await run.interrupts()).map(({ id }) => id)).toEqual([second]);
    const reading = all(run.events({ until: 'waiting', deltas: false }));
    const outcome = run.outcome();
    await slow.reached;
    slow.open();
    expect(endsIn(await reading)).toEqual([first]);
    expect(await outcome).toMatchObject({ status: 'waiting', interrupts: [{ id: second }] });
    leave.abort();
    stop();
    await run.approve(second);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });
});
