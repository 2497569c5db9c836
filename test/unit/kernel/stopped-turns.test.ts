import { z } from 'zod';
import { approval, askHuman, policy } from 'holdfast/middleware';
import type { ScriptedStep, TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware, HookContext } from 'holdfast/workflow';
import { agentTool, customAgent, defineAgent, parallel, sequential } from 'holdfast/workflow';
import type { RunEvent } from '../../../contract/events';
import { agentWith, echo, eventLine, gate, lineOf, logOf, toolOf, tools, withHook } from '../../support/memory-bed';
import { member } from '../../support/team-bed';

const lead = { name: 'agent', description: 'Leads.', instructions: 'Lead.', model: 'test/model' };
const stoppedWaiting = 'tool: error The turn was stopped before somebody answered.';
const done: ScriptedStep = { text: 'Done.' };
const next: ScriptedStep = { text: 'Next.' };
const said: string[] = [];
const speak = defineTool({
  description: 'Speaks.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }) => (said.push(text), text),
});
const door = { current: gate() };
const held = defineTool({ description: 'Waits.', inputSchema: z.object({}), execute: () => door.current.opened.then(() => 'held') });
const asks = toolOf((_, call) => (call.resumed === undefined ? call.interrupt('Which?') : 'answered'));
const pickColor = defineTool({ description: 'Lets the user pick.', inputSchema: z.object({}), external: true });
const all = { ...tools, speak, held, asks, pickColor };
const speaks = (text: string) => ({ name: 'speak', input: { text } });
const rules = approval({ tools: { speak: true } });
const speaker = agentWith({ tools: ['speak'], middleware: [rules] });
const asksHelper: ScriptedStep = { toolCalls: [{ name: 'helper', input: { request: 'Speak.' } }] };

beforeEach(() => {
  said.length = 0;
  door.current = gate();
});

async function start(agent: Parameters<typeof testConversation>[0], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const chat = await testConversation(agent, { model, tools: all });
  await chat.send('Hi');
  await ticks();
  return { chat, model };
}

const ticks = async (): Promise<void> => {
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
};

async function stopped(chat: TestConversation): Promise<void> {
  await chat.stop();
  expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
}

const idOf = async (chat: TestConversation): Promise<string> => (await chat.run.interrupts())[0]?.id ?? '';
const transcriptOf = async (chat: TestConversation): Promise<readonly string[]> =>
  (await chat.transcript()).messages.map(({ message }) => lineOf(message));

async function endingOf(chat: TestConversation): Promise<readonly string[]> {
  const shown = (event: RunEvent): string[] => {
    if (event.type === 'interrupt-end') return [`interrupt-end ${event.reason}`];
    if (event.type === 'turn-end') return [`turn-end ${event.status}`];
    if (event.type === 'tool-end') return [`${eventLine(event)} ${event.error?.code ?? 'ok'}`];
    return event.type === 'conversation-change' ? [event.change] : [];
  };
  return (await logOf(chat.run)).flatMap(shown);
}

async function goesOn(chat: TestConversation, turn = 2): Promise<void> {
  expect(await chat.send('And now?')).toMatchObject({ turn });
  expect(await chat.turn(turn)).toMatchObject({ status: 'completed' });
  expect((await transcriptOf(chat)).at(-1)).toBe('assistant: Next.');
}

describe('a turn that waits for an approval', () => {
  it('ends when somebody stops it: the question is withdrawn, and the call has a result that says so', async () => {
    const { chat, model } = await start(speaker, { toolCalls: [speaks('a')] }, next);
    const id = await idOf(chat);
    await chat.stop({ by: 'Ann' });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await endingOf(chat)).toEqual(['stopping', 'interrupt-end cancel', 'tool-end speak turn-stopped', 'turn-end stopped']);
    expect(await chat.run.interrupts()).toEqual([]);
    expect((await chat.run.view()).status).toBe('idle');
    await expect(chat.run.approve(id)).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    await goesOn(chat);
    expect(said).toEqual([]);
    expect(model.requests[1]?.messages.map(lineOf).slice(-2)).toEqual([stoppedWaiting, 'user: And now?']);
  });

  it('ends for a message that is for now, which begins the next turn', async () => {
    const { chat } = await start(speaker, { toolCalls: [speaks('a')] }, next);
    expect(await chat.send('No, wait.', { mode: 'now' })).toMatchObject({ turn: 2 });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect((await transcriptOf(chat)).slice(-3)).toEqual([stoppedWaiting, 'user: No, wait.', 'assistant: Next.']);
  });

  it('ends with the conversation that ends now', async () => {
    const { chat } = await start(speaker, { toolCalls: [speaks('a')] });
    await chat.end({ mode: 'now' });
    expect(await chat.run.outcome()).toMatchObject({ status: 'completed', output: { turns: 1 } });
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
  });

  it('goes on waiting while the conversation is paused, and ends when it is unpaused', async () => {
    const { chat } = await start(speaker, { toolCalls: [speaks('a')] }, next);
    await chat.pause();
    await chat.send('No, wait.', { mode: 'now' });
    expect(await chat.run.interrupts()).toHaveLength(1);
    await chat.unpause();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
  });

  it('ends as stopped also where errors of tools end the turn', async () => {
    const agent = agentWith({ tools: ['speak'], middleware: [rules], toolErrors: 'fail' });
    const { chat } = await start(agent, { toolCalls: [speaks('a')] }, next);
    await stopped(chat);
    await goesOn(chat);
  });

  it('waits for the tools under way, and keeps their results', async () => {
    const agent = agentWith({ tools: ['speak', 'held', 'echo'], middleware: [rules] });
    const { chat, model } = await start(agent, { toolCalls: [speaks('a'), { name: 'held', input: {} }, echo('x')] }, next);
    await chat.stop();
    door.current.open();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    await goesOn(chat);
    const ends = await endingOf(chat);
    expect(ends.indexOf('interrupt-end cancel')).toBeLessThan(ends.indexOf('tool-end held ok'));
    expect(model.requests[1]?.messages.slice(2, 5).map(lineOf)).toEqual([stoppedWaiting, 'tool: held', 'tool: x']);
  });

  it('begins no call after the one that waited, where calls follow on each other', async () => {
    const agent = agentWith({ tools: ['speak', 'echo'], middleware: [rules], sequentialTools: true });
    const { chat } = await start(agent, { toolCalls: [speaks('a'), echo('x')] }, next);
    await stopped(chat);
    expect((await transcriptOf(chat)).slice(-2)).toEqual([stoppedWaiting, 'tool: error The turn was stopped before this call began.']);
    await goesOn(chat);
  });

  it('makes no call that was approved in the moment before', async () => {
    const slow = withHook('slow', 'wrapToolCall', async (call, pass, ctx) => {
      await ctx.sleep('1m');
      return pass(call);
    });
    const { chat } = await start(agentWith({ tools: ['speak'], middleware: [rules, slow] }), { toolCalls: [speaks('a')] }, next);
    await chat.run.approve(await idOf(chat));
    await chat.stop();
    await chat.run.advance('1m');
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect((await transcriptOf(chat)).at(-1)).toBe('tool: error The turn was stopped before this call began.');
    expect(said).toEqual([]);
  });

  it('makes no call whose changed arguments are still looked at', async () => {
    const chosen = z.object({ text: z.string().refine(async (text) => text !== 'b' || (await door.current.opened, true)) });
    const slow = defineTool({ description: 'Speaks.', inputSchema: chosen, execute: ({ text }) => (said.push(text), text) });
    const chat = await testConversation(speaker, {
      model: scriptedModel([{ toolCalls: [speaks('a')] }, next]),
      tools: { ...all, speak: slow },
    });
    await chat.send('Hi');
    await ticks();
    await chat.run.approve(await idOf(chat), { editedInput: { text: 'b' } });
    await ticks();
    await chat.stop();
    door.current.open();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect(said).toEqual([]);
    await goesOn(chat);
  });

  it('keeps what one of two people has decided out of the call', async () => {
    const two = policy({ name: 'two', tools: ['speak'], stages: [{ name: 'both', need: 2 }] });
    const { chat } = await start(agentWith({ tools: ['speak'], middleware: [two] }), { toolCalls: [speaks('a')] }, next);
    await chat.run.approve(await idOf(chat), { by: 'ada' });
    await chat.run.outcome();
    await stopped(chat);
    expect(said).toEqual([]);
    await goesOn(chat);
  });
});

describe('what a turn waits for', () => {
  it.each([
    ['a question of a tool', { name: 'asks', input: {} }],
    ['a question of the model', { name: 'ask_human', input: { question: 'Which?' } }],
    ['a call of the client', { name: 'pickColor', input: {} }],
  ])('may be %s, which is withdrawn', async (_, call) => {
    const agent = agentWith({ tools: ['asks', 'pickColor'], middleware: [askHuman({ toolName: 'ask_human' })] });
    const { chat } = await start(agent, { toolCalls: [call] }, next);
    const id = await idOf(chat);
    await stopped(chat);
    expect((await transcriptOf(chat)).at(-1)).toBe(stoppedWaiting);
    await expect(chat.run.resume(id, 'red')).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    await goesOn(chat);
  });

  it('may be a call of which nobody knows whether it happened, and its result says that', async () => {
    const pay = defineTool({ description: 'Pays.', inputSchema: z.object({}), effect: 'once', execute: () => 'paid' });
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', input: {} }] }, next]);
    const lose = ({ tool }: { tool: string }) => (tool === 'pay' ? ('after' as const) : undefined);
    const chat = await testConversation(agentWith({ tools: ['pay'] }), { model, tools: { pay }, lose });
    await chat.send('Hi');
    expect(await chat.run.interrupts()).toMatchObject([{ kind: 'in-doubt' }]);
    await stopped(chat);
    expect((await transcriptOf(chat)).at(-1)).toBe('tool: error Nobody knows whether this call took effect: the turn was stopped.');
    expect(await endingOf(chat)).toContain('interrupt-end cancel');
  });

  it.each([
    ['before it begins', 'beforeAgent', ['user: Hi']],
    ['behind its model', 'afterModelRewriteState', ['user: Hi', 'assistant: Done.']],
    ['behind its answer', 'afterAgent', ['user: Hi', 'assistant: Done.']],
  ] as const)('may be asked by a hook %s', async (_, hook, transcript) => {
    const asking: AgentMiddleware = { name: 'asking', [hook]: async (__: unknown, ctx: HookContext) => void (await ctx.interrupt('Go?')) };
    const { chat } = await start(agentWith({ middleware: [asking] }), ...(hook === 'beforeAgent' ? [] : [done, done]));
    await stopped(chat);
    expect(await transcriptOf(chat)).toEqual(transcript);
    await chat.send('Again.');
    await ticks();
    expect(await chat.run.interrupts()).toHaveLength(1);
  });

  it('may be asked between a model and its tools: their calls have a result for the next turn', async () => {
    const asking = withHook('asking', 'afterModelRewriteState', async ({ messages }, ctx) => {
      if (messages.length === 2) await ctx.interrupt('Go?');
    });
    const { chat, model } = await start(agentWith({ middleware: [asking] }), { toolCalls: [echo('x')] }, next);
    await chat.stop();
    await goesOn(chat);
    expect(model.requests[1]?.messages.map(lineOf)).toContain('tool: error The turn was stopped before this call had a result.');
  });

  it('may be asked by an agent that is a tool, which ends with it', async () => {
    const helper = member('helper', { tools: ['speak'], middleware: [rules] });
    const agent = defineAgent({ ...lead, tools: [agentTool(helper)] });
    const { chat } = await start(agent, asksHelper, { toolCalls: [speaks('a')] }, next);
    await stopped(chat);
    expect((await transcriptOf(chat)).at(-1)).toBe(stoppedWaiting);
    await goesOn(chat);
  });

  it('may be asked by an isolated agent, which is cancelled', async () => {
    const helper = member('helper', { tools: ['speak'], middleware: [rules] });
    const agent = defineAgent({ ...lead, tools: [agentTool(helper, { isolate: true })] });
    const { chat } = await start(agent, asksHelper, { toolCalls: [speaks('a')] }, next);
    const id = await idOf(chat);
    await stopped(chat);
    expect(await chat.run.interrupts()).toEqual([]);
    await expect(chat.run.approve(id)).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    await goesOn(chat);
    expect(said).toEqual([]);
  });

  it.each([false, true])('may be asked by one of several agents at once (isolated: %s)', async (isolate) => {
    const agents = [member('first', { tools: ['speak'], middleware: [rules] }), member('second')];
    const { chat } = await start(parallel({ name: 'both', agents, isolate }), { toolCalls: [speaks('a')] }, done, done, next);
    await stopped(chat);
    expect(await chat.view()).toMatchObject({ status: 'idle' });
    expect(said).toEqual([]);
  });

  it('may be asked by the first of a sequence, and the others do not begin', async () => {
    const agents = [member('first', { tools: ['speak'], middleware: [rules] }), member('second')];
    const { chat, model } = await start(sequential({ name: 'team', agents }), { toolCalls: [speaks('a')] }, next, next);
    await stopped(chat);
    expect(model.requests).toHaveLength(1);
    await goesOn(chat);
  });

  it('may be asked by an agent that is made by hand, whose agents are waited for', async () => {
    const made = customAgent({
      name: 'made',
      description: 'Made by hand.',
      agents: [member('worker', { tools: ['held'] })],
      async *run(_, ctx) {
        await Promise.all([ctx.runAgent('worker', 'Work.'), ctx.interrupt('Go?')]);
        return 'Gone.';
      },
    });
    const { chat } = await start(made, { toolCalls: [{ name: 'held', input: {} }] }, done);
    await chat.stop();
    await ticks();
    door.current.open();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect((await logOf(chat.run)).map(eventLine).filter((line) => /-end/.test(line))).toEqual([
      ...['model-end', 'interrupt-end', 'tool-end held', 'model-end', 'agent-end', 'turn-end'],
    ]);
  });

  it('may be more than is shown at once', async () => {
    const many = Array.from({ length: 250 }, (_, n) =>
      member(`asks${n}`, { middleware: [{ name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?')) }] }),
    );
    const { chat } = await start(parallel({ name: 'many', agents: many }));
    expect(await chat.run.interrupts()).toHaveLength(200);
    await stopped(chat);
    expect(await chat.run.interrupts()).toEqual([]);
  });
});

describe('code that does not heed that its question was withdrawn', () => {
  const deaf = withHook('deaf', 'wrapToolCall', async (call, pass, ctx) => {
    await ctx.approve(call).catch(() => undefined);
    return pass(call);
  });

  it('makes no call', async () => {
    const { chat } = await start(agentWith({ tools: ['speak'], middleware: [deaf] }), { toolCalls: [speaks('a')] }, next);
    await stopped(chat);
    expect(said).toEqual([]);
  });

  it('makes none inside of an agent that is a tool either', async () => {
    const agent = defineAgent({ ...lead, tools: [agentTool(member('helper', { tools: ['speak'], middleware: [deaf] }))] });
    const { chat } = await start(agent, asksHelper, { toolCalls: [speaks('a')] }, next);
    await stopped(chat);
    expect(said).toEqual([]);
  });

  const stubborn = async (act: () => Promise<unknown>): Promise<never> => {
    for (;;) await act().catch(() => undefined);
  };
  it.each<[string, AgentMiddleware]>([
    ['for an answer', withHook('stubborn', 'beforeAgent', (_, ctx) => stubborn(() => ctx.interrupt('Go?')))],
    ['in a race', withHook('stubborn', 'beforeAgent', (_, ctx) => stubborn(() => ctx.race({ asks: (inner) => inner.interrupt('Go?') })))],
    [
      'for a model',
      withHook('stubborn', 'wrapModel', async (request, pass, ctx) => {
        await ctx.interrupt('Go?').catch(() => undefined);
        return stubborn(() => pass(request));
      }),
    ],
    [
      'for a tool',
      withHook('stubborn', 'wrapToolCall', async (call, pass, ctx) => {
        await ctx.interrupt('Go?').catch(() => undefined);
        return stubborn(() => pass(call));
      }),
    ],
  ])('is halted if it asks for ever: %s', async (_, layer) => {
    const agent = agentWith({ tools: ['speak'], middleware: [layer] });
    const { chat } = await start(agent, { toolCalls: [speaks('a')] });
    await stopped(chat);
    expect(said).toEqual([]);
    expect((await chat.run.view()).status).toBe('idle');
  });

  it('may do something behind it, also over a continue-as-new, and asks nobody', async () => {
    const careful = withHook('careful', 'wrapToolCall', async (call, pass, ctx) => {
      const answer = await ctx.interrupt<string>('Go?').catch(() => 'stopped');
      await ctx.sleep('1d');
      const again = await ctx.interrupt<string>('Sure?').catch(() => 'stopped');
      return answer === 'stopped' ? `${again}, cleaned up` : pass(call);
    });
    const { chat } = await start(agentWith({ tools: ['speak'], middleware: [careful] }), { toolCalls: [speaks('a')] }, next);
    await chat.stop();
    await chat.run.goOnAsNew();
    expect(await chat.run.interrupts()).toEqual([]);
    await chat.run.advance('1d');
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    expect((await transcriptOf(chat)).at(-1)).toBe('tool: stopped, cleaned up');
    await goesOn(chat);
  });
});

describe('a turn that was told to stop', () => {
  it.each(['withdraw', 'pause'] as const)('stops, also if somebody does "%s" meanwhile', async (how) => {
    const { chat } = await start(agentWith({ tools: ['held'] }), { toolCalls: [{ name: 'held', input: {} }] }, next);
    await chat.send('Stop!', { mode: 'now', id: 'stop' });
    await (how === 'pause' ? chat.pause() : chat.withdraw('stop'));
    door.current.open();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    if (how === 'pause') await chat.unpause();
    else await goesOn(chat);
    expect(await chat.run.outcome()).toEqual({ status: 'idle' });
  });

  it('stops when it goes on under another build, where nobody is asked any more', async () => {
    const { chat } = await start(speaker, { toolCalls: [speaks('a')] }, next);
    await chat.run.goOnAsNew();
    await stopped(chat);
    await goesOn(chat);
  });
});
