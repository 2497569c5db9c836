import type { Run } from '../../../client/run';
import { codeOf } from '../../../contract/errors';
import type { RunEvent } from '../../../contract/events';
import { names } from '../../../contract/names';
import type { Temporal } from '../../support/temporal';
import { openTemporal } from '../../support/temporal';
import type { TestBed } from '../../support/test-bed';
import { script, startTestBed, text } from '../../support/test-bed';

const answerer = script(text('Done.'));

interface Asked {
  readonly run: Run;
  readonly ids: readonly string[];
}

describe.each(['chooses', 'choosesApart'])('[check 4] answers to %s that come to a worker at once', (agent) => {
  let temporal: Temporal;
  const beds: TestBed[] = [];
  const open = async (taskQueue?: string): Promise<TestBed> => {
    const bed = await startTestBed(answerer, taskQueue === undefined ? {} : { taskQueue });
    beds.push(bed);
    return bed;
  };
  beforeAll(async () => {
    temporal = await openTemporal();
  });
  afterEach(async () => {
    for (const bed of beds.splice(0)) await bed.close();
  });
  afterAll(() => temporal.close());

  const asked = async (bed: TestBed): Promise<Asked> => {
    const run = await bed.client.start(agent, 'Go.');
    let ids: readonly string[] = [];
    while (ids.length < 2) {
      await run.outcome({ timeout: '30s' });
      ids = (await run.interrupts()).map(({ id }) => id);
    }
    return { run, ids };
  };
  const log = async (run: Run): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const event of run.events({ deltas: false })) events.push(event);
    return events;
  };
  /** Of the log: how its questions ended, and which answers came to nothing. */
  const endsOf = async (run: Run): Promise<readonly unknown[]> =>
    (await log(run)).flatMap((event) => {
      if (event.type === 'interrupt-end') return [[event.interruptId, event.reason]];
      return event.type === 'resume-ignored' ? [[event.interruptId, event.code]] : [];
    });

  it('are taken one after another: one that is void by then is refused, and no log says that it was taken', async () => {
    const bed = await open();
    const [signalled, updated] = [await asked(bed), await asked(bed)];
    await beds.pop()?.close();
    for (const interruptId of signalled.ids)
      await temporal.handle(signalled.run.id).signal(names.resumeSignal, { interruptId, answer: 'yes', delivery: interruptId });
    const updates = updated.ids.map((interruptId) =>
      temporal.handle(updated.run.id).executeUpdate(names.resumeUpdate, { args: [{ interruptId, answer: 'yes', delivery: interruptId }] }),
    );
    const { client } = await open(bed.taskQueue);
    const settled = await Promise.allSettled(updates);
    const [taken, refused] = settled[0]?.status === 'fulfilled' ? updated.ids : [...updated.ids].reverse();
    const [first, second] = signalled.ids;
    expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { cause: { type: 'interrupt-withdrawn' } } }]);
    expect(await endsOf(client.run(updated.run.id))).toEqual([
      [taken, 'answer'],
      [refused, 'cancel'],
    ]);
    expect(await endsOf(client.run(signalled.run.id))).toEqual([
      [first, 'answer'],
      [second, 'cancel'],
      [second, 'interrupt-withdrawn'],
    ]);
    if (agent === 'choosesApart')
      expect((await endsOf(client.run(`${signalled.run.id}~chooses`))).map((end) => (end as readonly unknown[])[1])).toEqual([
        'answer',
        'cancel',
      ]);
  });

  it('are told of as they are taken, one after another, while a worker runs', async () => {
    const { run, ids } = await asked(await open());
    const codes = await Promise.all(ids.map((id) => run.resume(id, 'yes').then(() => 'taken', codeOf)));
    expect([...codes].sort()).toEqual(['interrupt-withdrawn', 'taken']);
    const [taken, refused] = codes[0] === 'taken' ? ids : [...ids].reverse();
    expect(await endsOf(run)).toEqual([
      [taken, 'answer'],
      [refused, 'cancel'],
    ]);
  });
});
