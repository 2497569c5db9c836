import { customAgent, defineAgent, exitAction, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import { setSubAgents } from 'holdfast/eino';
import type { AgentMiddleware } from 'holdfast/workflow';
import { scriptedModel, testRun } from 'holdfast/testing';
import { failureSaying } from '../../support/failures';
import { echo, lineOf, logOf, startRun, tools, transcriptOf } from '../../support/memory-bed';
import { byHand, heard, member, placed, play, says, scripts, transfer } from '../../support/team-bed';

it('agents in parallel all end when one fails, and then the whole fails', async () => {
  const team = parallel({ name: 'team', agents: [member('left'), member('right')] });
  const { outcome, model } = await play(team, { left: [{ error: 'Broken.' }], right: [{ text: 'R.' }] });
  expect(outcome).toMatchObject(failureSaying('model-failed'));
  expect(model.requests('right')).toHaveLength(1);
});

describe('agents that hand over', () => {
  const family = setSubAgents(member('desk'), [member('billing'), member('travel')]);

  it('go on where the other left, to and fro', async () => {
    const { outcome, model, run } = await play(family, {
      desk: [transfer('billing'), transfer('travel')],
      billing: [transfer('desk')],
      travel: [{ text: 'Bon voyage.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', output: 'Bon voyage.' });
    const tool = model.requests('desk')[0]?.tools.find(({ name }) => name === 'transfer_to_agent');
    expect(tool?.inputSchema).toMatchObject({ required: ['agent_name'] });
    expect(model.requests('desk')[0]?.instructions).toContain('- billing: The billing.');
    expect(model.requests('billing')[0]?.instructions).toContain('desk');
    const ends = (await logOf(run)).filter(({ type }) => type === 'tool-end' || type === 'model-end');
    expect(ends.map(placed)).toEqual([
      'model-end desk',
      'tool-end desk',
      'model-end desk/billing',
      'tool-end desk/billing',
      'model-end desk/billing/desk',
      'tool-end desk/billing/desk',
      'model-end desk/billing/desk/travel',
    ]);
  });

  it('fail when there is no such agent, with words that say from where', async () => {
    const { outcome } = await play(family, { desk: [transfer('nobody')] });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'transfer-failed', message: "transfer failed: agent 'nobody' not found when transferring from 'desk'" },
    });
  });

  it('end when they hand over for ever', async () => {
    const again = (name: string) => Array.from({ length: 60 }, () => transfer(name));
    const { outcome } = await play(family, { desk: again('billing'), billing: again('desk') });
    expect(outcome).toMatchObject(failureSaying('transfers-exceeded'));
  });
});

it('a supervisor gets back from its specialists what they did, and has the last word', async () => {
  const team = supervisor({ name: 'team', supervisor: member('boss'), agents: [member('coder'), member('tester')] });
  const { outcome, model, run } = await play(team, {
    boss: [transfer('coder'), transfer('tester'), { text: 'Shipped.' }],
    coder: [{ text: 'Coded.' }],
    tester: [{ text: 'Tested.' }],
  });
  expect(outcome).toMatchObject({ output: 'Shipped.' });
  expect(model.requests('coder')[0]?.tools).toEqual([]);
  expect(heard(model.requests('boss')[1]!).slice(-3)).toEqual([
    'user: For context: [coder] said: Coded..',
    'user: For context: [coder] called tool: `transfer_to_agent` with arguments: {"agent_name":"boss"}.',
    'user: For context: [coder] `transfer_to_agent` tool returned result: successfully transferred to agent [boss].',
  ]);
  expect((await logOf(run)).filter(({ type }) => type === 'agent-start').map(placed)).toContain('agent-start team/boss/coder/boss/tester');
});

it('a custom agent says what it yields and may run others', async () => {
  const guide = byHand(
    'guide',
    async function* (input, ctx) {
      yield says(`I heard ${input.messages.length}.`);
      const { text } = await ctx.runAgent('helper', 'Help.');
      yield says(text);
      yield { output: { done: true }, action: exitAction() };
    },
    [member('helper')],
  );
  const { outcome, run } = await play(guide, { helper: [{ text: 'Helped.' }] });
  expect(outcome).toMatchObject({ status: 'completed', output: 'Helped.' });
  expect((await logOf(run)).map(placed)).toEqual([
    'run-start',
    'agent-message guide',
    'agent-start guide/helper@1',
    'model-start guide/helper@1',
    'model-end guide/helper@1',
    'agent-end guide/helper@1',
    'agent-message guide',
    'custom guide',
    'run-end',
  ]);
});

describe('agents that cannot be told apart', () => {
  const desk = member('desk');
  it.each<[string, () => Parameters<typeof play>[0]]>([
    ['under one agent', () => sequential({ name: 'both', agents: [member('first'), member('first')] })],
    [
      'anywhere in a tree',
      () => sequential({ name: 'both', agents: [member('first'), loop({ name: 'again', agents: [member('first')], maxIterations: 2 })] }),
    ],
    ['where one has the name of the agent above it', () => sequential({ name: 'first', agents: [member('first')] })],
    ['where an agent would stand under itself', () => setSubAgents(desk, [sequential({ name: 'inner', agents: [desk] })])],
  ])('are refused %s', async (_, make) => {
    await expect((async () => play(make(), {}))()).rejects.toMatchObject({ code: 'agent-invalid' });
  });

  it('may stand in a sequence twice, when it is the same one', async () => {
    const first = member('first');
    const { outcome, run } = await play(sequential({ name: 'both', agents: [first, first] }), { first: [{ text: 'A.' }, { text: 'B.' }] });
    expect(outcome).toMatchObject({ text: 'B.' });
    expect((await logOf(run)).filter(({ type }) => type === 'model-end').map(placed)).toEqual([
      'model-end both/first',
      'model-end both/first#2',
    ]);
  });
});

describe('what defines no group of agents', () => {
  it.each([
    ['maxIterations must be a whole number from 1 to 10000. It is missing.', () => loop({ name: 'l', agents: [member('a')] } as never)],
    ['maxIterations must be a whole number from 1 to 10000. It is 0.', () => loop({ name: 'l', agents: [member('a')], maxIterations: 0 })],
    ['at least one agent', () => sequential({ name: 's', agents: [] })],
    ['there is no option "isolated"; did you mean isolate?', () => parallel({ name: 'p', agents: [member('a')], isolated: true } as never)],
    ['are set already', () => setSubAgents(setSubAgents(member('a'), [member('b')]), [member('c')])],
    ['run must be an async generator: async *run(input, ctx) { … }. It is missing.', () => customAgent({ name: 'c' } as never)],
  ])('is refused: %s', (problem, make) => {
    expect(make).toThrow(problem);
  });

  it('is refused: a sub-agent with another parent', () => {
    const shared = member('shared');
    setSubAgents(member('a'), [shared]);
    expect(() => setSubAgents(member('b'), [shared])).toThrow('"shared" is a sub-agent of "a" already');
  });
});

it('what an agent leaves behind is told by name: a custom agent may not end before those that it runs', async () => {
  const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Ready?')) };
  const hasty = byHand(
    'hasty',
    async function* (_, ctx) {
      await Promise.race([ctx.runAgent('slow', 'x'), Promise.resolve()]);
      return 'done';
    },
    [member('slow', { middleware: [asking] })],
  );
  const { outcome } = await play(hasty, { slow: [] });
  expect(outcome).toMatchObject(failureSaying('next-left-running', 'ctx.runAgent("slow") was still running'));
});

it('questions of layers whose names read alike have ids of their own', async () => {
  const ask = (name: string): AgentMiddleware => ({ name, beforeAgent: async (_, ctx) => void (await ctx.interrupt(name)) });
  const model = scripts({ a: [{ text: 'A.' }] });
  const run = await testRun(member('a', { middleware: [ask('risk check'), ask('risk-check')] }), { input: 'Go.', model, tools });
  const [first] = await run.interrupts();
  await run.resume(first?.id ?? '', 'yes');
  const [second] = await run.interrupts();
  expect(second?.id).not.toBe(first?.id);
  await expect(run.resume(first?.id ?? '', 'yes')).rejects.toMatchObject({ code: 'interrupt-answered' });
});

it('an input that ends in calls of tools is refused by agents that are made of others', async () => {
  const input = [
    { role: 'user', parts: [{ type: 'text', text: 'x' }] },
    { role: 'assistant', parts: [{ type: 'tool-call', id: '1', name: 'echo', input: { text: 'x' } }] },
  ] as const;
  const run = await testRun(sequential({ name: 's', agents: [member('a', { tools: ['echo'] })] }), {
    input: input,
    model: scripts({ a: [] }),
    tools,
    runPendingToolCalls: true,
  });
  expect(await run.outcome()).toMatchObject(failureSaying('input-invalid'));
});

it('the transcript has the result of transfer_to_agent where its call stands', async () => {
  const first = defineAgent({
    name: 'first',
    description: 'First.',
    instructions: '',
    model: 'first',
    tools: ['echo'],
    subAgents: [member('second', { model: 'second', tools: ['echo'] })],
  });
  const model = scriptedModel({
    first: [{ toolCalls: [{ name: 'transfer_to_agent', input: { agent_name: 'second' } }, echo('x')] }],
    second: [{ text: 'Second here.' }],
  });
  const run = await startRun(first, model);
  await run.outcome();
  expect((await transcriptOf(run)).slice(2)).toEqual([
    'tool: successfully transferred to agent [second]',
    'tool: x',
    'assistant: Second here.',
  ]);
  expect(model.requests[1]?.messages.map(lineOf).slice(-2)).toEqual([
    'user: For context: [first] `transfer_to_agent` tool returned result: successfully transferred to agent [second].',
    'user: For context: [first] `echo` tool returned result: x.',
  ]);
});
