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
import { startTestBed, testServer, text } from '../../support/test-bed';

const { EVENT_TYPE_TIMER_FIRED } = temporalProtocol.api.enums.v1.EventType;

interface Asked {
  readonly run: Run;
  readonly interrupt: Interrupt;
  /** The run of the isolated agent that asks, or the run itself. */
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
/** With a sleep or a deadline that ends last of all. */
const lasting = ['stepping', 'within', 'withinApart'];

describe('[check 1] an answer beside limits that passed while no worker ran', () => {
  let temporal: Temporal;
  let client: HoldfastClient;
  const asked = new Map<string, Asked>();
  const late: Record<string, unknown> = {};

  const of = (name: string): Asked => asked.get(name) as Asked;
  const events = async (id: string): Promise<readonly RunEvent[]> => {
    const all: RunEvent[] = [];
    for await (const event of client.run(id).events({ deltas: false })) all.push(event);
    return all;
  };
  const ends = async (name: string): Promise<unknown> =>
    (await events(of(name).run.id)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));
  /** What the agent that asked heard. */
  const heard = async (name: string): Promise<unknown> =>
    (await events(of(name).asker)).flatMap((event) => (event.type === 'custom' && event.name === 'heard' ? [event.data] : []));
  const timersOf = async (name: string): Promise<number> => {
    const execution = { workflowId: `default/${of(name).asker}` };
    const { history } = await temporal.connection.workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    return (history?.events ?? []).filter(({ eventType }) => eventType === EVENT_TYPE_TIMER_FIRED).length;
  };

  beforeAll(async () => {
    temporal = await openTemporal();
    const bed = await startTestBed(() => text('Done.'));
    const { taskQueue } = bed;
    client = await connect({ server: testServer(), taskQueue });
    await Promise.all(
      Object.entries(agents).map(async ([name, agent]) => {
        const run = await client.start(agent, 'Hi');
        await run.outcome({ timeout: '30s' });
        const interrupts = await run.interrupts();
        const interrupt = interrupts.find(({ deadline }) => deadline === undefined) ?? interrupts[0];
        if (interrupt === undefined) throw new Error(`The run of ${name} asks nothing.`);
        const asker = interrupt.agent.endsWith('Asks') ? `${run.id}~${interrupt.agent}` : run.id;
        asked.set(name, { run, interrupt, asker });
      }),
    );
    await bed.close();
    for (const name of ['withinInTime', 'withinApartInTime', 'twoApartInTime']) {
      const { run, interrupt } = of(name);
      await temporal.handle(run.id).signal(names.resumeSignal, { interruptId: interrupt.id, answer: 'yes', delivery: name });
    }
    for (const name of lasting)
      while ((await timersOf(name)) < (name === 'stepping' ? 2 : 1)) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const name of ['reminding', 'escalatingBeside', 'within', 'withinApart']) {
      const { run, interrupt } = of(name);
      late[name] = await run.resume(interrupt.id, 'late').then(() => 'was taken', codeOf);
    }
    const again = await startTestBed(() => text('Done.'), { taskQueue });
    for (const { run } of asked.values()) await run.result().catch(() => undefined);
    await again.close();
  }, 120_000);
  afterAll(async () => {
    await client.close();
    await temporal.close();
  });

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
