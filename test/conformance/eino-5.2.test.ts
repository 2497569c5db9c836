import type { RunEvent } from '../../contract/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, Message } from '../../workflows/index';
import { messagesIn } from '../../middleware/forms/index';
import { gate } from '../support/gate';
import { agentWith, only } from '../support/memory-bed';
import { sayingModel } from '../support/streaming-model';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import * as hooks from './hook-agents';
import { tools } from './tools';

afterAll(closeEngines);

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const answer = (text = 'Done.') => scriptedModel([{ text }]);
const calls = (...names: readonly string[]) =>
  scriptedModel([{ toolCalls: names.map((name) => ({ name, input: { text: 'x' } })) }, { text: 'Done.' }]);
const modelEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'model-end' ? [event.message] : []));
const toolEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'tool-end' ? [event] : []));
const textParts = (text: string) => [{ type: 'text', text }];

onEngines('[eino 44] a stream of two pieces passes a wrap that changes nothing', async (engine) => {
  const seen = gate();
  const model = sayingModel(['One ', seen.pass(), 'two.']);
  const pieces: string[] = [];
  const run = await engine.play(agents.passing, {
    model,
    onDelta(delta) {
      if (delta.type !== 'text-delta') return;
      pieces.push(delta.text);
      seen.open();
    },
  });
  expect(await run.outcome()).toMatchObject({ text: 'One two.' });
  expect(pieces).toEqual(['One ', 'two.']);
});

onEngines('[eino 46] a sender in the list sends exactly one event', async (engine) => {
  const log = await (await engine.play(agents.senderInside, { model: calls('echo') })).log();
  expect(log.map(({ type }) => type).filter((type) => type === 'model-end' || type === 'tool-end')).toEqual([
    'model-end',
    'tool-end',
    'model-end',
  ]);
});

onEngines('[eino 47] by default the event has what the wraps made', async (engine) => {
  const log = await (await engine.play(hooks.changes, { model: answer('Original.') })).log();
  expect(modelEnds(log).map(({ parts }) => parts)).toEqual([textParts('Changed.')]);
});

onEngines('[eino 48] a sender behind all wraps shows the original', async (engine) => {
  const run = await engine.play(agents.senderInside, { model: answer('Original.') });
  expect(await run.outcome()).toMatchObject({ output: 'Changed.' });
  expect(modelEnds(await run.log()).map(({ parts }) => parts)).toEqual([textParts('Original.')]);
  expect(await run.transcript()).toEqual(['user: Hi', 'assistant: Changed.']);
});

onEngines('[eino 49] tools of all four kinds have one event each', async (engine) => {
  const names = ['echo', 'streams', 'enhanced', 'enhancedStreams'];
  const run = await engine.play(agents.plain, { model: calls(...names) });
  const shown = toolEnds(await run.log());
  expect(shown.map(({ tool }) => tool).sort()).toEqual([...names].sort());
});

onEngines('[eino 51] a sender behind the tool wraps shows the original result', async (engine) => {
  const model = calls('echo');
  const run = await engine.play(agents.senderInside, { model });
  expect(only(toolEnds(await run.log())).message.parts).toMatchObject([{ type: 'tool-result', output: 'x' }]);
  expect((await run.transcript())[2]).toBe('tool: changed');
  expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ output: 'changed' }]);
});

onEngines('[eino 52] errors of wraps and of next come out unchanged', async (engine) => {
  const kinds = ['echo', 'streams', 'enhanced', 'enhancedStreams'];
  const own = await engine.play(hooks.throwsInWrap, { model: calls(...kinds) });
  expect(await own.notes()).toEqual(kinds.map((kind) => [kind, 'tool-failed', `own of ${kind}`]));
  const next = await engine.play(hooks.seesErrors, {
    model: scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]),
  });
  expect(await next.notes()).toEqual([['fail', 'tool-failed', "The tool 'fail' failed: out of order"]]);
});

it.each(['echo', 'streams', 'enhanced', 'enhancedStreams'])(
  '[eino 52] an error of a wrap comes out as the same object: %s',
  async (tool) => {
    const own = Object.assign(new Error('own'), { code: 'tool-failed' });
    const seen: unknown[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      wrapToolCall: (call, next) => next(call).catch((error: unknown) => (seen.push(error), Promise.reject(error as Error))),
    };
    const throwing: AgentMiddleware = { name: 'throwing', wrapToolCall: () => Promise.reject(own) };
    const run = await testRun(agentWith({ tools: [tool], middleware: [watching, throwing] }), { input: 'Hi', model: calls(tool), tools });
    await run.outcome();
    expect(seen).toEqual([own]);
    expect(seen[0]).toBe(own);
  },
);

const withImage = [
  { type: 'text', text: 'x' },
  { type: 'file', mediaType: 'image/png', data: 'aGk=' },
];

onEngines('[eino 53] a result that has media is in event and messages as parts', async (engine) => {
  const model = calls('enhanced');
  const run = await engine.play(agents.plain, { model });
  expect(only(toolEnds(await run.log())).message.parts).toMatchObject([{ output: withImage, multipart: true }]);
  expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ output: withImage, multipart: true }]);
});

onEngines('[eino 53] a middleware for agentic messages, and a reader, have it as a block of what the user says', async (engine) => {
  const run = await engine.play(hooks.seesResult, { model: calls('enhanced') });
  const block = {
    type: 'function-tool-result',
    callId: expect.any(String) as string,
    name: 'enhanced',
    output: withImage,
    multipart: true,
  };
  const shown = messagesIn('agentic', [only(toolEnds(await run.log())).message]);
  expect(shown).toEqual([{ id: expect.any(String) as string, role: 'user', blocks: [block] }]);
  expect(await run.notes()).toEqual(shown);
  expect((await run.agentic()).slice(2, 3)).toEqual(shown);
});

onEngines('[eino 54] the message of a model event has a UUID', async (engine) => {
  const log = await (await engine.play(agents.plain, { model: answer() })).log();
  expect(only(modelEnds(log)).id).toMatch(uuid);
});

onEngines('[eino 56] pieces of a stream carry no id, the whole message one', async (engine) => {
  const deltas: object[] = [];
  const model = sayingModel(['One ', 'two.']);
  const run = await engine.play(agents.plain, { model, onDelta: (delta) => deltas.push(delta) });
  await run.outcome();
  const { id } = only(modelEnds(await run.log()));
  expect(id).toMatch(uuid);
  expect(JSON.stringify(deltas)).not.toContain(id);
  expect((await run.messages()).at(-1)?.id).toBe(id);
});

onEngines('[eino 57] messages of tool events have the ids of the transcript', async (engine) => {
  const run = await engine.play(agents.plain, { model: calls('echo', 'streams', 'enhanced') });
  const shown = toolEnds(await run.log()).map(({ message }) => message.id);
  const kept = (await run.messages()).filter(({ role }) => role === 'tool').map(({ id }) => id);
  expect([...shown].sort()).toEqual([...kept].sort());
  expect(new Set(kept).size).toBe(3);
});

onEngines('[eino 58] after two failed attempts there is one event, with an id', async (engine) => {
  const model = scriptedModel([{ error: 'busy', retryable: true }, { error: 'busy', retryable: true }, { text: 'Done.' }]);
  const run = await engine.play(agents.plain, { model });
  expect(await run.outcome()).toMatchObject({ output: 'Done.' });
  expect(only(modelEnds(await run.log())).id).toMatch(uuid);
  expect(model.requests).toHaveLength(3);
});

onEngines('[eino 59] a wrap of the model sees the id that the event has', async (engine) => {
  const run = await engine.play(hooks.wrapsModel, { model: answer() });
  expect((await run.notes()).at(-1)).toEqual(['after', only(modelEnds(await run.log())).id]);
});

onEngines('[eino 61] an ensured id is the same in the event and in the transcript', async (engine) => {
  const run = await engine.play(hooks.remarks, { model: answer() });
  const event = (await run.log()).find(({ type }) => type === 'custom');
  const remark = { id: expect.stringMatching(uuid) as string, parts: [{ text: 'A remark.' }] };
  expect(event).toMatchObject({ name: 'agent-event', data: { message: remark } });
  const { message } = (event as unknown as { data: { message: Message } }).data;
  expect((await run.messages())[1]).toEqual(message);
});

onEngines('[eino 62] what a model returned is not changed, and runs at once have ids of their own', async (engine) => {
  const given = Object.freeze({ parts: Object.freeze([Object.freeze({ type: 'text' as const, text: 'Done.' })]) });
  const copy = structuredClone(given);
  const ids = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const run = await engine.play(agents.plain, { model: { generate: async () => given } });
      return (await run.messages()).at(-1)?.id;
    }),
  );
  expect(given).toEqual(copy);
  expect(new Set(ids).size).toBe(8);
});
