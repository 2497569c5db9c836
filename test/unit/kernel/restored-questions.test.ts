import type { ScriptedStep } from 'holdfast/testing';
import type { Agent, AgentMiddleware, Interrupt } from 'holdfast/workflow';
import { sequential } from 'holdfast/workflow';
import type { EventBody } from '../../../contract/events';
import { definitionOf } from '../../../kernel/define/definition';
import { OpenInterrupts } from '../../../kernel/run/interrupts/interrupts';
import type { Ports } from '../../../kernel/run/ports';
import type { RunState } from '../../../kernel/run/state';
import { MemoryRun } from '../../../testing/memory/run';
import { agentUnder, echo, gate, only } from '../../support/memory-bed';
import { memoryStart, scriptedWork } from '../../support/scripted-work';
import { member } from '../../support/team-bed';

const script: readonly ScriptedStep[] = [{ toolCalls: [echo('a')] }, { text: 'Done.' }];
const asking: AgentMiddleware = { name: 'asking', wrapToolCall: async (call, next, ctx) => (await ctx.interrupt('Go?'), next(call)) };
const agentsOf = (...middleware: readonly AgentMiddleware[]) => mapOf(agentUnder(...middleware) as Agent);
const mapOf = (agent: Agent) => new Map([['agent', definitionOf(agent)]]);

async function goingOn(agents: ReturnType<typeof mapOf>) {
  const door = gate();
  let prepared = 0;
  const work = scriptedWork(script);
  const slow = {
    ...work,
    prepare: async (...request: Parameters<typeof work.prepare>) => (prepared++ > 0 && (await door.opened), work.prepare(...request)),
  };
  const run = new MemoryRun(agents, { start: memoryStart }, slow, 0);
  await run.idle();
  const questions = run.view().interrupts;
  const goOn = async (others?: ReturnType<typeof mapOf>) => {
    const over = run.goOnAsNew(others);
    for (let turns = 0; prepared < 2 && turns < 100; turns++) await work.settle();
    return { enter: () => (door.open(), over) };
  };
  return { run, questions, goOn };
}

const questionsIn = ({ events }: MemoryRun): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'interrupt-start'
      ? [`${event.interrupt.id} starts`]
      : event.type === 'interrupt-end'
        ? [`${event.interruptId}: ${event.reason}`]
        : [],
  );

describe('answers that a run takes before its code has asked again', () => {
  it('reach the branches of a race in the order in which they came, and not in the order of the branches', async () => {
    const race: AgentMiddleware = {
      name: 'race',
      async wrapToolCall(_call, _next, ctx) {
        const { first, value } = await ctx.race({
          one: (inner) => inner.interrupt<string>('One?'),
          two: (inner) => inner.interrupt<string>('Two?'),
        });
        return `${first}: ${value ?? ''}`;
      },
    };
    const { run, questions, goOn } = await goingOn(agentsOf(race));
    const { enter } = await goOn();
    for (const { id } of [...questions].reverse()) await run.take({ interruptId: id, answer: 'yes' });
    await enter();
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(JSON.stringify(run.events)).toContain('two: yes');
  });
});

describe('a question of before a continue-as-new that no code has asked again', () => {
  it('ends when the run is cancelled, and is asked anew when the run goes on', async () => {
    const { run, questions, goOn } = await goingOn(agentsOf(asking));
    const { id } = only(questions);
    const { enter } = await goOn();
    await run.cancel();
    await enter();
    expect(run.view().status).toBe('cancelled');
    expect(questionsIn(run)).toEqual([`${id} starts`, `${id}: cancel`]);

    await run.goOnBehindEnd('run-resume');
    await run.idle();
    expect(only(run.view().interrupts).id).toBe(id);
    await run.take({ interruptId: id, answer: true });
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(questionsIn(run)).toEqual([`${id} starts`, `${id}: cancel`, `${id} starts`, `${id}: answer`]);
  });

  it('ends when a cancel takes effect at a safe point before its agent is entered', async () => {
    const asks = member('asks', { middleware: [{ name: 'asks', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?')) }] });
    const { run, questions, goOn } = await goingOn(mapOf(sequential({ name: 'agent', description: 'One.', agents: [asks] })));
    const { enter } = await goOn();
    await run.cancel({ modes: ['after-tools'], recursive: true });
    await enter();
    expect(run.view().status).toBe('cancelled');
    expect(questionsIn(run).slice(1)).toEqual([`${only(questions).id}: cancel`]);
  });

  it('ends when code that has changed does not ask it, and the run fails', async () => {
    const { run, questions, goOn } = await goingOn(agentsOf(asking));
    const { id } = only(questions);
    const { enter } = await goOn(agentsOf({ ...asking, wrapToolCall: () => new Promise(() => undefined) }));
    await enter();
    expect(run.view()).toMatchObject({ status: 'failed' });
    expect(questionsIn(run)).toEqual([`${id} starts`, `${id}: cancel`]);

    await run.goOnBehindEnd('run-retry', agentsOf(asking));
    await run.idle();
    expect(questionsIn(run)).toEqual([`${id} starts`, `${id}: cancel`, `${id} starts`]);
    await run.take({ interruptId: id, answer: true });
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('ends when the run has no agent any more that asks it', async () => {
    const { run, questions, goOn } = await goingOn(agentsOf(asking));
    await (await goOn(new Map())).enter();
    expect(run.view()).toMatchObject({ status: 'failed', error: { code: 'agent-unknown' } });
    expect(questionsIn(run).slice(1)).toEqual([`${only(questions).id}: cancel`]);
  });

  it('ends when another branch of its race is first', async () => {
    const racing: AgentMiddleware = {
      name: 'racing',
      wrapToolCall: async (call, next, ctx) => {
        await ctx.race({
          slow: async (inner) => {
            for (let n = 0; n < 50; n++) await Promise.resolve();
            return inner.interrupt('Slowly?');
          },
          fast: (inner) => inner.interrupt('Fast?'),
        });
        await ctx.sleep('1h');
        return next(call);
      },
    };
    const { run, questions, goOn } = await goingOn(agentsOf(racing));
    const [slow, fast = ''] = ['slow', 'fast'].map((branch) => questions.find(({ address }) => address.includes(branch))?.id);
    const { enter } = await goOn();
    run.answer({ interruptId: fast, answer: true });
    await enter();
    expect(questionsIn(run).slice(2)).toEqual([`${fast}: answer`, `${slow}: cancel`]);
    expect(run.view().interrupts).toEqual([]);
  });
});

describe('the list of a run in which such a question is open', () => {
  const shown: Interrupt = { id: 'asks', address: ['agent', 'asks'], agent: 'agent', kind: 'question', info: 'Well?' };

  function listOf() {
    const events: EventBody[] = [];
    const ports: Partial<Ports> = { now: () => 1000, emit: (event) => void events.push(event), hideInterrupt: () => undefined };
    const state = { interrupts: [{ shown }], answered: [], sequence: 0 } as Partial<RunState> as RunState;
    return { list: new OpenInterrupts(state, ports as Ports), state, events };
  }

  it.each([
    ['a cancel', (list: OpenInterrupts) => list.cancelAll(new Error('over'))],
    ['the end of the run', (list: OpenInterrupts) => list.endAll()],
    ['the end of its place', (list: OpenInterrupts) => list.leave(['agent'], new Error('over'))],
    ['the end of its code', (list: OpenInterrupts) => list.drop('asks', undefined)],
  ])('ends the question at %s', (_, end) => {
    const { list, state, events } = listOf();
    end(list);
    expect(events).toEqual([{ type: 'interrupt-end', interruptId: 'asks', answer: null, reason: 'cancel' }]);
    expect(state.interrupts).toEqual([]);
  });
});
