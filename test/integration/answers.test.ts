import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { names } from '../../contract/names';
import { aroundPages } from '../support/around-pages';
import { gate } from '../support/gate';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const bed = sharedBed();
afterEach(() => bed.startWorker());

interface Asked {
  readonly run: Run;
  readonly ids: readonly string[];
}

describe.each(['chooses', 'choosesApart'])('answers to %s that come to a worker at once', (agent) => {
  const model = bed.scripted(script(text('Done.')));

  const asked = async (): Promise<Asked> => {
    const run = await model.start(agent, 'Go.');
    let ids: readonly string[] = [];
    while (ids.length < 2) {
      await run.outcome();
      ids = (await run.interrupts()).map(({ id }) => id);
    }
    return { run, ids };
  };
  const endsOf = async (run: Run): Promise<readonly unknown[]> =>
    (await logOf(run)).flatMap((event) => {
      if (event.type === 'interrupt-end') return [[event.interruptId, event.reason]];
      return event.type === 'resume-ignored' ? [[event.interruptId, event.code]] : [];
    });

  it('are taken one after another: one that is void by then is refused, and no log says that it was taken', async () => {
    const [signalled, updated] = [await asked(), await asked()];
    await bed.stopWorker();
    for (const interruptId of signalled.ids)
      await bed.temporal.handle(signalled.run.id).signal(names.answerSignal, { interruptId, answer: 'yes', delivery: interruptId });
    const updates = updated.ids.map((interruptId) =>
      bed.temporal
        .handle(updated.run.id)
        .executeUpdate(names.answerUpdate, { args: [{ interruptId, answer: 'yes', delivery: interruptId }] }),
    );
    await bed.startWorker();
    const settled = await Promise.allSettled(updates);
    const [taken, refused] = settled[0]?.status === 'fulfilled' ? updated.ids : [...updated.ids].reverse();
    const [first, second] = signalled.ids;
    expect(settled.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { cause: { type: 'interrupt-withdrawn' } } }]);
    expect(await endsOf(bed.client.run(updated.run.id))).toEqual([
      [taken, 'answer'],
      [refused, 'cancel'],
    ]);
    expect(await endsOf(bed.client.run(signalled.run.id))).toEqual([
      [first, 'answer'],
      [second, 'cancel'],
      [second, 'interrupt-withdrawn'],
    ]);
    if (agent === 'choosesApart')
      expect((await endsOf(bed.client.run(`${signalled.run.id}~chooses`))).map((end) => (end as readonly unknown[])[1])).toEqual([
        'answer',
        'cancel',
      ]);
  });

  it('are told of as they are taken, one after another, while a worker runs', async () => {
    const { run, ids } = await asked();
    const codes = await Promise.all(ids.map((id) => run.resume(id, 'yes').then(() => 'taken', codeOf)));
    expect([...codes].sort()).toEqual(['interrupt-withdrawn', 'taken']);
    const [taken, refused] = codes[0] === 'taken' ? ids : [...ids].reverse();
    expect(await endsOf(run)).toEqual([
      [taken, 'answer'],
      [refused, 'cancel'],
    ]);
  });
});

describe('an answer that meets a continue-as-new', () => {
  const callsOfARun = 24;
  const atOnce = 6;
  const runsAtOnce = 3;
  const refunds = Array.from({ length: callsOfARun }, (_, amount) => ({
    id: `refund-${amount}`,
    name: 'refund',
    input: { orderId: String(amount), amount: 100 + amount },
  }));
  const model = bed.scripted(script(calls(...refunds), text('Done.')));

  const answered = async (run: Run): Promise<readonly unknown[]> => {
    await run.outcome();
    const ids = (await run.interrupts()).map(({ id }) => id);
    const problems: unknown[] = [];
    let answering = true;
    const borders = (async () => {
      while (answering) {
        const before = await bed.temporal.executionOf(run.id);
        await bed.temporal.handle(run.id).signal(names.continueAsNewSignal);
        while (answering && (await bed.temporal.executionOf(run.id)) === before) await Promise.resolve();
      }
    })().catch(() => undefined);
    // A signal just before a continue-as-new fails the workflow task, and the answers in the task with it.
    const disturbance = (async () => {
      while (answering) await bed.temporal.handle(run.id).signal(names.answerSignal, { interruptId: 'none', answer: 1 });
    })().catch(() => undefined);
    const answerer = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift())
        await run
          .approve(id)
          .catch((error: unknown) => problems.push([codeOf(error), String((error as { cause?: unknown }).cause ?? error)]));
    };
    await Promise.all(Array.from({ length: atOnce }, answerer));
    answering = false;
    await disturbance;
    await borders;
    return problems;
  };

  it('is taken, and whoever gave it hears that it was', async () => {
    const runs = await Promise.all(Array.from({ length: runsAtOnce }, () => model.start('guarded', 'hello')));
    const problems = await Promise.all(runs.map(answered));
    expect(problems.flat()).toEqual([]);
    for (const run of runs) expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });
});

describe('an interrupt that was answered', () => {
  const refund = (orderId: string) => ({ name: 'refund', input: { orderId, amount: 80 } });
  const model = bed.scripted(script(calls(refund('1'), refund('2')), text('Done.')));

  const endsIn = (log: readonly RunEvent[]): readonly string[] =>
    log.flatMap((event) => (event.type === 'interrupt-end' ? [event.interruptId] : []));

  it('is open for no reader that comes after the answer, also right after a continue-as-new and where others read what is older', async () => {
    const run: Run = await model.start('guarded', 'Go.');
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
    slowed = true;
    await bed.temporal.goOnAsNew(run.id);
    await run.approve(first);
    expect((await run.interrupts()).map(({ id }) => id)).toEqual([second]);
    const reading = logOf(run, { until: 'waiting' });
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
