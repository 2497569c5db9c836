import { scriptedModel } from '../../testing/index';
import type { Json } from '../../workflows/index';
import { echo, lineOf } from '../support/memory-bed';
import { gate } from '../support/gate';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import * as hooks from './hook-agents';
import { holder } from './tools';

afterAll(closeEngines);

const answer = () => scriptedModel([{ text: 'Done.' }]);
const oneCall = (name = 'echo') => scriptedModel([{ toolCalls: [{ name, input: { text: 'x' } }] }, { text: 'Done.' }]);
const failed = (message: string) => ({ status: 'failed', error: { code: 'hook-failed', message } });

onEngines('[eino 1] texts that three hooks add reach the model beside the own ones', async (engine) => {
  const model = answer();
  await (await engine.play(hooks.instructionsOfThree, { model })).outcome();
  expect(model.requests[0]?.instructions).toBe('Be a test.\n\nOne.\n\nTwo.\n\nThree.');
});

onEngines('[eino 2] a classic instruction stands before what a handler adds', async (engine) => {
  const model = answer();
  await (await engine.play(hooks.classicFirst, { model })).outcome();
  expect(model.requests[0]?.instructions).toBe('Be a test.\n\nClassic.\n\nHandler.');
});

onEngines('[eino 3] a tool that a hook adds is offered beside the own one', async (engine) => {
  const model = answer();
  await (await engine.play(hooks.addsTool, { model })).outcome();
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'add']);
});

onEngines('[eino 4] a tool that a hook takes away is not offered', async (engine) => {
  const model = answer();
  await (await engine.play(hooks.takesTool, { model })).outcome();
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'fail']);
});

onEngines('[eino 6] an agent without tools is given one, which the model calls', async (engine) => {
  const model = oneCall();
  const run = await engine.play(agents.givenTool, { model });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: echo({"text":"x"})', 'tool: x', 'assistant: Done.']);
  expect(model.requests).toHaveLength(2);
});

onEngines('[eino 7] messages that two hooks append reach the model', async (engine) => {
  const model = answer();
  const run = await engine.play(hooks.appendsTwo, { model });
  expect(await run.transcript()).toEqual(['user: Hi', 'user: A', 'user: B', 'assistant: Done.']);
  const { instructions, messages } = model.requests[0] ?? { instructions: '', messages: [] };
  expect([instructions, ...messages.map(lineOf)]).toEqual(['Be a test.', 'user: Hi', 'user: A', 'user: B']);
});

onEngines('[eino 8] after the model the last message is the answer', async (engine) => {
  expect(await (await engine.play(hooks.seesAnswer, { model: answer() })).notes()).toEqual(['assistant']);
});

onEngines('[eino 9] what one hook passes on is seen by the next', async (engine) => {
  expect(await (await engine.play(hooks.passesValue, { model: answer() })).notes()).toEqual(['value']);
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

onEngines('[eino 13] an error before the model ends the run', async (engine) => {
  const model = answer();
  const run = await engine.play(hooks.throwsBeforeModel, { model });
  expect(await run.outcome()).toEqual(failed('beforeModelRewriteState of middleware "failing" failed: no'));
  expect(model.requests).toHaveLength(0);
});

onEngines('[eino 14] an error after the model ends the run after one call', async (engine) => {
  const model = answer();
  const run = await engine.play(hooks.throwsAfterModel, { model });
  expect(await run.outcome()).toEqual(failed('afterModelRewriteState of middleware "failing" failed: no'));
  expect(model.requests).toHaveLength(1);
});

onEngines('[eino 16] two wraps around the model nest', async (engine) => {
  const run = await engine.play(agents.wrapped, { model: answer() });
  expect(await run.notes()).toEqual(['one before', 'two before', 'two after', 'one after']);
});

onEngines('[eino 17] a wrap runs before and after the model', async (engine) => {
  const run = await engine.play(hooks.wrapsModel, { model: answer() });
  expect(await run.notes()).toEqual([expect.arrayContaining(['before']), expect.arrayContaining(['after'])]);
  expect(await run.lines()).toEqual(['run-start', 'custom note', 'model-start', 'custom note', 'model-end', 'run-end']);
});

onEngines('[eino 18] with tools a wrap lies around each call of the model', async (engine) => {
  const run = await engine.play(hooks.wrapsModel, { model: oneCall() });
  expect((await run.notes()).map((note) => (note as readonly Json[])[0])).toEqual(['before', 'after', 'before', 'after']);
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

onEngines('[eino 22] a changed result is what the event shows', async (engine) => {
  const run = await engine.play(hooks.modifies, { model: oneCall() });
  expect((await run.log()).find(({ type }) => type === 'tool-end')).toMatchObject({ message: { parts: [{ output: 'modified: x' }] } });
});

onEngines('[eino 23] a wrap gets name and id of the call', async (engine) => {
  const model = scriptedModel([{ toolCalls: [{ ...echo('x'), id: 'id-7' }] }, { text: 'Done.' }]);
  expect(await (await engine.play(hooks.namesCall, { model })).notes()).toEqual([['echo', 'id-7']]);
});

onEngines('[eino 24] a wrap of the model sees the names of the tools', async (engine) => {
  const [seen] = await (await engine.play(hooks.wrapsModel, { model: answer() })).notes();
  expect(seen).toEqual(['before', 'echo', 'add', 'fail']);
});

onEngines('[eino 26] without tool calls afterToolCalls is not called', async (engine) => {
  const run = await engine.play(agents.counted, { model: answer() });
  expect((await run.notes()).filter((note) => Array.isArray(note) && note[0] === 'afterTools')).toEqual([]);
  expect(await run.notes()).toContain('afterModel');
});

onEngines('[eino 27] afterToolCalls finds the results in the messages', async (engine) => {
  const run = await engine.play(agents.counted, { model: oneCall() });
  expect(await run.notes()).toContainEqual(['afterTools', 'tool']);
});

onEngines('[eino 28] an error of afterToolCalls ends the run', async (engine) => {
  const model = oneCall();
  const run = await engine.play(hooks.throwsAfterTools, { model });
  expect(await run.outcome()).toEqual(failed('afterToolCalls of middleware "failing" failed: no'));
  expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'tool-start echo', 'tool-end echo', 'run-end']);
  expect(model.requests).toHaveLength(1);
});

onEngines('[eino 29] afterToolCalls is called once for each iteration with calls', async (engine) => {
  const model = scriptedModel([
    { toolCalls: [echo('a')] },
    { toolCalls: [echo('b'), echo('c')] },
    { toolCalls: [echo('d')] },
    { text: 'Done.' },
  ]);
  const run = await engine.play(agents.counted, { model });
  expect((await run.notes()).filter((note) => Array.isArray(note) && note[0] === 'afterTools')).toHaveLength(3);
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

onEngines('[eino 32] afterAgent sees the whole conversation of a final answer', async (engine) => {
  const run = await engine.play(agents.counted, { model: oneCall() });
  expect((await run.notes()).at(-1)).toEqual(['afterAgent', 'user assistant tool assistant']);
});

onEngines('[eino 33] afterAgent is called when a result is returned directly', async (engine) => {
  const run = await engine.play(agents.direct, { model: scriptedModel([{ toolCalls: [echo('x')] }]) });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'x' });
  expect(await run.notes()).toEqual(['user assistant tool']);
});

onEngines('[eino 34] afterAgent is not called when the model fails', async (engine) => {
  const run = await engine.play(agents.counted, { model: scriptedModel([{ error: 'down' }]) });
  expect(await run.outcome()).toMatchObject({ status: 'failed' });
  expect(await run.notes()).toEqual(['beforeAgent', 'beforeModel']);
});

onEngines('[eino 36] an error of afterAgent ends the run and names the hook', async (engine) => {
  const run = await engine.play(hooks.throwsAtEnd, { model: answer() });
  expect(await run.outcome()).toEqual(failed('afterAgent of middleware "failing" failed: no'));
  expect(await run.lines()).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
});

onEngines('[eino 37] afterAgent sees values, stops at an error and is called without tools', async (engine) => {
  const run = await engine.play(hooks.passesToEnd, { model: answer() });
  expect(await run.outcome()).toEqual(failed('afterAgent of middleware "failing" failed: no'));
  expect(await run.notes()).toEqual(['value']);
});

const severalParts = [
  { type: 'reasoning' as const, text: 'Hm.' },
  { type: 'text' as const, text: 'Look.' },
  { type: 'file' as const, mediaType: 'image/png', data: 'aGk=' },
];

onEngines('[eino 38] afterAgent sees an answer of several parts as it is', async (engine) => {
  const run = await engine.play(hooks.seesEnd, { model: { generate: async () => ({ parts: severalParts }) } });
  expect(await run.outcome()).toMatchObject({ text: 'Look.' });
  expect(await run.notes()).toEqual([severalParts]);
});

onEngines('[eino 38] a middleware for agentic messages sees it in blocks', async (engine) => {
  const input: Json = [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }];
  const run = await engine.play(hooks.seesBlocksAtEnd, { input, model: { generate: async () => ({ parts: severalParts }) } });
  expect(await run.outcome()).toMatchObject({ text: 'Look.' });
  expect(await run.notes()).toEqual([
    [
      ['user', [{ type: 'text', text: 'Hi' }]],
      ['assistant', severalParts],
    ],
  ]);
});

onEngines('[eino 39] a text that afterChatModel changes is not what the event showed', async (engine) => {
  const run = await engine.play(hooks.edits, { model: answer() });
  expect(await run.outcome()).toMatchObject({ output: 'Edited.' });
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: Edited.']);
  expect((await run.log()).find(({ type }) => type === 'model-end')).toMatchObject({ message: { parts: [{ text: 'Done.' }] } });
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

onEngines('[eino 43] toolCallMiddlewares lie around classic wraps and those around handlers', async (engine) => {
  const run = await engine.play(hooks.wrapsInThreeWays, { model: oneCall() });
  expect((await run.transcript())[2]).toBe('tool: first(second(classic(handler(x))))');
});
