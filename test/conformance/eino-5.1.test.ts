import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, Json } from '../../workflows/index';
import { agenticMiddleware, withInstruction, withTools, withToolsFunc } from '../../workflows/index';
import { agentUnder, agentWith, echo, linesOf, logOf, tools, transcriptOf } from '../support/memory-bed';
import { gate } from '../support/gate';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import { holder } from './tools';

afterAll(closeEngines);

const user = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });
const answer = () => scriptedModel([{ text: 'Done.' }]);
const oneCall = (name = 'echo') => scriptedModel([{ toolCalls: [{ name, input: { text: 'x' } }] }, { text: 'Done.' }]);
const throws = (hook: string): AgentMiddleware => ({
  name: 'failing',
  [hook]: () => {
    throw new Error('no');
  },
});
const failed = (message: string) => ({ status: 'failed', error: { code: 'hook-failed', message } });

it('[eino 1] texts that three hooks add reach the model beside the own ones', async () => {
  const model = answer();
  const agent = agentUnder(withInstruction('One.'), withInstruction('Two.'), withInstruction('Three.'));
  await (await testRun(agent, { input: 'Hi', model, tools })).outcome();
  expect(model.requests[0]?.instructions).toBe('Be a test.\n\nOne.\n\nTwo.\n\nThree.');
});

it('[eino 2] a classic instruction stands before what a handler adds', async () => {
  const model = answer();
  const agent = agentWith({ middleware: [withInstruction('Handler.'), { additionalInstruction: 'Classic.' }] });
  await (await testRun(agent, { input: 'Hi', model, tools })).outcome();
  expect(model.requests[0]?.instructions).toBe('Be a test.\n\nClassic.\n\nHandler.');
});

it('[eino 3] a tool that a hook adds is offered beside the own one', async () => {
  const model = answer();
  await (await testRun(agentWith({ tools: ['echo'], middleware: [withTools('add')] }), { input: 'Hi', model, tools })).outcome();
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'add']);
});

it('[eino 4] a tool that a hook takes away is not offered', async () => {
  const model = answer();
  const agent = agentUnder(withToolsFunc((names) => names.filter((name) => name !== 'add')));
  await (await testRun(agent, { input: 'Hi', model, tools })).outcome();
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'fail']);
});

onEngines('[eino 6] an agent without tools is given one, which the model calls', async (engine) => {
  const model = oneCall();
  const run = await engine.play(agents.givenTool, { model });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: echo({"text":"x"})', 'tool: x', 'assistant: Done.']);
  expect(model.requests).toHaveLength(2);
});

it('[eino 7] messages that two hooks append reach the model', async () => {
  const model = answer();
  const append = (name: string): AgentMiddleware => ({
    name,
    beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, user(name)] }),
  });
  await (await testRun(agentUnder(append('A'), append('B')), { input: 'Hi', model, tools })).outcome();
  const { instructions, messages } = model.requests[0] ?? { instructions: '', messages: [] };
  expect([instructions, ...messages.map(({ parts }) => (parts[0]?.type === 'text' ? parts[0].text : ''))]).toEqual([
    'Be a test.',
    'Hi',
    'A',
    'B',
  ]);
});

it('[eino 8] after the model the last message is the answer', async () => {
  const seen: string[] = [];
  const watching: AgentMiddleware = {
    name: 'watching',
    afterModelRewriteState: ({ messages }) => void seen.push(messages.at(-1)?.role ?? ''),
  };
  await (await testRun(agentUnder(watching), { input: 'Hi', model: answer(), tools })).outcome();
  expect(seen).toEqual(['assistant']);
});

it('[eino 9] what one hook passes on is seen by the next', async () => {
  const seen: unknown[] = [];
  const agent = agentUnder(
    { name: 'first', beforeModelRewriteState: () => ({ values: { key: 'value' } }) },
    { name: 'second', beforeModelRewriteState: (_, ctx) => void seen.push(ctx.values['key']) },
  );
  await (await testRun(agent, { input: 'Hi', model: answer(), tools })).outcome();
  expect(seen).toEqual(['value']);
});

onEngines('[eino 11] for a plain answer each hook is called once', async (engine) => {
  const run = await engine.play(agents.counted, { model: answer() });
  expect(await run.notes()).toEqual(['beforeAgent', 'beforeModel', 'afterModel', ['afterAgent', 'user assistant']]);
});

onEngines('[eino 12] an error of beforeAgent ends the run before the model', async (engine) => {
  const model = answer();
  const run = await engine.play(agents.breaking, { model });
  expect(await run.outcome()).toEqual(failed('beforeAgent of middleware "breaking" failed: no'));
  expect((await run.log()).map(({ type }) => type)).toEqual(['run-start', 'run-end']);
  expect(model.requests).toEqual([]);
});

it('[eino 13] an error before the model ends the run', async () => {
  const model = answer();
  const run = await testRun(agentUnder(throws('beforeModelRewriteState')), { input: 'Hi', model, tools });
  expect(await run.outcome()).toEqual(failed('beforeModelRewriteState of middleware "failing" failed: no'));
  expect(model.requests).toHaveLength(0);
});

it('[eino 14] an error after the model ends the run after one call', async () => {
  const model = answer();
  const run = await testRun(agentUnder(throws('afterModelRewriteState')), { input: 'Hi', model, tools });
  expect(await run.outcome()).toEqual(failed('afterModelRewriteState of middleware "failing" failed: no'));
  expect(model.requests).toHaveLength(1);
});

onEngines('[eino 16] two wraps around the model nest', async (engine) => {
  const run = await engine.play(agents.wrapped, { model: answer() });
  expect(await run.notes()).toEqual(['one before', 'two before', 'two after', 'one after']);
});

it('[eino 17] a wrap runs before and after the model', async () => {
  const seen: string[] = [];
  const model = scriptedModel([() => (seen.push('model'), { text: 'Done.' })]);
  const around: AgentMiddleware = {
    name: 'around',
    async wrapModel(request, next) {
      seen.push('before');
      const response = await next(request);
      seen.push('after');
      return response;
    },
  };
  await (await testRun(agentUnder(around), { input: 'Hi', model, tools })).outcome();
  expect(seen).toEqual(['before', 'model', 'after']);
});

it('[eino 18] with tools a wrap lies around each call of the model', async () => {
  let calls = 0;
  const counting: AgentMiddleware = { name: 'counting', wrapModel: (request, next) => (calls++, next(request)) };
  await (await testRun(agentUnder(counting), { input: 'Hi', model: oneCall(), tools })).outcome();
  expect(calls).toBe(2);
});

onEngines('[eino 19] a wrap changes what the model gets, whole and streaming', async (engine) => {
  for (const stream of [false, true]) {
    const model = answer();
    const run = await engine.play(agents.prefixed, { model, stream });
    await run.outcome();
    expect(model.requests[0]?.messages.map(({ parts }) => parts)).toEqual([[{ type: 'text', text: 'Prefixed.' }]]);
    expect((await run.transcript())[0]).toBe('user: Hi');
  }
});

onEngines('[eino 21] wraps around a tool that streams nest, and what it says is seen as it comes', async (engine) => {
  const key = `${engine.name} 21`;
  const seen = gate();
  holder.hold(key, seen);
  const model = scriptedModel([{ toolCalls: [{ name: 'streams', input: { text: key } }] }, { text: 'Done.' }]);
  const pieces: string[] = [];
  const run = await engine.play(agents.wrapped, {
    model,
    onDelta(delta) {
      if (delta.type !== 'tool-output-delta') return;
      pieces.push(delta.text ?? '');
      seen.open();
    },
  });
  await run.outcome();
  expect(pieces.join('')).toBe(`${key} end`);
  expect((await run.transcript())[2]).toBe(`tool: one(two(${key} end))`);
});

it('[eino 22] a changed result is what the event shows', async () => {
  const changing: AgentMiddleware = { name: 'changing', wrapToolCall: async (call, next) => `modified: ${String(await next(call))}` };
  const run = await testRun(agentUnder(changing), { input: 'Hi', model: oneCall(), tools });
  expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ message: { parts: [{ output: 'modified: x' }] } });
});

it('[eino 23] a wrap gets name and id of the call', async () => {
  const seen: unknown[] = [];
  const watching: AgentMiddleware = { name: 'watching', wrapToolCall: (call, next) => (seen.push([call.name, call.id]), next(call)) };
  const model = scriptedModel([{ toolCalls: [{ ...echo('x'), id: 'id-7' }] }, { text: 'Done.' }]);
  await (await testRun(agentUnder(watching), { input: 'Hi', model, tools })).outcome();
  expect(seen).toEqual([['echo', 'id-7']]);
});

it('[eino 24] a wrap of the model sees the names of the tools', async () => {
  const seen: unknown[] = [];
  const watching: AgentMiddleware = { name: 'watching', wrapModel: (request, next) => (seen.push(request.tools), next(request)) };
  await (await testRun(agentUnder(watching), { input: 'Hi', model: answer(), tools })).outcome();
  expect(seen).toEqual([['echo', 'add', 'fail']]);
});

it('[eino 26] without tool calls afterToolCalls is not called', async () => {
  const never = jest.fn();
  await (await testRun(agentUnder({ name: 'never', afterToolCalls: never }), { input: 'Hi', model: answer(), tools })).outcome();
  expect(never).not.toHaveBeenCalled();
});

onEngines('[eino 27] afterToolCalls finds the results in the messages', async (engine) => {
  const run = await engine.play(agents.counted, { model: oneCall() });
  expect(await run.notes()).toContainEqual(['afterTools', 'tool']);
});

it('[eino 28] an error of afterToolCalls ends the run', async () => {
  const run = await testRun(agentUnder(throws('afterToolCalls')), { input: 'Hi', model: oneCall(), tools });
  expect(await run.outcome()).toEqual(failed('afterToolCalls of middleware "failing" failed: no'));
});

it('[eino 29] afterToolCalls is called once for each iteration with calls', async () => {
  let times = 0;
  const model = scriptedModel([
    { toolCalls: [echo('a')] },
    { toolCalls: [echo('b'), echo('c')] },
    { toolCalls: [echo('d')] },
    { text: 'Done.' },
  ]);
  await (await testRun(agentUnder({ name: 'counting', afterToolCalls: () => void times++ }), { input: 'Hi', model, tools })).outcome();
  expect(times).toBe(3);
});

onEngines('[eino 31] a message that afterToolCalls adds reaches the model once', async (engine) => {
  const model = oneCall();
  const run = await engine.play(agents.injecting, { model });
  await run.outcome();
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  expect(await run.transcript()).toEqual([
    'user: Hi',
    'assistant: echo({"text":"x"})',
    'tool: x',
    'user: Mind the gap.',
    'assistant: Done.',
  ]);
});

it('[eino 32] afterAgent sees the whole conversation of a final answer', async () => {
  const seen: string[] = [];
  const ending: AgentMiddleware = {
    name: 'ending',
    afterAgent: ({ messages }) => void seen.push(messages.map(({ role }) => role).join(' ')),
  };
  await (await testRun(agentUnder(ending), { input: 'Hi', model: answer(), tools })).outcome();
  expect(seen).toEqual(['user assistant']);
});

onEngines('[eino 33] afterAgent is called when a result is returned directly', async (engine) => {
  const run = await engine.play(agents.direct, { model: scriptedModel([{ toolCalls: [echo('x')] }]) });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'x' });
  expect(await run.notes()).toEqual(['user assistant tool']);
});

it('[eino 34] afterAgent is not called when the model fails', async () => {
  const never = jest.fn();
  const model = scriptedModel([{ error: 'down' }]);
  await (await testRun(agentUnder({ name: 'never', afterAgent: never }), { input: 'Hi', model, tools })).outcome();
  expect(never).not.toHaveBeenCalled();
});

it('[eino 36] an error of afterAgent ends the run and names the hook', async () => {
  const run = await testRun(agentUnder(throws('afterAgent')), { input: 'Hi', model: answer(), tools });
  expect(await run.outcome()).toEqual(failed('afterAgent of middleware "failing" failed: no'));
  expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
});

it('[eino 37] afterAgent sees values, stops at an error and is called without tools', async () => {
  const seen: unknown[] = [];
  const middleware: AgentMiddleware[] = [
    { name: 'first', beforeAgent: () => ({ values: { key: 'value' } }), afterAgent: (_, ctx) => void seen.push(ctx.values['key']) },
    throws('afterAgent'),
    { name: 'later', afterAgent: () => void seen.push('later') },
  ];
  const run = await testRun(agentWith({ tools: [], middleware }), { input: 'Hi', model: answer(), tools });
  expect((await run.outcome()).status).toBe('failed');
  expect(seen).toEqual(['value']);
});

it('[eino 38] afterAgent sees an answer of several parts as it is', async () => {
  const parts = [
    { type: 'reasoning' as const, text: 'Hm.' },
    { type: 'text' as const, text: 'Look.' },
    { type: 'file' as const, mediaType: 'image/png', data: 'aGk=' },
  ];
  const seen: unknown[] = [];
  const ending: AgentMiddleware = { name: 'ending', afterAgent: ({ messages }) => void seen.push(messages.at(-1)?.parts) };
  const run = await testRun(agentUnder(ending), { input: 'Hi', model: { generate: async () => ({ parts }) }, tools });
  expect(await run.outcome()).toMatchObject({ text: 'Look.' });
  expect(seen).toEqual([parts]);
});

it('[eino 38] a middleware for agentic messages sees it in blocks', async () => {
  const parts = [
    { type: 'reasoning' as const, text: 'Hm.' },
    { type: 'text' as const, text: 'Look.' },
    { type: 'file' as const, mediaType: 'image/png', data: 'aGk=' },
  ];
  const seen: unknown[] = [];
  const ending = agenticMiddleware({
    name: 'ending',
    afterAgent: ({ messages }) => void seen.push(messages.map(({ role, blocks }) => [role, blocks])),
  });
  const input: Json = [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }];
  const run = await testRun(agentUnder(ending), { input, model: { generate: async () => ({ parts }) }, tools });
  expect(await run.outcome()).toMatchObject({ text: 'Look.' });
  expect(seen).toEqual([
    [
      ['user', [{ type: 'text', text: 'Hi' }]],
      ['assistant', parts],
    ],
  ]);
});

it('[eino 39] a text that afterChatModel changes is not what the event showed', async () => {
  const agent = agentWith({
    tools: [],
    middleware: [
      {
        afterChatModel: ({ messages }) => ({
          messages: [...messages.slice(0, -1), { role: 'assistant', parts: [{ type: 'text', text: 'Edited.' }] }],
        }),
      },
    ],
  });
  const run = await testRun(agent, { input: 'Hi', model: answer(), tools });
  expect(await run.outcome()).toMatchObject({ output: 'Edited.' });
  expect((await logOf(run)).find(({ type }) => type === 'model-end')).toMatchObject({ message: { parts: [{ text: 'Done.' }] } });
});

onEngines('[eino 41] a tool call that afterChatModel adds runs', async (engine) => {
  const model = scriptedModel([{ text: 'Enough.' }, { text: 'Done.' }]);
  const run = await engine.play(agents.addsCall, { model });
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: echo({"text":"added"})', 'tool: added', 'assistant: Done.']);
  expect((await run.log()).filter(({ type }) => type.endsWith('-end') && type !== 'run-end').map(({ type }) => type)).toEqual([
    'model-end',
    'tool-end',
    'model-end',
  ]);
  model.assertComplete();
});

const kinds: Readonly<Record<string, Json>> = {
  echo: 'first(invokable(handler(x)))',
  streams: 'first(streamable(handler(x end)))',
  enhanced: 'first(enhanced(handler(x+file)))',
  enhancedStreams: 'first(enhancedStreams(handler(x+file)))',
};

onEngines('[eino 42] classic tool wraps nest around the handlers, for all kinds of tools', async (engine) => {
  const toolCalls = Object.keys(kinds).map((name) => ({ name, input: { text: 'x' } }));
  const run = await engine.play(agents.classicWraps, { model: scriptedModel([{ toolCalls }, { text: 'Done.' }]) });
  expect((await run.transcript()).slice(2, 6)).toEqual(Object.values(kinds).map((output) => `tool: ${String(output)}`));
});

onEngines('[eino 43] what toolCallMiddlewares make of a result is what is shown', async (engine) => {
  for (const stream of [false, true]) {
    const run = await engine.play(agents.rewritten, { model: oneCall('streams'), stream });
    const shown = (await run.log()).find(({ type }) => type === 'tool-end');
    expect(shown).toMatchObject({ message: { parts: [{ output: 'rewritten' }] } });
    expect((await run.transcript())[2]).toBe('tool: rewritten');
  }
});

it('[eino 43] toolCallMiddlewares lie around classic wraps and those around handlers', async () => {
  const marks =
    (name: string): NonNullable<AgentMiddleware['wrapToolCall']> =>
    async (call, next) =>
      `${name}(${String(await next(call))})`;
  const agent = agentWith({
    middleware: [{ name: 'handler', wrapToolCall: marks('handler') }, { wrapToolCall: marks('classic') }],
    toolCallMiddlewares: [marks('first'), { invokable: marks('second') }],
  });
  const run = await testRun(agent, { input: 'Hi', model: oneCall(), tools });
  expect((await transcriptOf(run))[2]).toBe('tool: first(second(classic(handler(x))))');
});
