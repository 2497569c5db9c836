import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../../client/connect';
import { connect } from '../../../client/connect';
import type { Run } from '../../../client/run';
import { codeOf } from '../../../contract/errors';
import type { RunEvent } from '../../../contract/events';
import type { Interrupt } from '../../../contract/interrupts';
import { names } from '../../../contract/names';
import type { Temporal } from '../../support/temporal';
import { openTemporal } from '../../support/temporal';
import type { Answerer } from '../../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../../support/test-bed';

const refunds = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const refundThenDone: Answerer = (request) => (request.instructions === 'You are expiringApartAsks.' ? text('Done.') : refunds(request));
const approve = { type: 'approve' };
const { EventType } = temporalProtocol.api.enums.v1;

interface Asked {
  readonly run: Run;
  readonly interrupt: Interrupt;
}

describe('[check 1] an answer while no worker runs', () => {
  let temporal: Temporal;
  let client: HoldfastClient;
  const asked = new Map<string, Asked>();
  let late: Readonly<Record<string, unknown>> = {};

  const code = (answering: Promise<unknown>): Promise<unknown> =>
    answering.then(
      () => 'was taken',
      (error: unknown) => codeOf(error) ?? error,
    );
  const of = (name: string): Asked => asked.get(name) as Asked;
  const signal = (name: string, answer: unknown, id = of(name).interrupt.id): Promise<void> =>
    temporal.handle(of(name).run.id).signal(names.resumeSignal, { interruptId: id, answer, delivery: `${name}/${id}` });
  const log = async (name: string): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const event of of(name).run.events({ deltas: false })) events.push(event);
    return events;
  };
  const ends = async (name: string): Promise<unknown> =>
    (await log(name)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));
  const said = async (name: string): Promise<unknown> => (await of(name).run.transcript({ shape: 'chat' })).map(({ content }) => content);
  /** Waits until the server has said of all runs that as many timers are over. */
  const untilOver = async (workflowId: string): Promise<void> => {
    for (;;) {
      const { history } = await temporal.connection.workflowService.getWorkflowExecutionHistory({
        namespace: 'default',
        execution: { workflowId },
      });
      if (history?.events?.some(({ eventType }) => eventType === EventType.EVENT_TYPE_TIMER_FIRED)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  beforeAll(async () => {
    temporal = await openTemporal();
    const bed = await startTestBed(refundThenDone);
    const { taskQueue } = bed;
    client = await connect({ server: testServer(), taskQueue });
    const agents = {
      late: 'expiring',
      lateInto: 'expiringInto',
      inTime: 'expiring',
      both: 'expiring',
      stages: 'escalating',
      stagesInTime: 'escalating',
      lateForSleep: 'sleeping',
      beforeSleep: 'sleeping',
      apart: 'expiringApart',
      apartInTime: 'expiringApart',
      cancelled: 'expiring',
      cancelledFirst: 'guarded',
    };
    await Promise.all(
      Object.entries(agents).map(async ([name, agent]) => {
        const run = await client.start(agent, 'Hi');
        await run.outcome({ timeout: '30s' });
        asked.set(name, { run, interrupt: (await run.interrupts())[0] as Interrupt });
      }),
    );
    await bed.close();
    // In time, as far as the server is concerned.
    await signal('inTime', approve);
    await signal('both', approve);
    await signal('beforeSleep', 'yes');
    await signal('apartInTime', 'yes');
    await signal('stagesInTime', 'yes');
    await of('cancelledFirst').run.cancel();
    await Promise.all(
      [...asked].flatMap(([name, { run }]) => {
        if (name === 'cancelledFirst') return [];
        return [untilOver(name.startsWith('apart') ? `default/${run.id}~expiringApartAsks` : `default/${run.id}`)];
      }),
    );
    await of('cancelled').run.cancel();
    const answering = async (name: string, answer: (one: Asked) => Promise<unknown>): Promise<unknown> => code(answer(of(name)));
    const approving = ({ run, interrupt }: Asked): Promise<void> => run.approve(interrupt.id);
    const saying = ({ run, interrupt }: Asked): Promise<void> => run.resume(interrupt.id, 'too late');
    const answers = {
      late: answering('late', approving),
      lateInto: answering('lateInto', ({ run, interrupt }) => run.reject(interrupt.id)),
      both: answering('both', ({ run, interrupt }) => run.reject(interrupt.id)),
      stages: answering('stages', saying),
      lateForSleep: answering('lateForSleep', ({ run, interrupt }) => run.resume(interrupt.id, 'late, and it counts')),
      apart: answering('apart', saying),
      cancelled: answering('cancelled', approving),
      cancelledFirst: answering('cancelledFirst', approving),
    };
    late = Object.fromEntries(await Promise.all(Object.entries(answers).map(async ([name, answer]) => [name, await answer])));
    // The server keeps the update of an answer that the client refuses in the end.
    late = { ...late, again: await code(of('lateForSleep').run.resume(of('lateForSleep').interrupt.id, 'another one')) };
    // What comes by another way than the client is judged by the run alone.
    await signal('late', approve);
    await signal('apart', 'a signal, late');
    const again = await startTestBed(refundThenDone, { taskQueue });
    // To their ends: a stage that comes next waits for a moment, too.
    for (const { run } of asked.values()) await run.result().catch(() => undefined);
    await again.close();
  }, 120_000);
  afterAll(async () => {
    await client.close();
    await temporal.close();
  });

  it('is interrupt-expired behind the deadline, and what the rule says happens', async () => {
    expect(late).toMatchObject({ late: 'interrupt-expired', lateInto: 'interrupt-expired' });
    expect(await ends('late')).toMatchObject([['deadline', { type: 'reject' }]]);
    expect(await ends('lateInto')).toMatchObject([['deadline', { type: 'approve' }]]);
    expect((await log('late')).filter(({ type }) => type === 'tool-start' || type === 'resume-ignored')).toMatchObject([
      { type: 'resume-ignored', code: 'interrupt-expired' },
    ]);
  });

  it('counts when the server took it in time, and another one behind the deadline does not', async () => {
    expect(late['both']).toBe('interrupt-expired');
    for (const name of ['inTime', 'both']) expect(await ends(name)).toMatchObject([['answer', approve]]);
  });

  it('finds stages that have passed one after another in their order', async () => {
    expect(late['stages']).toBe('interrupt-expired');
    const all = [
      ['deadline', 'no clerk'],
      ['deadline', 'no lead'],
      ['deadline', 'no director'],
    ];
    expect(await ends('stages')).toEqual(all);
    expect(await ends('stagesInTime')).toEqual([['answer', 'yes'], ...all.slice(1)]);
  });

  it('comes before the end of a sleep that was over later, and behind one that was over before', async () => {
    expect(late['lateForSleep']).toBe('was taken');
    expect(JSON.stringify(await said('lateForSleep'))).toContain('["sleep","answer"]');
    expect(JSON.stringify(await said('beforeSleep'))).toContain('["answer","sleep"]');
  });

  it('leaves nothing in the log when whoever gave it heard that it is refused', async () => {
    expect(late['again']).toBe('interrupt-answered');
    expect((await log('lateForSleep')).filter(({ type }) => type === 'resume-ignored')).toEqual([]);
  });

  it('to an isolated agent counts from when the run took it that somebody started', async () => {
    expect(late['apart']).toBe('interrupt-expired');
    expect(await ends('apart')).toEqual([['deadline', 'nobody']]);
    expect(await ends('apartInTime')).toEqual([['answer', 'yes']]);
    for (const [name, heard] of [
      ['apart', 'nobody'],
      ['apartInTime', 'yes'],
    ] as const) {
      const events: RunEvent[] = [];
      for await (const event of client.run(`${of(name).run.id}~expiringApartAsks`).events({ deltas: false })) events.push(event);
      expect(events.flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual([heard]);
    }
  });

  it('[check 12] is run-ended when the run was cancelled', async () => {
    expect(late).toMatchObject({ cancelled: 'run-ended', cancelledFirst: 'run-ended' });
    for (const name of ['cancelled', 'cancelledFirst']) {
      expect(await of(name).run.outcome()).toEqual({ status: 'cancelled' });
      expect(await code(of(name).run.approve(of(name).interrupt.id))).toBe('run-ended');
      expect((await log(name)).filter(({ type }) => type === 'tool-start')).toEqual([]);
    }
  });
});
