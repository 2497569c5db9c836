import { z } from 'zod';
import type { ScriptedStep, TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { agentTool, sequential } from 'holdfast/workflow';
import type { RunEvent } from '../../../contract/events';
import { externalCallIn } from '../../../contract/external-calls';
import { limits } from '../../../contract/limits';
import { member } from '../../support/team-bed';
import { errorSaying, failureSaying } from '../../support/failures';
import { agentWith, echo, eventLine, gate, lineOf, logOf, tools } from '../../support/memory-bed';

const pickColor = defineTool({ description: 'Lets the user pick.', inputSchema: z.object({ of: z.string() }), external: true });
const door = { current: gate() };
const held = defineTool({ description: 'Waits.', inputSchema: z.object({}), execute: () => door.current.opened.then(() => 'held') });
const all = { ...tools, pickColor, held };
const pick = (of: string): { name: string; input: Json } => ({ name: 'pickColor', input: { of } });
const done: ScriptedStep = { text: 'Done.' };

async function start(options: Parameters<typeof agentWith>[0], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const chat = await testConversation(agentWith({ tools: ['echo', 'held', 'pickColor'], ...options }), { model, tools: all });
  await chat.send('Hi');
  return { chat, model };
}

async function waiting(chat: TestConversation): Promise<Readonly<Record<string, string>>> {
  const open = await chat.run.interrupts();
  return Object.fromEntries(open.map((one) => [(externalCallIn(one)?.input as { of: string }).of, one.id]));
}

const answer = async (chat: TestConversation, of: string, given: Json): Promise<void> =>
  chat.run.resume((await waiting(chat))[of] ?? '', given);
const saidIn = async (chat: TestConversation): Promise<readonly string[]> =>
  (await chat.transcript()).messages.map(({ message }) => lineOf(message));

describe('a turn that calls an external tool', () => {
  it('asks for its result, and goes on with it', async () => {
    const { chat, model } = await start({}, { text: 'Which one?', toolCalls: [pick('car')] }, done);
    expect(await chat.run.interrupts()).toMatchObject([
      {
        id: 'agent.t1.pickColor-0',
        kind: 'custom',
        agent: 'agent',
        info: { externalCall: { tool: 'pickColor', callId: 'call-1-1', input: { of: 'car' } } },
      },
    ]);
    expect((await chat.run.view()).status).toBe('waiting');
    await answer(chat, 'car', { output: { hue: 7 } });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect(await saidIn(chat)).toEqual([
      'user: Hi',
      'assistant: Which one? pickColor({"of":"car"})',
      'tool: {"hue":7}',
      'assistant: Done.',
    ]);
    expect(model.requests[1]?.messages.map(lineOf).at(-1)).toBe('tool: {"hue":7}');
    const log = await logOf(chat.run);
    expect(log.map(eventLine).filter((line) => /tool|interrupt/.test(line))).toEqual([
      'tool-start pickColor',
      'interrupt-start',
      'interrupt-end',
      'tool-end pickColor',
    ]);
    const [tool, end] = ['tool-start', 'tool-end'].map((type) => log.find((event) => event.type === type));
    expect(end).toMatchObject({ address: (tool as { address: string }).address, message: { role: 'tool' } });
  });

  it('fails of such an error where the agent says so, and the next turn is whole', async () => {
    const { chat, model } = await start({ toolErrors: 'fail' }, { toolCalls: [pick('car')] }, done);
    await answer(chat, 'car', { error: 'The page is closed.' });
    expect(await chat.turn(1)).toMatchObject(failureSaying('tool-failed'));
    await chat.send('Again');
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(model.requests[1]?.messages.map(lineOf).at(2)).toMatch(/^tool: error The turn ended before/);
  });

  it.each<[string, Json, string]>([
    ['is neither', 'red', 'it is no object'],
    ['has another field', { result: 'red' }, 'result is not wanted; there is output, error'],
    ['is both', { output: 'red', error: 'no' }, 'it has 2 fields, at most 1 are wanted'],
    ['has an error that is no text', { error: 5 }, 'error is no string'],
  ])('takes no answer that %s, and still waits', async (_, given, why) => {
    const { chat } = await start({}, { toolCalls: [pick('car')] }, done);
    await expect(answer(chat, 'car', given)).rejects.toMatchObject(errorSaying('answer-invalid', why));
    await answer(chat, 'car', { output: null });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  });

  it('asks for all of them together, takes them in any order, and keeps the order of the calls', async () => {
    for (const order of [
      ['car', 'roof'],
      ['roof', 'car'],
    ]) {
      const { chat, model } = await start({}, { toolCalls: [pick('car'), echo('own'), pick('roof')] }, done);
      expect(Object.keys(await waiting(chat))).toEqual(['car', 'roof']);
      for (const of of order) await answer(chat, of, { output: `${of} is red` });
      await chat.turn(1);
      expect(model.requests[1]?.messages.slice(-3).map(lineOf)).toEqual(['tool: car is red', 'tool: own', 'tool: roof is red']);
    }
  });

  it('makes its own calls meanwhile, and waits for the slowest of all', async () => {
    door.current = gate();
    const { chat } = await start({}, { toolCalls: [pick('car'), { name: 'held', input: {} }] }, done);
    const answered = chat.run.resume(await firstAsked(chat), { output: 'red' });
    await seen(chat, (event) => event.type === 'tool-end' && event.tool === 'pickColor');
    door.current.open();
    await answered;
    await chat.turn(1);
    expect((await saidIn(chat)).slice(-3)).toEqual(['tool: red', 'tool: held', 'assistant: Done.']);
  });

  it('waits on after a continue-as-new, also for the one that has no result yet, and is told of an error as of one of another tool', async () => {
    const { chat, model } = await start({}, { toolCalls: [pick('car'), pick('roof')] }, done);
    const open = await waiting(chat);
    await chat.run.goOnAsNew();
    expect(await waiting(chat)).toEqual(open);
    await answer(chat, 'roof', { error: 'There is none.' });
    await chat.run.goOnAsNew();
    expect(Object.keys(await waiting(chat))).toEqual(['car']);
    await answer(chat, 'car', { output: 'red' });
    await chat.turn(1);
    expect(model.requests[1]?.messages.slice(-2).map(lineOf)).toEqual(['tool: red', 'tool: error There is none.']);
    const log = await logOf(chat.run);
    expect(log.map(eventLine).filter((line) => line === 'tool-start pickColor')).toHaveLength(2);
    expect(log).toContainEqual(expect.objectContaining({ type: 'tool-end', error: { code: 'tool-failed', message: 'There is none.' } }));
  });

  it('calls by the own name and keys of the tool, and the model is answered by its words', async () => {
    const toolAliases = { pickColor: { names: ['choose'], arguments: { of: ['thing'] } } };
    const { chat, model } = await start({ toolAliases }, { toolCalls: [{ name: 'choose', input: { thing: 'car' } }] }, done);
    expect(await chat.run.interrupts()).toMatchObject([{ info: { externalCall: { tool: 'pickColor', input: { of: 'car' } } } }]);
    await answer(chat, 'car', { output: 'red' });
    await chat.turn(1);
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ name: 'choose', output: 'red' }]);
  });

  it('ends with the result where the agent says so', async () => {
    const { chat } = await start({ returnDirectly: ['pickColor'] }, { toolCalls: [pick('car')] });
    await answer(chat, 'car', { output: 'red' });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect((await saidIn(chat)).at(-1)).toBe('tool: red');
  });

  it('asks for one after another where the agent makes its calls so', async () => {
    const { chat } = await start({ sequentialTools: true }, { toolCalls: [pick('car'), pick('roof')] }, done);
    expect(Object.keys(await waiting(chat))).toEqual(['car']);
    await answer(chat, 'car', { output: 'red' });
    expect(Object.keys(await waiting(chat))).toEqual(['roof']);
  });

  it('wraps no layer around it, and hooks see its result', async () => {
    const wrapped: string[] = [];
    const seen: number[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      wrapToolCall: (call, next) => (wrapped.push(call.name), next(call)),
      afterToolCalls: ({ messages }) => void seen.push(messages.length),
    };
    const { chat } = await start({ middleware: [watching] }, { toolCalls: [echo('own'), pick('car')] }, done);
    await answer(chat, 'car', { output: 'red' });
    await chat.turn(1);
    expect(wrapped).toEqual(['echo']);
    expect(seen).toEqual([4]);
  });

  it('ends when the conversation is cancelled, and goes on with its result when that is resumed', async () => {
    const { chat } = await start({}, { toolCalls: [pick('car')] }, done);
    const before = await waiting(chat);
    await chat.run.cancel();
    expect(await chat.run.outcome()).toEqual({ status: 'cancelled' });
    await chat.run.resume();
    expect(await waiting(chat)).toEqual(before);
    await answer(chat, 'car', { output: 'red' });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  });

  it('takes no result any more when somebody has stopped it', async () => {
    const { chat } = await start({}, { toolCalls: [pick('car')] }, done);
    const { car = '' } = await waiting(chat);
    await chat.stop();
    expect(await chat.turn(1)).toMatchObject({ status: 'stopped' });
    await expect(chat.run.resume(car, { output: 'red' })).rejects.toMatchObject({ code: 'interrupt-withdrawn' });
    expect((await saidIn(chat)).at(-1)).toBe('tool: error The turn was stopped before somebody answered.');
  });

  it('tells the model of arguments that are too large to be shown', async () => {
    const { chat, model } = await start({}, { toolCalls: [pick('x'.repeat(limits.interrupt))] }, done);
    await chat.turn(1);
    expect(model.requests[1]?.messages.map(lineOf).at(-1)).toMatch(/^tool: error The call of 'pickColor' has \d+ bytes with its arguments/);
  });

  it('may be that of an agent of a sequence, and the next agent hears its result', async () => {
    const model = scriptedModel([{ toolCalls: [pick('car')] }, { text: 'It is red.' }, done]);
    const agents = [member('picks', { tools: ['pickColor'] }), member('paints')];
    const chat = await testConversation(sequential({ name: 'team', agents }), { model, tools: all });
    await chat.send('Hi');
    await answer(chat, 'car', { output: 'red' });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect(model.requests[2]?.messages.map(lineOf).join()).toContain('red');
  });

  it('may be that of an agent that is a tool, but not of an isolated one', async () => {
    const helper = member('helper', { tools: ['pickColor'] });
    const asks: ScriptedStep = { toolCalls: [{ name: 'helper', input: { request: 'Pick.' } }] };
    for (const isolate of [false, true]) {
      const { chat, model } = await start({ tools: [agentTool(helper, { isolate })] }, asks, { toolCalls: [pick('car')] }, done, done);
      if (!isolate) await answer(chat, 'car', { output: 'red' });
      await chat.turn(1);
      const heard = model.requests[2]?.messages.map(lineOf).at(-1);
      expect(heard).toMatch(isolate ? /^tool: error .*external tools belong to the agent/ : /^tool: red$/);
    }
  });
});

async function seen(chat: TestConversation, isIt: (event: RunEvent) => boolean): Promise<RunEvent> {
  for await (const event of chat.run.events({ until: 'end' })) if (isIt(event)) return event;
  throw new Error('The log has no such event.');
}

async function firstAsked(chat: TestConversation): Promise<string> {
  const asked = await seen(chat, ({ type }) => type === 'interrupt-start');
  return asked.type === 'interrupt-start' ? asked.interrupt.id : '';
}
