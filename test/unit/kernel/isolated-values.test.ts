import type { AgentMiddleware } from 'holdfast/workflow';
import { agentTool, deepAgent, loop, parallel, planExecute, sequential, supervisor } from 'holdfast/workflow';
import { modelCallLimit, toolCallLimit } from 'holdfast/middleware';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import type { Json } from '../../../contract/messages/messages';
import type { AgentPart } from '../../../kernel/define/define';
import { echo, tools } from '../../support/memory-bed';
import { byHand, heard, member, play, scripts, transfer } from '../../support/team-bed';

const call = (name: string, input: Json): ScriptedStep => ({ toolCalls: [{ name, input }] });
const plan = (...steps: readonly string[]): ScriptedStep => call('plan', { steps });
const respond = (response: string): ScriptedStep => call('respond', { response });
const said = (...texts: readonly string[]): readonly ScriptedStep[] => texts.map((text) => ({ text }));
const echoed: ScriptedStep = { toolCalls: [echo('x')] };

const planned = (name = 'job', executor: AgentPart = member(`${name}-worker`)) =>
  planExecute({ name, description: 'Does jobs.', planner: { model: 'test/planner' }, executor, replanner: { model: 'test/replanner' } });
const sessionOf = (run: TestRun): Readonly<Record<string, Json>> =>
  (run as unknown as { run: { stretch: { run: { state: { session: Record<string, Json> } } } } }).run.stretch.run.state.session;

const setting = (key: string): AgentMiddleware => ({
  name: 'setting',
  beforeModelRewriteState: (_, ctx) => ctx.session.set(key, ctx.agent),
});

interface Composite {
  readonly agent: AgentPart;
  readonly steps: Readonly<Record<string, readonly ScriptedStep[]>>;
}

const composites: Readonly<Record<string, () => Composite>> = {
  planExecute: () => ({
    agent: planned(),
    steps: { planner: [plan('one')], 'job-worker': said('Did it.'), replanner: [respond('Answer.')] },
  }),
  deepAgent: () => ({
    agent: deepAgent({ name: 'deep', description: 'Deep.', model: 'test/deep' }),
    steps: { deep: [call('write_todos', { todos: [{ content: 'All.', status: 'pending' }] }), { text: 'Done.' }] },
  }),
  sequential: () => ({
    agent: sequential({
      name: 'all',
      description: 'All.',
      agents: [member('first', { outputKey: 'first' }), member('second', { middleware: [setting('who')] })],
    }),
    steps: { first: said('One.'), second: said('Two.') },
  }),
  loop: () => ({
    agent: loop({
      name: 'again',
      description: 'Again.',
      maxIterations: 3,
      agents: [member('first', { middleware: [modelCallLimit({ perAgent: 1, perRun: 2 })] })],
    }),
    steps: { first: said('One.', 'Two.', 'Three.') },
  }),
  supervisor: () => ({
    agent: supervisor({
      name: 'boss-team',
      description: 'A team.',
      supervisor: member('chief'),
      agents: [member('expert', { outputKey: 'expert' })],
    }),
    steps: { chief: [transfer('expert'), { text: 'Done.' }], expert: said('I know.') },
  }),
  customAgent: () => ({
    agent: byHand(
      'custom',
      async function* (_, ctx) {
        ctx.session.set('custom', (await ctx.runAgent('first', 'Say it.')).text);
        yield { output: 'Shown.' };
        return 'Done.';
      },
      [member('first')],
    ),
    steps: { first: said('One.') },
  }),
  'an agent with a limit of its tools': () => ({
    agent: member('busy', { tools: ['echo'], middleware: [toolCallLimit({ perAgent: 1, exceeded: 'end' })] }),
    steps: { busy: [echoed, echoed] },
  }),
};

describe('values of the run that an agent leaves behind', () => {
  it.each(Object.keys(composites))('are the same whether it is isolated or not, as a lane and as a tool: %s', async (kind) => {
    const outcomes = async (isolate: boolean): Promise<readonly unknown[]> => {
      const made = composites[kind] as () => Composite;
      const lane = made();
      const team = await play(
        sequential({ name: 'root', agents: [member('before'), parallel({ name: 'team', isolate, agents: [lane.agent] })] }),
        { before: said('Zero.'), ...lane.steps },
      );
      const tool = made();
      const boss = member('boss', { tools: [agentTool(tool.agent, isolate ? { isolate } : { forwardEvents: true })] });
      const asked = await play(boss, { boss: [call(tool.agent.name, { request: 'Do it.' }), { text: 'Done.' }], ...tool.steps });
      return [team, asked].map(({ run, outcome }) => ({ outcome, session: sessionOf(run) }));
    };
    expect(await outcomes(true)).toEqual(await outcomes(false));
  });

  it('are those of each plan: an isolated one in a step of another touches nothing of it', async () => {
    const inner = planned('inner');
    const worker = member('worker', { tools: [agentTool(inner, { isolate: true })] });
    const { run, outcome } = await play(planned('outer', worker), {
      planner: [plan('outer one', 'outer two'), plan('inner one')],
      worker: [call('inner', { request: 'The inner job.' }), { text: 'Did outer one.' }],
      'inner-worker': said('Did inner one.'),
      replanner: [respond('Inner answer.'), respond('Outer answer.')],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Outer answer.' });
    expect(sessionOf(run)).toEqual({
      UserInput: 'Go.',
      Plan: { steps: ['outer one', 'outer two'] },
      ExecutedStep: 'Did outer one.',
      ExecutedSteps: [{ step: 'outer one', result: 'Did outer one.' }],
    });
  });

  it('of an isolated plan that is cancelled alone stay under keys of its own place', async () => {
    const asking: AgentMiddleware = { name: 'asking', beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt('?')) };
    const job = planned('job', member('job-worker', { middleware: [asking] }));
    const boss = member('boss', { tools: [agentTool(job, { isolate: true })] });
    const model = scripts({ boss: [call('job', { request: 'Do it.' }), { text: 'Without it.' }], planner: [plan('one')] });
    const run = await testRun(boss, { input: 'Go.', model, tools });
    await run.outcome();
    await run.children.get('test~job@1')?.cancel();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Without it.' });
    expect(Object.keys(sessionOf(run)).filter((key) => !key.endsWith(':boss/job@1'))).toEqual([]);
  });

  it('of an isolated plan begin with what the user said, and not with what agents said before it', async () => {
    const agent = sequential({ name: 'root', agents: [member('before'), parallel({ name: 'team', isolate: true, agents: [planned()] })] });
    const { model } = await play(agent, {
      before: said('Zero.'),
      planner: [plan('one')],
      'job-worker': said('Did it.'),
      replanner: [respond('Answer.')],
    });
    expect(heard(model.requests('job-worker')[0]!).join()).toContain('The user asks:\nGo.');
  });
});

it('a limit for each agent counts each call of an isolated tool by itself, as it does inside of the run', async () => {
  const limited = member('helper', { middleware: [modelCallLimit({ perAgent: 1 })] });
  for (const isolate of [true, false]) {
    const { model } = await play(member('boss', { tools: [agentTool(limited, { isolate })] }), {
      boss: [call('helper', { request: 'One.' }), call('helper', { request: 'Two.' }), { text: 'Done.' }],
      helper: said('First.', 'Second.'),
    });
    expect(model.requests('helper')).toHaveLength(2);
  }
});
