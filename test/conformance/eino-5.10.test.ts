import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { Delta } from '../../contract/deltas';
import type { Interrupt } from '../../contract/interrupts';
import { scriptedModel, testRun } from '../../testing/index';
import type { Json } from '../../workflows/index';
import { withToolsFunc } from '../../middleware/forms/index';
import { gate } from '../support/gate';
import { agentWith, echo, logOf, only, startRun, tools, transcriptOf } from '../support/memory-bed';
import { teamModel } from '../support/team-bed';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import * as teams from './team-agents';
import { holder } from './tools';

afterAll(closeEngines);

const infoOf = (interrupt: Interrupt): Json | undefined => ('info' in interrupt ? interrupt.info : undefined);
const says = (text: string, ...names: readonly string[]) => names.map((name) => ({ name, input: { text } }));
const script = (...toolCalls: readonly { readonly name: string; readonly input: Json; readonly id?: string }[]) =>
  scriptedModel([{ toolCalls }, { text: 'Done.' }]);

onEngines('[eino 226] each piece of parallel streams belongs to one call', async (engine) => {
  const keys = ['one', 'two'].map((name) => `${engine.name} 226 ${name}`);
  const seen = gate();
  for (const key of keys) holder.hold(key, seen);
  const pieces: (Delta & { readonly type: 'tool-output-delta' })[] = [];
  const run = await engine.play(agents.plain, {
    model: script(...keys.map((text) => ({ name: 'streams', id: text, input: { text } }))),
    onDelta(delta) {
      if (delta.type !== 'tool-output-delta') return;
      pieces.push(delta);
      // Both calls have started before either continues.
      if (pieces.length === 2) seen.open();
    },
  });
  await run.outcome();
  for (const key of keys) {
    const own = pieces.filter(({ callId }) => callId === key);
    expect(own.map(({ text }) => text)).toEqual([`${key} `, 'end']);
    expect(new Set(own.map(({ address }) => address)).size).toBe(1);
  }
});

onEngines('[eino 227] results stand in the order of the calls', async (engine) => {
  const run = await engine.play(agents.plain, { model: script(...says('a', 'enhanced', 'streams', 'echo')) });
  const messages = (await run.messages()).filter(({ role }) => role === 'tool');
  expect(messages.map(({ parts }) => (parts[0]?.type === 'tool-result' ? parts[0].name : ''))).toEqual(['enhanced', 'streams', 'echo']);
});

onEngines('[eino 228] unknown tools are answered by the handler, whole and streaming', async (engine) => {
  for (const stream of [false, true]) {
    const model = script({ name: 'one', id: 'id-1', input: {} }, { name: 'two', id: 'id-2', input: {} });
    const run = await engine.play(agents.answersUnknown, { model, stream });
    expect((await run.messages()).slice(2, 4).map(({ parts }) => parts[0])).toEqual([
      { type: 'tool-result', callId: 'id-1', name: 'one', output: 'no one' },
      { type: 'tool-result', callId: 'id-2', name: 'two', output: 'no two' },
    ]);
  }
});

onEngines('[eino 229] of four calls two end and two wait', async (engine) => {
  const model = script(...says('first', 'asks'), ...says('second', 'asks'), ...says('third', 'echo'), ...says('fourth', 'echo'));
  const run = await engine.play(agents.plain, { model });
  const interrupts = await run.waiting(2);
  expect(interrupts.map(infoOf)).toEqual(expect.arrayContaining([{ question: 'first' }, { question: 'second' }]));
  const ended = (): Promise<readonly string[]> =>
    run.log().then((log) => log.flatMap((event) => (event.type === 'tool-end' ? [event.tool] : [])));
  while ((await ended()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await ended()).toEqual(['echo', 'echo']);
  for (const { id } of interrupts) await run.resume(id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  expect((await run.transcript()).slice(2, 6)).toEqual([
    'tool: first: "yes" with {"asked":"first"}',
    'tool: second: "yes" with {"asked":"second"}',
    'tool: third',
    'tool: fourth',
  ]);
  expect((await run.log()).filter((event) => event.type === 'tool-start' && event.tool === 'echo')).toHaveLength(2);
});

onEngines('[eino 231] wraps by kind see their own kind, whole and streaming', async (engine) => {
  for (const stream of [false, true]) {
    const run = await engine.play(agents.byKind, { model: script(...says('x', 'echo', 'streams')), stream });
    expect((await run.transcript()).slice(2, 4)).toEqual(['tool: whole(x)', 'tool: stream(x end)']);
  }
});

onEngines('[eino 232] options of the run reach the tool, through wraps that see and change them', async (engine) => {
  const options = {
    toolOptions: { optioned: { region: 'eu', level: 1 } },
    agents: { optioned: { toolOptions: { optioned: { level: 2 } } } },
  };
  const plain = await engine.play(agents.optioned, { model: script(...says('x', 'optioned')), options });
  expect((await plain.transcript())[2]).toBe('tool: x {"region":"eu","level":2}');
  const wrapped = await engine.play(agents.optionsWrapped, {
    model: script(...says('x', 'optioned')),
    options: { toolOptions: options.toolOptions },
  });
  expect((await wrapped.transcript())[2]).toBe('tool: x {"region":"eu","level":1,"outer":true}');
  expect(await wrapped.notes()).toEqual([
    { region: 'eu', level: 1 },
    { region: 'eu', level: 1, outer: true },
  ]);
});

onEngines('[eino 232] a list of tools for the run takes the place of that of the agent', async (engine) => {
  const model = script(...says('x', 'echo', 'optioned'));
  const run = await engine.play(agents.plain, { model, options: { tools: ['optioned'] } });
  expect((await run.transcript()).slice(2, 4)).toEqual([
    "tool: error The model called tool 'echo', which this agent does not have. It has: optioned.",
    'tool: x {}',
  ]);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['optioned']);
});

onEngines('[eino 233] an enhanced tool that gives its result at once works in a run that streams', async (engine) => {
  const run = await engine.play(agents.plain, { model: script(...says('x', 'enhanced')), stream: true });
  expect((await run.messages())[2]?.parts[0]).toMatchObject({ multipart: true, output: [{ text: 'x' }, { type: 'file' }] });
});

it('[eino 234] a tool that is enhanced runs as such', async () => {
  const both = defineTool({
    description: 'Could do both.',
    inputSchema: z.object({}),
    enhanced: true,
    execute: () => [{ type: 'text', text: 'parts' }],
    async *stream() {
      yield { type: 'text', text: 'parts' } as const;
    },
  });
  for (const stream of [false, true]) {
    const run = await startRun(agentWith({ tools: ['both'] }), script({ name: 'both', input: {} }), { tools: { both }, stream });
    await run.outcome();
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({ multipart: true, output: [{ type: 'text', text: 'parts' }] });
  }
});

const query = z.looseObject({ query: z.string(), limit: z.number().default(10) });
const search = defineTool({ description: 'Searches.', inputSchema: query, execute: (input) => JSON.stringify(input) });
const aliases = { search: { names: ['find'], arguments: { query: ['q'], limit: ['max_results'] } } };

it('[eino 236] arguments under aliases reach the tool under its own keys', async () => {
  const model = script({ name: 'search', input: { q: 'tea', max_results: 3 } });
  const run = await testRun(agentWith({ tools: ['search'], toolAliases: aliases }), { input: 'Hi', model, tools: { search } });
  expect((await transcriptOf(run))[2]).toBe('tool: {"query":"tea","limit":3}');
});

it('[eino 237] aliases come first, then toolArguments, then the tool', async () => {
  const seen: unknown[] = [];
  const agent = agentWith({
    tools: ['search'],
    toolAliases: aliases,
    toolArguments: (name, input) => (seen.push([name, input]), { ...(input as object), limit: 1 }),
  });
  const run = await testRun(agent, { input: 'Hi', model: script({ name: 'find', input: { q: 'tea' } }), tools: { search } });
  expect((await transcriptOf(run))[2]).toBe('tool: {"query":"tea","limit":1}');
  expect(seen).toEqual([['search', { query: 'tea' }]]);
});

it.each<[string, Json, Json]>([
  ['an empty text', '', ''],
  ['a text of blanks', '  ', '  '],
  ['a text', '"q"', '"q"'],
  ['a list', ['q'], ['q']],
  ['broken JSON', '{"q":', '{"q":'],
  ['both keys', { query: 'own', q: 'other' }, { query: 'own', q: 'other' }],
  ['unknown keys', { q: 'tea', more: true }, { more: true, query: 'tea' }],
])('[eino 238] what the aliases make of %s', async (_, input, expected) => {
  const seen: Json[] = [];
  const agent = agentWith({ tools: ['search'], toolAliases: aliases, toolArguments: (_name, given) => (seen.push(given), given) });
  await (await testRun(agent, { input: 'Hi', model: script({ name: 'search', input }), tools: { search } })).outcome();
  expect(seen).toEqual([expected]);
});

it.each([
  ['with another alias', { echo: { names: ['x'] }, add: { names: ['x'] } }, /the alias "x" stands for both/],
  ['with the name of a tool', { echo: { names: ['add'] } }, /is the name of another tool/],
  ['twice among arguments', { add: { arguments: { a: ['x'], b: ['x'] } } }, /the argument alias "x" of tool "add" stands for both/],
])('[eino 239] an alias that clashes %s is refused when the agent is made', (_, toolAliases, message) => {
  expect(() => agentWith({ toolAliases })).toThrow(message);
});

it('[eino 239] an alias that is an argument of the tool is refused before anything runs', async () => {
  const model = scriptedModel([]);
  const run = await testRun(agentWith({ toolAliases: { add: { arguments: { a: ['b'] } } } }), { input: 'Hi', model, tools });
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'agent-invalid' } });
});

it('[eino 241] aliases of a tool that is not there are ignored, and the own name is tolerated', async () => {
  const agent = agentWith({ toolAliases: { nowhere: { names: ['x'] }, echo: { names: ['echo', 'say'] } } });
  const run = await testRun(agent, { input: 'Hi', model: script(echo('a'), { name: 'say', input: { text: 'b' } }), tools });
  expect((await transcriptOf(run)).slice(2, 4)).toEqual(['tool: a', 'tool: b']);
});

it('[eino 242] a tool that is not in the list of the run is not found by its alias', async () => {
  const agent = agentWith({
    toolAliases: { echo: { names: ['say'] } },
    middleware: [withToolsFunc((names, ctx) => names.filter((name) => (ctx.values['tools'] as readonly Json[]).includes(name)))],
  });
  const model = script({ name: 'say', input: { text: 'x' } });
  const run = await testRun(agent, { input: 'Hi', model, tools, values: { tools: ['add'] } });
  expect((await transcriptOf(run))[2]).toBe("tool: error The model called tool 'say', which this agent does not have. It has: add.");
  expect((await logOf(run)).some(({ type }) => type === 'tool-start')).toBe(false);
});

onEngines('[eino 243] aliases of the run take the place of those of the agent', async (engine) => {
  const model = script(
    { name: 'repeat', input: { phrase: 'x' } },
    { name: 'say', input: { text: 'y' } },
    { name: 'echo', input: { words: 'z' } },
  );
  const options = { toolAliases: { echo: { names: ['repeat'], arguments: { text: ['phrase'] } } } };
  const run = await engine.play(agents.aliased, { model, options });
  const [repeat, say, echoed] = (await run.transcript()).slice(2, 5);
  expect(repeat).toBe('tool: x');
  expect(say).toMatch(/^tool: error The model called tool 'say', which this agent does not have/);
  expect(echoed).toMatch(/^tool: error The arguments of 'echo' do not fit/);
});

onEngines('[eino 243] without aliases of the run those of the agent count, for the tools of the run', async (engine) => {
  const model = script({ name: 'say', input: { words: 'x' } }, { name: 'sum', input: { a: 1 } });
  const run = await engine.play(agents.aliased, { model, options: { tools: ['echo', 'streams'] } });
  expect((await run.transcript()).slice(2, 4)).toEqual([
    'tool: x',
    "tool: error The model called tool 'sum', which this agent does not have. It has: echo, streams.",
  ]);
});

onEngines('[eino 244] a tool that waits has one interrupt with its address, and its state', async (engine) => {
  const run = await engine.play(agents.wrapped, { model: script({ name: 'asks', id: 'call-123', input: { text: 'Go on?' } }) });
  const interrupt = only(await run.waiting(1));
  const { id, address } = interrupt;
  expect(infoOf(interrupt)).toEqual({ question: 'Go on?' });
  expect(address.slice(0, 4)).toEqual(['wrapped', 't1', 'asks.0', 'one']);
  expect(address).toContain('two');
  await run.resume(id, { go: true });
  expect((await run.transcript())[2]).toBe('tool: one(two(Go on?: {"go":true} with {"asked":"Go on?"}))');
});

onEngines(
  '[eino 246] inside of a tool that holds agents the interrupt has the address of what is around it, and both go on',
  async (engine) => {
    const model = teamModel({
      holdsGraph: [{ toolCalls: [{ name: 'graph', input: { request: 'Go.' } }] }, { text: 'Done.' }],
      node: [{ text: 'Node.' }],
      deepNode: [{ text: 'Deep.' }],
    });
    const run = await engine.play(teams.holdsGraph, { model });
    const interrupts = await run.waiting(2);
    const around = only(interrupts.filter((interrupt) => infoOf(interrupt) === 'Around?'));
    const inside = only(interrupts.filter((interrupt) => infoOf(interrupt) === 'deepNode?'));
    // The wrap is the parent, so the child's address begins with the wrap's address.
    expect(around).toMatchObject({ agent: 'holdsGraph', address: ['holdsGraph', 't1', 'graph.0', 'wrapping'] });
    expect(inside).toMatchObject({ agent: 'deepNode' });
    expect(inside.address.slice(0, 4)).toEqual(around.address);
    expect(inside.address.slice(-4)).toEqual(expect.arrayContaining(['graph!1', 'deepNode']));
    await run.resume(inside.id, 'inner');
    expect(only(await run.waiting(1))).toEqual(around);
    await run.goOnAsNew();
    await run.resume(around.id, 'outer');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(await run.notes()).toEqual(['entered', ['left', 'outer']]);
    expect(model.requests('node')).toHaveLength(1);
    expect((await run.transcript())[2]).toBe('tool: Deep.');
  },
);

onEngines('[eino 247] of three that wait two are answered, then the third', async (engine) => {
  const run = await engine.play(agents.asksThree, { model: scriptedModel([{ text: 'Done.' }]) });
  const first = await run.waiting(3);
  const [p0, p1, p2] = first;
  expect(first.map(infoOf)).toEqual(['p0', 'p1', 'p2']);
  expect(new Set(first.map(({ address }) => address.join('/'))).size).toBe(1);
  await run.resume(p0?.id ?? '', 'data');
  await run.resume(p2?.id ?? '', null);
  expect((await run.waiting(1)).map(infoOf)).toEqual(['p1']);
  await run.resume(p1?.id ?? '', null);
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect(await run.notes()).toEqual([['data', null, null]]);
});
