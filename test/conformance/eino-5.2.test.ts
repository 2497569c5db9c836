import type { LanguageModel } from '../../activities/models';
import type { RunEvent } from '../../contract/plain/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, Message } from '../../workflows/index';
import { agenticMiddleware, eventSenderModelWrapper, eventSenderToolWrapper, messagesIn } from '../../workflows/index';
import { gate } from '../support/gate';
import { agentUnder, agentWith, logOf, tools as memoryTools, only } from '../support/memory-bed';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import { tools } from './tools';

afterAll(closeEngines);

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const answer = (text = 'Done.') => scriptedModel([{ text }]);
const calls = (...names: readonly string[]) =>
  scriptedModel([{ toolCalls: names.map((name) => ({ name, input: { text: 'x' } })) }, { text: 'Done.' }]);
const modelEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'model-end' ? [event.message] : []));
const toolEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'tool-end' ? [event] : []));
const textParts = (text: string) => [{ type: 'text', text }];

const changing: AgentMiddleware = {
  name: 'changing',
  wrapModel: async (request, next) => {
    const response = await next(request);
    const parts = response.message.parts.map((part) => (part.type === 'text' ? { ...part, text: 'Changed.' } : part));
    return { ...response, message: { ...response.message, parts } };
  },
  wrapToolCall: async (call, next) => `changed ${JSON.stringify(await next(call))}`,
};

onEngines('[eino 44] a stream of two pieces passes a wrap that changes nothing', async (engine) => {
  const seen = gate();
  const model: LanguageModel = {
    generate: async () => ({ parts: [] }),
    async *stream() {
      yield { type: 'text', text: 'One ' };
      await seen.pass();
      yield { type: 'text', text: 'two.' };
      yield { type: 'finish' };
    },
  };
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

it('[eino 46] a sender in the list sends exactly one event', async () => {
  const agent = agentWith({ tools: ['echo'], middleware: [changing, eventSenderModelWrapper(), eventSenderToolWrapper()] });
  const log = await logOf(await testRun(agent, { input: 'Hi', model: calls('echo'), tools }));
  expect(log.map(({ type }) => type).filter((type) => type === 'model-end' || type === 'tool-end')).toEqual([
    'model-end',
    'tool-end',
    'model-end',
  ]);
});

it('[eino 47] by default the event has what the wraps made', async () => {
  const log = await logOf(await testRun(agentUnder(changing), { input: 'Hi', model: answer('Original.'), tools: memoryTools }));
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

it.each(['echo', 'streams', 'enhanced', 'enhancedStreams'])(
  '[eino 52] errors of wraps and of next come out unchanged: %s',
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

it('[eino 53] a result that has media is in event and messages as parts', async () => {
  const model = calls('enhanced');
  const run = await testRun(agentWith({ tools: ['enhanced'] }), { input: 'Hi', model, tools });
  const output = [
    { type: 'text', text: 'x' },
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  ];
  expect(only(toolEnds(await logOf(run))).message.parts).toMatchObject([{ output, multipart: true }]);
  expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([{ output, multipart: true }]);
});

it('[eino 53] a middleware for agentic messages, and a reader, have it as a block of what the user says', async () => {
  const seen: unknown[] = [];
  const watching = agenticMiddleware({ name: 'watching', afterToolCalls: ({ messages }) => void seen.push(messages.at(-1)) });
  const run = await testRun(agentWith({ tools: ['enhanced'], middleware: [watching] }), { input: 'Hi', model: calls('enhanced'), tools });
  const output = [
    { type: 'text', text: 'x' },
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  ];
  const block = { type: 'function-tool-result', callId: expect.any(String) as string, name: 'enhanced', output, multipart: true };
  const shown = messagesIn('agentic', [only(toolEnds(await logOf(run))).message]);
  expect(shown).toEqual([{ id: expect.any(String) as string, role: 'user', blocks: [block] }]);
  expect(seen).toEqual(shown);
  expect((await run.transcript({ shape: 'agentic' })).slice(2, 3)).toEqual(shown);
});

it('[eino 54] the message of a model event has a UUID', async () => {
  const log = await logOf(await testRun(agentWith(), { input: 'Hi', model: answer(), tools: memoryTools }));
  expect(only(modelEnds(log)).id).toMatch(uuid);
});

it('[eino 56] pieces of a stream carry no id, the whole message one', async () => {
  const deltas: object[] = [];
  const model: LanguageModel = {
    generate: async () => ({ parts: [] }),
    async *stream() {
      yield { type: 'text', text: 'One ' };
      yield { type: 'text', text: 'two.' };
      yield { type: 'finish' };
    },
  };
  const run = await testRun(agentWith({ tools: [] }), { input: 'Hi', model, tools, onDelta: (delta) => deltas.push(delta) });
  const { id } = only(modelEnds(await logOf(run)));
  expect(id).toMatch(uuid);
  expect(deltas.length).toBeGreaterThan(0);
  expect(JSON.stringify(deltas)).not.toContain(id);
  expect((await run.transcript()).at(-1)?.id).toBe(id);
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

it('[eino 59] a wrap of the model sees the id that the event has', async () => {
  const seen: unknown[] = [];
  const watching: AgentMiddleware = {
    name: 'watching',
    wrapModel: async (request, next) => {
      const response = await next(request);
      seen.push(response.message.id);
      return response;
    },
  };
  const log = await logOf(await testRun(agentUnder(watching), { input: 'Hi', model: answer(), tools: memoryTools }));
  expect(seen).toEqual([only(modelEnds(log)).id]);
});

it('[eino 61] an ensured id is the same in the event and in the transcript', async () => {
  const text = 'A remark.';
  const remarking: AgentMiddleware = {
    name: 'remarking',
    beforeModelRewriteState({ messages }, ctx) {
      const message = ctx.ensureMessageId({ role: 'user', parts: [{ type: 'text', text }] });
      ctx.sendEvent({ message });
      return { messages: [...messages, message] };
    },
  };
  const run = await testRun(agentWith({ tools: [], middleware: [remarking] }), { input: 'Hi', model: answer(), tools });
  const event = (await logOf(run)).find(({ type }) => type === 'custom');
  expect(event).toMatchObject({ name: 'agent-event', data: { message: { id: expect.stringMatching(uuid), parts: [{ text }] } } });
  const { message } = (event as unknown as { data: { message: Message } }).data;
  expect((await run.transcript())[1]).toEqual(message);
});

it('[eino 62] what a model returned is not changed, and runs at once have ids of their own', async () => {
  const given = Object.freeze({ parts: Object.freeze([Object.freeze({ type: 'text' as const, text: 'Done.' })]) });
  const copy = structuredClone(given);
  const ids = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const run = await testRun(agentWith({ tools: [] }), { input: 'Hi', model: { generate: async () => given }, tools });
      return (await run.transcript()).at(-1)?.id;
    }),
  );
  expect(given).toEqual(copy);
  expect(new Set(ids).size).toBe(8);
});
