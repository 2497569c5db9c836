import type { ScriptedStep, TestConversation } from 'holdfast/testing';
import { scriptedModel, testConversation } from 'holdfast/testing';
import { agentTool, sequential } from 'holdfast/workflow';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { externalCallIn } from '../../../contract/external-calls';
import { limits } from '../../../contract/limits';
import { aguiApp, inputWith, postTo, shortOf } from '../../support/agui-bed';
import { errorSaying } from '../../support/failures';
import { agentWith, echo, lineOf, logOf, tools } from '../../support/memory-bed';
import { openAiAt, responsesApp, shortItem } from '../../support/responses-bed';
import { member } from '../../support/team-bed';

const pickColor = {
  name: 'pickColor',
  description: 'Lets the user pick.',
  inputSchema: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
};
const pick = (of: string): { name: string; input: Json } => ({ name: 'pickColor', input: { of } });
const done: ScriptedStep = { text: 'Done.' };

async function begin(options: Parameters<typeof agentWith>[0], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const chat = await testConversation(agentWith({ clientTools: true, tools: ['echo'], ...options }), { model, tools });
  return { chat, model };
}

const toolsAsked = (model: ReturnType<typeof scriptedModel>): readonly (readonly string[])[] =>
  model.requests.map((request) => request.tools.map(({ name }) => name));

async function answer(chat: TestConversation, output: Json): Promise<void> {
  const [open] = await chat.run.interrupts();
  await chat.run.resume(open?.id ?? '', { output });
}

describe('tools that a message brings', () => {
  it('are told to the model, and their calls are made by whoever answers', async () => {
    const { chat, model } = await begin({}, { toolCalls: [pick('car'), echo('own')] }, done);
    await chat.send('Hi', { tools: [pickColor] });
    expect((await chat.run.interrupts()).map(externalCallIn)).toEqual([{ tool: 'pickColor', callId: 'call-1-1', input: { of: 'car' } }]);
    expect(model.requests[0]?.tools).toContainEqual(pickColor);
    await answer(chat, 'red');
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect(model.requests[1]?.messages.slice(-2).map(lineOf)).toEqual(['tool: red', 'tool: own']);
    expect(await logOf(chat.run)).toContainEqual(expect.objectContaining({ type: 'turn-start', turn: 1, clientTools: ['pickColor'] }));
  });

  it('are there for that turn only', async () => {
    const { chat, model } = await begin({}, { text: 'One.' }, { toolCalls: [pick('car')] }, done);
    await chat.send('Hi', { tools: [pickColor] });
    await chat.turn(1);
    await chat.send('Again');
    await chat.turn(2);
    expect(toolsAsked(model)).toEqual([['echo', 'pickColor'], ['echo'], ['echo']]);
    expect(model.requests[2]?.messages.map(lineOf).at(-1)).toMatch(
      /^tool: error The model called tool 'pickColor', which this agent does not/,
    );
  });

  it('are those of the last message that brings any, where a turn takes several', async () => {
    const { chat, model } = await begin({}, { text: 'One.' }, done);
    await chat.pause();
    await chat.send('First', { tools: [{ name: 'old' }] });
    await chat.send('Second', { tools: [pickColor] });
    await chat.send('Third');
    await chat.unpause();
    await chat.turn(1);
    expect(toolsAsked(model)).toEqual([['echo', 'pickColor']]);
  });

  it('stay over a continue-as-new, with a call that waits and with a message that does', async () => {
    const { chat, model } = await begin({}, { toolCalls: [pick('car')] }, { toolCalls: [pick('roof')] }, { text: 'One.' }, done);
    await chat.send('Hi', { tools: [pickColor] });
    await chat.run.interrupts();
    await chat.send('Later', { tools: [{ name: 'other' }] });
    await chat.run.goOnAsNew();
    await answer(chat, 'red');
    expect((await chat.run.interrupts()).map(externalCallIn)).toMatchObject([{ tool: 'pickColor', input: { of: 'roof' } }]);
    await chat.run.goOnAsNew();
    await answer(chat, 'blue');
    await chat.turn(2);
    expect(toolsAsked(model)).toEqual([
      ['echo', 'pickColor'],
      ['echo', 'pickColor'],
      ['echo', 'pickColor'],
      ['echo', 'other'],
    ]);
  });

  it('take no arguments where their schema is left out', async () => {
    const { chat, model } = await begin({}, done);
    await chat.send('Hi', { tools: [{ name: 'ping' }] });
    await chat.turn(1);
    expect(model.requests[0]?.tools.at(-1)).toEqual({ name: 'ping', description: '', inputSchema: { type: 'object', properties: {} } });
  });

  it('take no name from the agent, from its aliases or from a worker', async () => {
    const named = ['echo', 'say', 'add', 'exit', 'transfer_to_agent', 'mine'];
    const toolAliases = { echo: { names: ['say'] } };
    const { chat, model } = await begin(
      { toolAliases, exitTool: true },
      { toolCalls: [echo('own'), { name: 'say', input: { text: 'alias' } }] },
      done,
    );
    await chat.send('Hi', { tools: named.map((name) => ({ name, description: 'Forged.' })) });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect(toolsAsked(model)[0]).toEqual(['echo', 'mine', 'exit']);
    expect(model.requests[0]?.tools.map(({ description }) => description).filter((told) => told === 'Forged.')).toHaveLength(1);
    expect(model.requests[1]?.messages.slice(-2).map(lineOf)).toEqual(['tool: own', 'tool: alias']);
  });

  it('are wrapped by no layer, and a hook can hide them from the model', async () => {
    const wrapped: string[] = [];
    const watching: AgentMiddleware = { name: 'watching', wrapToolCall: (call, next) => (wrapped.push(call.name), next(call)) };
    const hiding: AgentMiddleware = {
      name: 'hiding',
      beforeModelRewriteState: ({ tools: offered, messages }) =>
        messages.length > 2 ? { tools: offered.filter((tool) => tool === 'echo') } : undefined,
    };
    const { chat, model } = await begin({ middleware: [watching, hiding] }, { toolCalls: [pick('car')] }, done);
    await chat.send('Hi', { tools: [pickColor] });
    await answer(chat, 'red');
    await chat.turn(1);
    expect(wrapped).toEqual([]);
    expect(toolsAsked(model)).toEqual([['echo', 'pickColor'], ['echo']]);
  });

  it('are those of the agents that take them, of several, and not of an isolated one', async () => {
    const model = scriptedModel([{ text: 'A.' }, { text: 'B.' }]);
    const agents = [member('plain'), member('open', { clientTools: ['pickColor'] })];
    const chat = await testConversation(sequential({ name: 'team', agents }), { model, tools });
    await chat.send('Hi', { tools: [pickColor] });
    await chat.turn(1);
    expect(toolsAsked(model)).toEqual([[], ['pickColor']]);
    for (const isolate of [false, true]) {
      const helper = agentTool(member('helper', { clientTools: true }), { isolate });
      const { chat: other, model: asked } = await begin(
        { tools: [helper] },
        { toolCalls: [{ name: 'helper', input: { request: 'Go.' } }] },
        done,
        done,
      );
      await other.send('Hi', { tools: [pickColor] });
      await other.turn(1);
      expect(toolsAsked(asked)[1]).toEqual(isolate ? [] : ['pickColor']);
    }
  });

  it('count once with their message', async () => {
    const { chat, model } = await begin({}, done);
    for (const sent of [[pickColor], [{ name: 'other' }]]) await chat.send('Hi', { id: 'm', tools: sent });
    await chat.turn(1);
    expect(toolsAsked(model)).toEqual([['echo', 'pickColor']]);
  });
});

describe('a tool of a client is refused', () => {
  it.each<[string, Parameters<typeof agentWith>[0]]>([
    ['by an agent that takes none', { clientTools: false }],
    ['by an agent that takes others', { clientTools: ['pickHue'] }],
  ])('%s, and no turn begins', async (_, options) => {
    const { chat } = await begin(options, done);
    await expect(chat.send('Hi', { tools: [pickColor] })).rejects.toMatchObject({ code: 'client-tools-refused' });
    expect(await chat.view()).toMatchObject({ turn: 0, queue: [] });
  });

  it.each<[string, Json, string]>([
    ['without a name', {}, 'tools[0].name must be'],
    ['with a name that none can have', { name: 'a b' }, 'tools[0].name must be'],
    ['with a schema that is none', { name: 'a', inputSchema: { type: 'thing' } }, 'must be a JSON Schema'],
    ['with a schema of no object', { name: 'a', inputSchema: { type: 'string' } }, 'with the type "object"'],
    ['with a description that is no text', { name: 'a', description: 5 }, 'tools[0].description must be a string'],
    ['with something that could run', { name: 'a', execute: 'rm' }, 'there is no option "tools[0].execute"'],
    ['that is too large', { name: 'a', description: 'x'.repeat(limits.clientToolBytes) }, `at most ${limits.clientToolBytes} fit`],
  ])('%s', async (_, tool, why) => {
    const { chat } = await begin({}, done);
    const refused = expect.objectContaining({ code: 'request-invalid', message: expect.stringContaining(why) });
    await expect(chat.send('Hi', { tools: [tool as never] })).rejects.toEqual(refused);
    expect((await chat.view()).turn).toBe(0);
  });

  it('that stands there twice, among too many, or for a turn that is at work', async () => {
    const { chat } = await begin({}, done);
    const refused = { code: 'request-invalid' };
    await expect(chat.send('Hi', { tools: [pickColor, pickColor] })).rejects.toMatchObject(refused);
    const many = Array.from({ length: limits.clientTools + 1 }, (_, nth) => ({ name: `tool${nth}` }));
    await expect(chat.send('Hi', { tools: many })).rejects.toMatchObject(refused);
    await expect(chat.send('Hi', { mode: 'next-step', tools: [pickColor] })).rejects.toMatchObject(refused);
    await expect(chat.send('Hi', { tools: 'all' as never })).rejects.toMatchObject(refused);
  });

  it.each<[Json]>([['yes'], [[]], [['a b']], [['a', 'a']]])('by a definition: %j says nothing of what is taken', (clientTools) => {
    expect(() => agentWith({ clientTools: clientTools as never })).toThrow(errorSaying('agent-invalid'));
  });

  it('when those of messages that wait would be too large together', async () => {
    const { chat } = await begin({}, done);
    await chat.pause();
    const large = [{ name: 'a', description: 'x'.repeat(limits.clientToolBytes - 200) }];
    const most = Math.floor(limits.queuedTogether / limits.clientToolBytes) + 2;
    const sent = await Promise.allSettled(Array.from({ length: most }, () => chat.send('Hi', { tools: large })));
    const refused = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ code: 'conversation-full' });
  });
});

describe('a page of AG-UI', () => {
  const ofPage = [{ name: 'pickColor', description: 'Lets the user pick.', parameters: pickColor.inputSchema }];
  const said = (fields: Readonly<Record<string, Json>>): Json =>
    inputWith({ messages: [{ id: 'u', role: 'user', content: 'Hi.' }], ...fields });

  it('makes the calls of tools that it names, and its results go on with the turn', async () => {
    const { chat, model } = await begin({}, { toolCalls: [pick('car')] }, done);
    const app = aguiApp(chat, {}, 'agent', { clientTools: true });
    const first = await postTo(app, '/agui/agent', said({ tools: ofPage }));
    expect(first.events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['call-1-1'] } });
    const result = { id: 't', role: 'tool', toolCallId: 'call-1-1', content: 'red' };
    const last = await postTo(app, '/agui/agent', inputWith({ tools: ofPage, messages: [result] }));
    expect(last.events.map(shortOf)).toContain('TEXT_MESSAGE_CONTENT Done.');
    expect(toolsAsked(model)).toEqual([
      ['echo', 'pickColor'],
      ['echo', 'pickColor'],
    ]);
  });

  it.each<[string, true | readonly string[] | undefined, readonly string[]]>([
    ['none of them', undefined, ['echo']],
    ['those of its list', ['other'], ['echo', 'other']],
  ])('names what it has to every agent, and one takes %s', async (_, clientTools, offered) => {
    const { chat, model } = await begin({ clientTools: clientTools ?? false }, done);
    const app = aguiApp(chat, {}, 'agent', clientTools === undefined ? {} : { clientTools });
    const { events } = await postTo(app, '/agui/agent', said({ tools: [...ofPage, { name: 'other', description: '' }] }));
    expect(events.map(shortOf).at(-1)).toBe('RUN_FINISHED success');
    expect(toolsAsked(model)).toEqual([offered]);
  });

  it('is told before the run of a tool that could not be one, and of what the agent takes', async () => {
    const { chat } = await begin({}, done);
    const app = aguiApp(chat, {}, 'agent', { clientTools: true });
    const { status, text } = await postTo(app, '/agui/agent', said({ tools: [{ name: 'a', description: '', parameters: { type: 5 } }] }));
    expect([status, text]).toEqual([400, expect.stringContaining('request-invalid')]);
    expect((await chat.view()).turn).toBe(0);
    const capabilities = (await (await app.request('/agui/agent')).json()) as { tools: { clientProvided: boolean } };
    expect(capabilities.tools.clientProvided).toBe(true);
  });
});

describe('the client of OpenAI', () => {
  const functionTool = {
    type: 'function' as const,
    name: 'pickColor',
    description: 'Lets the user pick.',
    parameters: pickColor.inputSchema,
    strict: null,
  };

  it('makes the calls of its functions, and the agent goes on with the outputs', async () => {
    const { chat, model } = await begin({}, { toolCalls: [pick('car')] }, done);
    const client = openAiAt(responsesApp(chat, { clientTools: true }));
    const first = await client.responses.create({ model: 'agent', input: 'Hi', tools: [functionTool] });
    expect(first.output.map(shortItem)).toEqual(['function_call pickColor {"of":"car"}']);
    const input = [{ type: 'function_call_output' as const, call_id: 'call-1-1', output: 'red' }];
    const last = await client.responses.create({ model: 'agent', previous_response_id: first.id, input, tools: [functionTool] });
    expect(last.output_text).toBe('Done.');
    expect(model.requests[0]?.tools).toContainEqual(pickColor);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', parts: [{ output: 'red' }] });
  });

  it('may name the tools that the agent has itself, and is refused others before anything begins', async () => {
    const { chat } = await begin({ clientTools: false }, done);
    const client = openAiAt(responsesApp(chat, { tools: ['echo'] }));
    const refused = { status: 400, code: 'client-tools-refused' };
    await expect(client.responses.create({ model: 'agent', input: 'Hi', tools: [functionTool] })).rejects.toMatchObject(refused);
    expect((await chat.view()).turn).toBe(0);
    const own = { ...functionTool, name: 'echo' };
    expect((await client.responses.create({ model: 'agent', input: 'Hi', tools: [own] })).output_text).toBe('Done.');
  });
});
