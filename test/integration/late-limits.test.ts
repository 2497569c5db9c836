import { randomUUID } from 'node:crypto';
import { temporal as temporalProtocol } from '@temporalio/proto';
import type { Run } from '../../client/runs/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { text } from '../support/test-bed';

const { EVENT_TYPE_TIMER_FIRED } = temporalProtocol.api.enums.v1.EventType;
const { WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE } = temporalProtocol.api.enums.v1.WorkflowIdReusePolicy;
const aDayMs = 24 * 60 * 60 * 1000;

const bed = sharedBed();
const model = bed.scripted(() => text('Done.'));

async function heardIn(id: string): Promise<readonly unknown[]> {
  return (await logOf(bed.client.run(id))).flatMap((event) => (event.type === 'custom' && event.name === 'heard' ? [event.data] : []));
}

interface Asked {
  readonly run: Run;
  readonly interrupt: Interrupt;
  readonly asker: string;
}

const agents: Readonly<Record<string, string>> = {
  reminding: 'reminding',
  escalatingBeside: 'escalatingBeside',
  stepping: 'stepping',
  within: 'askingWithin',
  withinInTime: 'askingWithin',
  withinApart: 'withinApart',
  withinApartInTime: 'withinApart',
  twoApartInTime: 'twoApart',
};
const lasting = ['stepping', 'within', 'withinApart'];

describe('an answer beside limits that passed while no worker ran', () => {
  const asked = new Map<string, Asked>();
  const late: Record<string, unknown> = {};

  const of = (name: string): Asked => asked.get(name) as Asked;
  const ends = async (name: string): Promise<unknown> =>
    (await logOf(of(name).run)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));
  const heard = (name: string): Promise<unknown> => heardIn(of(name).asker);
  const timersOf = async (name: string): Promise<number> => {
    const execution = { workflowId: `default/${of(name).asker}` };
    const { history } = await bed.temporal.connection.workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    return (history?.events ?? []).filter(({ eventType }) => eventType === EVENT_TYPE_TIMER_FIRED).length;
  };

  beforeAll(async () => {
    await Promise.all(
      Object.entries(agents).map(async ([name, agent]) => {
        const run = await model.start(agent, 'Hi');
        await run.outcome();
        const interrupts = await run.interrupts();
        const interrupt = interrupts.find(({ deadline }) => deadline === undefined) ?? interrupts[0];
        if (interrupt === undefined) throw new Error(`The run of ${name} asks nothing.`);
        const asker = interrupt.agent.endsWith('Asks') ? `${run.id}~${interrupt.agent}` : run.id;
        asked.set(name, { run, interrupt, asker });
      }),
    );
    await bed.stopWorker();
    for (const name of ['withinInTime', 'withinApartInTime', 'twoApartInTime']) {
      const { run, interrupt } = of(name);
      await bed.temporal
        .handle(run.id)
        .signal(names.answerSignal, { interruptId: interrupt.id, answer: 'yes', at: Date.now(), delivery: name });
    }
    for (const name of lasting)
      while ((await timersOf(name)) < (name === 'stepping' ? 2 : 1)) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const name of ['reminding', 'escalatingBeside', 'within', 'withinApart']) {
      const { run, interrupt } = of(name);
      late[name] = await run.resume(interrupt.id, 'late').then(() => 'was taken', codeOf);
    }
    await bed.startWorker();
    for (const { run } of asked.values()) await run.result().catch(() => undefined);
  });
  afterAll(() => bed.startWorker());

  it('comes behind a limit of several steps', async () => {
    expect(late).toMatchObject({ reminding: 'was taken', escalatingBeside: 'was taken' });
    expect(await heard('reminding')).toEqual(['giveUp']);
    expect(await heard('escalatingBeside')).toEqual(['escalation']);
  });

  it('comes behind the end of ctx.within, and counts before it, also in an isolated agent', async () => {
    expect(late).toMatchObject({ within: 'interrupt-expired', withinApart: 'interrupt-expired' });
    for (const name of ['within', 'withinApart']) {
      expect(await heard(name)).toEqual(['nobody']);
      expect(await ends(name)).toEqual([['deadline', null]]);
      expect(await heard(`${name}InTime`)).toEqual(['yes']);
      expect(await ends(`${name}InTime`)).toEqual([['answer', 'yes']]);
    }
  });

  it('to one question of an isolated agent comes before the deadline of another one', async () => {
    expect(await heard('twoApartInTime')).toEqual(['any']);
  });

  it('does not change the order of sleeps and deadlines', async () => {
    expect(await heard('stepping')).toEqual([['first', 'second', 'third', 'deadline']]);
  });
});

describe('an answer before the first task behind a continue-as-new', () => {
  const forDays = ['sleepingForDays', 'askingForDays'];
  const late = new Map<string, Run>();
  const inTime = new Map<string, Run>();

  const goesOnAsNew = async (agent: string): Promise<Run> => {
    const run = await model.start(agent, 'Hi');
    await eventually(async () => expect((await run.interrupts()).length).toBe(agent === 'askingForDays' ? 2 : 1));
    await bed.temporal.goOnAsNew(run.id);
    return run;
  };

  /** Begins the latest execution again without a worker, with all limits of days ending at `end`. */
  const beginAgain = async ({ id }: Run, end: number): Promise<void> => {
    const { workflowService } = bed.temporal.connection;
    const execution = { workflowId: `default/${id}`, runId: await bed.temporal.executionOf(id) };
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    const { input, memo, workflowType, taskQueue } = history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    const [payload] = input?.payloads ?? [];
    const moved = JSON.parse(Buffer.from(payload?.data ?? []).toString(), (key, value: unknown) =>
      (key === 'deadline' || key.startsWith('until:')) && Number(value) > Date.now() + aDayMs ? end : value,
    ) as unknown;
    await bed.temporal.handle(id).terminate();
    await workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId: execution.workflowId,
      workflowType: workflowType ?? null,
      taskQueue: { name: taskQueue?.name ?? '' },
      input: { payloads: [{ ...payload, data: Buffer.from(JSON.stringify(moved)) }] },
      memo: memo ?? null,
      requestId: randomUUID(),
      workflowIdReusePolicy: WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
    });
  };

  const answer = async (run: Run): Promise<void> => {
    const interruptId = (await run.interrupts()).find(({ deadline }) => deadline === undefined)?.id;
    await bed.temporal.handle(run.id).signal(names.answerSignal, { interruptId, answer: 'yes', at: Date.now(), delivery: run.id });
  };
  const heard = async (run: Run): Promise<readonly unknown[]> => {
    await run.result();
    return heardIn(run.id);
  };

  beforeAll(async () => {
    await Promise.all([late, inTime].flatMap((runs) => forDays.map(async (agent) => void runs.set(agent, await goesOnAsNew(agent)))));
    await bed.stopWorker();
    for (const run of late.values()) {
      await beginAgain(run, Date.now() - 1000);
      await answer(run);
    }
    const end = Date.now() + 6000;
    for (const run of inTime.values()) {
      await beginAgain(run, end);
      await answer(run);
    }
    while (Date.now() < end + 100) await new Promise((resolve) => setTimeout(resolve, 50));
    await bed.startWorker();
  });
  afterAll(() => bed.startWorker());

  it.each(forDays)('of %s comes behind a limit that was over before, and counts before it', async (agent) => {
    expect(await heard(late.get(agent) as Run)).toEqual([agent === 'askingForDays' ? 'deadline' : 'sleep']);
    expect(await heard(inTime.get(agent) as Run)).toEqual(['answer']);
  });
});
