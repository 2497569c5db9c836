import { agentTool, customAgent, deepAgent, planExecute, textOf } from 'holdfast/workflow';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { logOf, tools } from '../support/memory-bed';
import { heard, member, placed, scripts } from '../support/team-bed';
import { failureSaying } from '../support/failures';

const shows = (...names: readonly string[]): AgentMiddleware => ({
  name: 'shows',
  afterAgent: (_, ctx) => {
    for (const name of names) ctx.sendEvent(name, ctx.session.get(name) ?? null);
  },
});

async function play(agent: Parameters<typeof testRun>[0], steps: Readonly<Record<string, readonly ScriptedStep[]>>, options: object = {}) {
  const model = scripts(steps);
  const run = await testRun(agent as never, { input: 'Go.', model, tools, ...options });
  const outcome = await run.outcome();
  const log = await logOf(run);
  const said = (name: string): Json | undefined => {
    const found = log.filter((event) => event.type === 'custom' && event.name === name).at(-1);
    return found?.type === 'custom' ? found.data : undefined;
  };
  return { run, model, outcome, log, said };
}

const deep = (options: Partial<Parameters<typeof deepAgent>[0]> = {}): ReturnType<typeof deepAgent> =>
  deepAgent({ name: 'deep', description: 'Works long.', model: 'test/deep', ...options });
const task = (type: string, description: string): ScriptedStep => ({
  toolCalls: [{ name: 'task', input: { subagent_type: type, description } }],
});

describe('the deep agent', () => {
  it('[eino 223] keeps its output under a key of the session, and nothing without one', async () => {
    const kept = await play(deep({ outputKey: 'answer', middleware: [shows('answer')] }), { deep: [{ text: 'Dug.' }] });
    expect(kept.outcome).toMatchObject({ status: 'completed', output: 'Dug.' });
    const outer = customAgent({
      name: 'outer',
      agents: [deep({ outputKey: 'answer' })],
      async *run(_, ctx) {
        await ctx.runAgent('deep', 'Dig.');
        yield { output: ctx.session.get('answer') ?? null };
      },
    });
    const { log } = await play(outer, { deep: [{ text: 'Dug.' }] });
    expect(log.filter(({ type }) => type === 'custom')).toMatchObject([{ data: { output: 'Dug.' } }]);
  });

  it('[eino 223] has a general agent with its tools and no task of its own, and tells the model of an agent that is not there', async () => {
    const asked: (readonly string[])[] = [];
    const model: ScriptedStep[] = [
      task('general-purpose', 'Say hi.'),
      ({ tools: offered }) => {
        asked.push(offered.map(({ name }) => name));
        return { text: 'Hi.' };
      },
      task('nobody', 'Say ho.'),
      { text: 'Done.' },
    ];
    const { outcome, model: used } = await play(deep({ tools: ['echo'] }), { deep: model });
    expect(outcome).toMatchObject({ output: 'Done.' });
    expect(asked).toEqual([['echo', 'write_todos']]);
    expect(used.requests('deep').at(-1)?.messages.at(-1)?.parts).toMatchObject([
      { isError: true, output: 'The sub-agent "nobody" was not found. There are: general-purpose.' },
    ]);
  });
});

describe('the plan-execute agent', () => {
  const plan = (...steps: readonly string[]): ScriptedStep => ({ toolCalls: [{ name: 'plan', input: { steps } }] });
  const respond = (response: string): ScriptedStep => ({ toolCalls: [{ name: 'respond', input: { response } }] });
  const agent = (maxIterations?: number): ReturnType<typeof planExecute> =>
    planExecute({
      name: 'work',
      description: 'Plans and does.',
      planner: { model: 'test/planner' },
      executor: member('executor'),
      replanner: { model: 'test/replanner' },
      ...(maxIterations === undefined ? {} : { maxIterations }),
    });

  it('[eino 224] plans, does the first step, plans anew, and responds', async () => {
    const { outcome, model, log } = await play(agent(), {
      planner: [plan('Step 1', 'Step 2', 'Step 3')],
      executor: [{ text: 'One done.' }, { text: 'Two done.' }],
      replanner: [plan('Step 2', 'Step 3'), respond('All done.')],
    });
    expect(outcome).toMatchObject({ status: 'completed', output: 'All done.' });
    const ends = log.filter(({ type }) => type === 'tool-end' || type === 'model-end').map(placed);
    expect(ends).toEqual([
      'model-end work/work-planner@1',
      'tool-end work/work-planner@1',
      'model-end work/executor@1',
      'model-end work/work-replanner@1',
      'tool-end work/work-replanner@1',
      'model-end work/executor@2',
      'model-end work/work-replanner@2',
      'tool-end work/work-replanner@2',
    ]);
    const results = log.flatMap((event) => (event.type === 'tool-end' ? [event] : []));
    expect(results[0]?.message.parts).toMatchObject([{ output: JSON.stringify({ steps: ['Step 1', 'Step 2', 'Step 3'] }) }]);
    expect(results[2]).toMatchObject({
      action: { breakLoop: true },
      message: { parts: [{ output: JSON.stringify({ response: 'All done.' }) }] },
    });
    const second = heard(model.requests('executor')[1]!)[0];
    expect(second).toContain('Step 1\n   Result: One done.');
    expect(second).toContain('Do this step now, and say what came of it:\nStep 2');
    expect(model.requests('planner')[0]?.settings).toMatchObject({ toolChoice: { type: 'tool', toolName: 'plan' } });
  });

  it('[eino 224] fails when the planner makes no plan', async () => {
    const { outcome } = await play(agent(), { planner: [{ text: 'No idea.' }], executor: [], replanner: [] });
    expect(outcome).toMatchObject(failureSaying('model-response-invalid', "did not call 'plan'"));
  });

  it('[eino 224] ends with the last result when nobody responds in time', async () => {
    const { outcome } = await play(agent(1), {
      planner: [plan('Step 1', 'Step 2')],
      executor: [{ text: 'One done.' }],
      replanner: [plan('Step 2')],
    });
    expect(outcome).toMatchObject({ status: 'completed', output: 'One done.' });
  });

  it('[eino 224] keeps the plans of two at once apart', async () => {
    const boss: ScriptedStep = {
      toolCalls: [
        { name: 'work', input: { request: 'Paris' } },
        { name: 'work', input: { request: 'Rome' } },
      ],
    };
    const byRequest: ScriptedStep = ({ messages }) => ({
      toolCalls: [{ name: 'plan', input: { steps: [`Visit ${messages.map(textOf).join()}`] } }],
    });
    const byResult: ScriptedStep = ({ messages }) => ({
      toolCalls: [{ name: 'respond', input: { response: /Result: (.*)/.exec(messages.map(textOf).join())?.[1] ?? '' } }],
    });
    const visits: ScriptedStep = ({ messages }) => ({ text: `Done: ${messages.map(textOf).join().split('\n').at(-1)}` });
    const { model } = await play(member('boss', { tools: [agentTool(agent())] }), {
      boss: [boss, { text: 'End.' }],
      planner: [byRequest, byRequest],
      executor: [visits, visits],
      replanner: [byResult, byResult],
    });
    expect(
      model
        .requests('boss')[1]
        ?.messages.slice(-2)
        .map(({ parts }) => parts[0]),
    ).toMatchObject([{ output: 'Done: Visit Paris' }, { output: 'Done: Visit Rome' }]);
  });
});
