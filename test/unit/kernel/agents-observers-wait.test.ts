import { breakLoopAction, customAgent, exitAction, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import type { Agent, AgentMiddleware, AgentObserver, CustomEvent } from 'holdfast/workflow';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { AgentRun } from '../../../kernel/engine/run';
import { fails, logOf, toolOf } from '../../support/memory-bed';
import { byHand, member, placed, says, scripts, transfer } from '../../support/team-bed';

type AnyAgentOf = Agent<string, string, unknown>;

const asking = (name: string): AgentObserver => ({
  name,
  onEnd: async (observed, ctx) => {
    if (observed.kind === 'agent') await ctx.interrupt(`${name}: noted?`);
  },
  onError: async (observed, ctx) => {
    if (observed.kind === 'agent') await ctx.interrupt(`${name}: seen?`);
  },
});
const observers = [asking('outer'), asking('inner')];
const hand = (name: string, ...events: readonly CustomEvent[]): AnyAgentOf =>
  byHand(name, async function* () {
    yield* events;
  });
const pays: ScriptedStep = { toolCalls: [{ name: 'pay', input: {} }] };
const steps: Readonly<Record<string, readonly ScriptedStep[]>> = {
  a: [pays, { text: 'A.' }],
  b: [{ text: 'B.' }],
  boss: [transfer('b'), { text: 'Done.' }],
};
const payer = (middleware: readonly AgentMiddleware[] = []): AnyAgentOf => member('a', { tools: ['pay'], middleware });
const guide = (end: () => string): AnyAgentOf =>
  customAgent({
    name: 'hand',
    description: 'By hand.',
    agents: [payer()],
    observers,
    async *run(_, ctx) {
      yield says('one');
      const { text } = await ctx.runAgent('a');
      yield says('two');
      return `${text} ${end()}`;
    },
  });
const broken = fails('Broken.');

async function played(agent: () => AnyAgentOf, border: boolean, script = steps) {
  const paid: string[] = [];
  const pay = toolOf(
    (_, { idempotencyKey }) => {
      paid.push(idempotencyKey);
      return 'paid';
    },
    { effect: 'once' },
  );
  const model = scripts(script);
  const run = await testRun(agent(), { id: 'r1', input: 'Go.', model, tools: { pay } });
  const asked: unknown[] = [];
  for (;;) {
    const [interrupt] = await run.interrupts();
    if (interrupt === undefined) break;
    asked.push('info' in interrupt ? interrupt.info : undefined);
    if (border) {
      await run.goOnAsNew();
      await run.upgrade(agent());
    }
    await run.resume(interrupt.id, 'yes');
  }
  const outcome = await run.outcome();
  const calls = Object.entries(model.of).map(([name, { requests }]) => `${name} ${requests.length}`);
  return { outcome, asked, calls, paid, events: (await logOf(run)).map(placed) };
}

describe('an observer that waits while the run goes on as new', () => {
  const ended = ['inner: noted?', 'outer: noted?'];
  const failed = ['inner: seen?', 'outer: seen?'];
  const boss = () => supervisor({ name: 'team', supervisor: member('boss'), agents: [member('b')], observers });

  it.each<readonly [string, () => AnyAgentOf, object, readonly string[]]>([
    ['an agent that talks to a model', () => payer(observers), { status: 'completed', text: 'A.' }, ended],
    ['one by hand', () => guide(() => 'end'), { status: 'completed', output: 'A. end' }, ended],
    ['one by hand that fails', () => guide(broken), { status: 'failed', error: { code: 'hook-failed' } }, failed],
    [
      'a sequence that was exited',
      () => sequential({ name: 's', agents: [hand('e', says('bye', { action: exitAction() })), member('b')], observers }),
      { status: 'completed', text: 'bye' },
      ended,
    ],
    [
      'a loop that was broken',
      () => loop({ name: 'l', agents: [payer(), hand('e', says('out', { action: breakLoopAction() }))], maxIterations: 3, observers }),
      { status: 'completed', text: 'out' },
      ended,
    ],
    [
      'agents at the same time',
      () => parallel({ name: 'p', agents: [payer(), member('b')], observers }),
      { status: 'completed', output: { a: 'A.', b: 'B.' } },
      ended,
    ],
    [
      'agents at the same time of which one fails',
      () => parallel({ name: 'p', agents: [payer(), hand('e', { error: 'Broken.' })], observers }),
      { status: 'failed', error: { code: 'agent-failed' } },
      failed,
    ],
    ['a supervisor', boss, { status: 'completed', text: 'Done.' }, ended],
    [
      'agents inside of others',
      () => sequential({ name: 's', agents: [guide(() => 'end'), boss()] }),
      { text: 'Done.' },
      [...ended, ...ended],
    ],
    [
      'an agent that hands over',
      () => member('boss', { subAgents: [member('b')], middleware: observers }),
      { status: 'completed', text: 'B.' },
      ended,
    ],
  ])('sees the end of %s, which is not run again', async (_, agent, outcome, asked) => {
    const plain = await played(agent, false);
    expect(plain.outcome).toMatchObject(outcome);
    expect(plain.asked).toEqual(asked);
    expect(await played(agent, true)).toEqual(plain);
  });

  it.each<readonly [string, () => AnyAgentOf]>([
    ['an agent that talks to a model', () => payer(observers)],
    ['a sequence', () => sequential({ name: 's', agents: [payer(), member('b')], observers })],
    ['a loop', () => loop({ name: 'l', agents: [payer(), member('b')], maxIterations: 2, observers })],
    ['a supervisor', () => supervisor({ name: 'team', supervisor: payer(), agents: [member('b')], observers })],
  ])('sees the failure of %s, which is not run again', async (_, agent) => {
    const script = { a: [pays, { error: 'Broken.' }], b: [] };
    const plain = await played(agent, false, script);
    expect(plain).toMatchObject({
      outcome: { status: 'failed', error: { code: 'model-failed' } },
      asked: failed,
      paid: [expect.any(String)],
    });
    expect(await played(agent, true, script)).toEqual(plain);
  });

  it('leaves nothing in the state when it has been told', async () => {
    const snapshots = jest.spyOn(AgentRun.prototype, 'snapshot');
    const stateAtBorder = () => (snapshots.mock.results.at(-1)?.value as ReturnType<AgentRun['snapshot']>).state;
    const waiting: AgentMiddleware = { name: 'waiting', beforeAgent: async (__, ctx) => void (await ctx.interrupt('?')) };
    const agents = [member('a', { middleware: [asking('one')] }), member('b', { middleware: [waiting] })];
    const run = await testRun(sequential({ name: 's', agents }), { input: 'Go.', model: scriptedModel([{ text: 'A.' }, { text: 'B.' }]) });
    expect(await run.interrupts()).toHaveLength(1);
    await run.goOnAsNew();
    expect(stateAtBorder().ends).toEqual({ 's/a': { result: { output: 'A.', text: 'A.' } } });
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    expect(await run.interrupts()).toMatchObject([{ info: '?' }]);
    await run.goOnAsNew();
    expect(stateAtBorder()).not.toHaveProperty('ends');
    snapshots.mockRestore();
  });
});
