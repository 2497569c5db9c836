import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { temporal as temporalProtocol } from '@temporalio/proto';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { RunReader } from '../../client/reading/run-reader';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, script, testServer, text } from '../support/test-bed';

const { EventType } = temporalProtocol.api.enums.v1;
const refund = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
const refundThenDone = script(refund, text('Done.'));

const bed = sharedBed();

const code = (answering: Promise<unknown>): Promise<unknown> =>
  answering.then(
    () => 'was taken',
    (error: unknown) => codeOf(error) ?? error,
  );

async function impatientClient(meanwhile: (send: () => Promise<unknown>) => Promise<unknown>): Promise<HoldfastClient> {
  const client = await connect({ server: testServer(), taskQueue: bed.taskQueue });
  const { reader } = client as unknown as { readonly reader: RunReader };
  reader.withDeadline = async (_, send) => {
    await meanwhile(send);
    throw new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded');
  };
  return client;
}

describe('an answer of which nothing was heard in time', () => {
  const once = bed.scripted(refundThenDone);
  const twice = bed.scripted(script(refund, refund, text('Done.')));
  afterEach(() => bed.startWorker());

  const waiting = async (model = once): Promise<{ readonly run: Run; readonly id: string }> => {
    const run = await model.start('guarded', 'Refund.');
    await run.outcome();
    return { run, id: (await run.interrupts())[0]?.id ?? '' };
  };

  it('was taken when the run took it, also when the run has ended since', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(async (send) => {
      await send();
      await run.result();
    });
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('was taken when the run has gone on as new since', async () => {
    const { run, id } = await waiting(twice);
    const client = await impatientClient(async (send) => {
      await send();
      await run.outcome();
      await bed.temporal.goOnAsNew(run.id);
    });
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
  });

  it('was not taken when somebody else was quicker', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(() => run.reject(id));
    expect(await code(client.run(run.id).approve(id))).toBe('interrupt-answered');
    await client.close();
  });

  it('was not taken when the run accepted it, and another answer made its question void', async () => {
    const run = await bed.scripted(script(text('Done.'))).start('chooses', 'Go.');
    await eventually(async () => expect(await run.interrupts()).toHaveLength(2));
    const [left, right] = (await run.interrupts()).map(({ id }) => id);
    await bed.stopWorker();
    await bed.temporal.handle(run.id).signal(names.answerSignal, { interruptId: left, answer: 'yes' });
    const client = await impatientClient(async (send) => {
      const sent = send().catch(() => undefined);
      await bed.startWorker();
      await sent;
    });
    expect(await code(client.run(run.id).resume(right ?? '', 'yes'))).toBe('interrupt-withdrawn');
    await client.close();
  });

  it('is left for the run when nobody took it', async () => {
    const { run, id } = await waiting();
    const client = await impatientClient(async () => undefined);
    expect(await code(client.run(run.id).approve(id))).toBe('was taken');
    await client.close();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });
});

interface Asked {
  readonly run: Run;
  readonly interrupt: Interrupt;
}

describe('an answer while no worker runs', () => {
  const approve = { type: 'approve' };
  const model = bed.scripted((request) =>
    request.instructions === 'You are expiringApartAsks.' ? text('Done.') : refundThenDone(request),
  );
  const asked = new Map<string, Asked>();
  let late: Readonly<Record<string, unknown>> = {};

  const of = (name: string): Asked => asked.get(name) as Asked;
  const signal = (name: string, answer: unknown, given: { readonly at?: number | undefined } = { at: Date.now() }): Promise<void> => {
    const { run, interrupt } = of(name);
    return bed.temporal.handle(run.id).signal(names.answerSignal, { interruptId: interrupt.id, answer, delivery: name, ...given });
  };
  const log = (name: string): Promise<readonly RunEvent[]> => logOf(of(name).run);
  const ends = async (name: string): Promise<unknown> =>
    (await log(name)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));
  const said = async (name: string): Promise<unknown> => (await of(name).run.transcript({ shape: 'chat' })).map(({ content }) => content);
  const untilOver = async (workflowId: string): Promise<void> => {
    for (;;) {
      const { history } = await bed.temporal.connection.workflowService.getWorkflowExecutionHistory({
        namespace: 'default',
        execution: { workflowId },
      });
      if (history?.events?.some(({ eventType }) => eventType === EventType.EVENT_TYPE_TIMER_FIRED)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  beforeAll(async () => {
    const agents = {
      late: 'expiring',
      lateInto: 'expiringInto',
      inTime: 'expiring',
      inTimeUnsaid: 'expiring',
      ahead: 'expiring',
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
        const run = await model.start(agent, 'Hi');
        await run.outcome();
        asked.set(name, { run, interrupt: (await run.interrupts())[0] as Interrupt });
      }),
    );
    await bed.stopWorker();
    // In time by the server's clock.
    await signal('inTime', approve);
    await signal('both', approve);
    await signal('inTimeUnsaid', approve, { at: undefined });
    await signal('ahead', approve, { at: Date.now() + 3_600_000 });
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
    // The server keeps the update of an answer that the client refused.
    late = { ...late, again: await code(of('lateForSleep').run.resume(of('lateForSleep').interrupt.id, 'another one')) };
    // Only the run judges signals, because no client checks them.
    await signal('late', approve);
    await signal('apart', 'a signal, late');
    await bed.startWorker();
    for (const { run } of asked.values()) await run.result().catch(() => undefined);
  });
  afterAll(() => bed.startWorker());

  it('is interrupt-expired behind the deadline, and what the rule says happens', async () => {
    expect(late).toMatchObject({ late: 'interrupt-expired', lateInto: 'interrupt-expired' });
    expect(await ends('late')).toMatchObject([['deadline', { type: 'reject' }]]);
    expect(await ends('lateInto')).toMatchObject([['deadline', { type: 'approve' }]]);
    expect((await log('late')).filter(({ type }) => type === 'tool-start' || type === 'resume-ignored')).toMatchObject([
      { type: 'resume-ignored', code: 'interrupt-expired' },
    ]);
  });

  it('counts when it was given in time, and another one behind the deadline does not', async () => {
    expect(late['both']).toBe('interrupt-expired');
    for (const name of ['inTime', 'both']) expect(await ends(name)).toMatchObject([['answer', approve]]);
  });

  it('counts when a worker looks, where it does not say when it was given, or says a time that has not come', async () => {
    for (const name of ['inTimeUnsaid', 'ahead']) expect(await ends(name)).toMatchObject([['deadline', { type: 'reject' }]]);
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
      const events = await logOf(bed.client.run(`${of(name).run.id}~expiringApartAsks`));
      expect(events.flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual([heard]);
    }
  });

  it('is run-ended when the run was cancelled', async () => {
    expect(late).toMatchObject({ cancelled: 'run-ended', cancelledFirst: 'run-ended' });
    for (const name of ['cancelled', 'cancelledFirst']) {
      expect(await of(name).run.outcome()).toEqual({ status: 'cancelled' });
      expect(await code(of(name).run.approve(of(name).interrupt.id))).toBe('run-ended');
      expect((await log(name)).filter(({ type }) => type === 'tool-start')).toEqual([]);
    }
  });
});
