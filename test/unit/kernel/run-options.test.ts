import { scriptedModel, testRun } from 'holdfast/testing';
import type { TestRunOptions } from 'holdfast/testing';
import type { WorkerWraps } from 'holdfast/worker';
import { defineTool, defineWorkerMiddleware } from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { agentsFor, defineAgent, onWorker } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { z } from 'zod';
import type { RunOptions } from '../../../contract/run-options';
import { answerAnew, only, transcriptOf, withHook } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const basics = { description: 'Says with which options it was called.', inputSchema: z.object({}) };
const tools = {
  plain: defineTool({ ...basics, execute: (_, { options }) => options }),
  quick: defineTool({ ...basics, execute: (_, { options }) => options }),
  streams: defineTool({
    ...basics,
    async *stream(_, { options }) {
      yield JSON.stringify(options);
    },
  }),
  enhanced: defineTool({ ...basics, enhanced: true, execute: (_, { options }) => [{ type: 'text', text: JSON.stringify(options) }] }),
  enhancedStreams: defineTool({
    ...basics,
    enhanced: true,
    async *stream(_, { options }) {
      yield { type: 'text' as const, text: JSON.stringify(options) };
    },
  }),
  asks: defineTool({ ...basics, execute: (_, call) => (call.resumed === undefined ? call.interrupt('Go on?') : call.options) }),
};
const names = Object.keys(tools);

const agentUnder = (...middleware: readonly AgentMiddleware[]) =>
  defineAgent({ name: 'agent', description: '', instructions: '', model: 'test/model', tools: names, middleware });
const calling = (...called: readonly string[]) =>
  scriptedModel([{ toolCalls: called.map((name) => ({ name, input: {} })) }, { text: 'Done.' }]);
const played = async (
  options: RunOptions,
  called: readonly string[],
  middleware: readonly AgentMiddleware[] = [],
  more: Partial<TestRunOptions<string>> = {},
) => testRun(agentUnder(...middleware), { input: 'Hi', model: calling(...called), tools, options, ...more });
const outputs = async (run: Awaited<ReturnType<typeof played>>): Promise<readonly string[]> => (
  await run.outcome(),
  (await transcriptOf(run)).slice(2, -1)
);

describe('options of tools for one run', () => {
  it('reach tools of every kind, by name, and are empty elsewhere', async () => {
    const toolOptions = Object.fromEntries(
      ['plain', 'quick', 'streams', 'enhanced', 'enhancedStreams'].map((name) => [name, { for: name }]),
    );
    for (const stream of [false, true]) {
      const run = await played({ toolOptions }, ['plain', 'quick', 'streams', 'enhanced', 'enhancedStreams'], [], { stream });
      const [plain, quick, streams, enhanced, enhancedStreams] = await outputs(run);
      expect([plain, quick, streams]).toEqual(['tool: {"for":"plain"}', 'tool: {"for":"quick"}', 'tool: {"for":"streams"}']);
      expect(enhanced).toContain('enhanced');
      expect(enhancedStreams).toContain('enhancedStreams');
      expect(await outputs(await played({}, ['plain'], [], { stream }))).toEqual(['tool: {}']);
    }
  });

  it('are there again when a tool is entered with its answer, and after a continue-as-new', async () => {
    const run = await played({ toolOptions: { asks: { region: 'eu' } } }, ['asks']);
    await answerAnew(run, 'yes');
    expect(await outputs(run)).toEqual(['tool: {"region":"eu"}']);
  });

  it('reach tools that a hook calls', async () => {
    const seen: Json[] = [];
    const hook: AgentMiddleware = { name: 'hook', beforeAgent: async (_, ctx) => void seen.push((await ctx.call('plain', {})) as Json) };
    await (await played({ toolOptions: { plain: { region: 'eu' } } }, ['quick'], [hook])).outcome();
    expect(seen).toEqual([{ region: 'eu' }]);
  });

  it('are an object of JSON for wraps of the workflow, too', async () => {
    const wrap = (options: unknown): AgentMiddleware =>
      withHook('wrap', 'wrapToolCall', (call, next) => next({ ...call, options: options as never }));
    for (const [options, message] of [
      ['eu', "options of 'plain' that are no object"],
      [{ large: 'x'.repeat(20_000) }, 'at most 16384 fit'],
      [{ much: 5n }, 'are not JSON'],
    ] as const)
      expect(await (await played({}, ['plain'], [wrap(options)])).outcome()).toMatchObject(
        failure('hook-failed', expect.stringContaining(message)),
      );
  });
});

describe('worker middleware', () => {
  const seen: Json[] = [];
  beforeEach(() => (seen.length = 0));
  const changing = (name: string): WorkerWraps => ({
    wrapInvokableToolCall: (input, next, { options }) => (seen.push(options), next(input, { ...options, [name]: true })),
    wrapStreamableToolCall: (input, next, { options }) => (seen.push(options), next(input, { ...options, [name]: true })),
    wrapEnhancedInvokableToolCall: (input, next, { options }) => (seen.push(options), next(input, { ...options, [name]: true })),
    wrapEnhancedStreamableToolCall: (input, next, { options }) => (seen.push(options), next(input, { ...options, [name]: true })),
  });
  const halves = [
    defineWorkerMiddleware('outer', () => changing('outer')),
    defineWorkerMiddleware('passing', () => ({ wrapInvokableToolCall: (input, next) => next(input) })),
    defineWorkerMiddleware('inner', () => changing('inner')),
  ];
  const layers = halves.map(({ name }) => onWorker(name));

  it.each(['plain', 'streams', 'enhanced', 'enhancedStreams'])('see and change the options of a call: %s', async (tool) => {
    const run = await played({ toolOptions: { [tool]: { start: true } } }, [tool], layers, { middleware: halves });
    const [output] = await outputs(run);
    expect(seen).toEqual([{ start: true }, { start: true, outer: true }]);
    expect(output?.replace(/\\/g, '')).toContain('{"start":true,"outer":true,"inner":true}');
  });

  it('that hand on options which are none end the run and are named', async () => {
    const wrong = defineWorkerMiddleware('wrong', () => ({ wrapInvokableToolCall: (input, next) => next(input, 'eu' as never) }));
    const run = await played({}, ['plain'], [onWorker('wrong')], { middleware: [wrong] });
    expect(await run.outcome()).toMatchObject(
      failure('hook-failed', 'wrapInvokableToolCall of worker middleware "wrong" called next with options that are no object.'),
    );
  });
});

describe('an approval', () => {
  const asking = approval<typeof tools>({ tools: { plain: true } });

  it('shows the options, and the tool runs with them', async () => {
    const run = await played({ toolOptions: { plain: { dryRun: true } } }, ['plain'], [asking]);
    await run.outcome();
    const interrupt = only(await run.interrupts());
    expect(interrupt).toMatchObject({ kind: 'approval', options: { dryRun: true } });
    await run.approve(interrupt.id);
    expect(await outputs(run)).toEqual(['tool: {"dryRun":true}']);
  });

  it('is not to be had for other options', async () => {
    const behind: AgentMiddleware = { name: 'behind', wrapToolCall: (call, next) => next({ ...call, options: { dryRun: false } }) };
    const run = await played({ toolOptions: { plain: { dryRun: true } } }, ['plain'], [asking, behind]);
    await run.outcome();
    await run.approve(only(await run.interrupts()).id);
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /behind the approval of 'plain' changed its options/));
  });
});

it('model and settings of one run for an agent win over those of the start, and those over the agent', async () => {
  const model = scriptedModel([{ text: 'Done.' }]);
  const seen: unknown[] = [];
  const agent = agentsFor().defineAgent({
    name: 'agent',
    description: '',
    instructions: '',
    model: 'test/own',
    settings: { temperature: 1, topK: 1, seed: 1 },
    tools: [],
    middleware: [{ name: 'looks', wrapModel: (request, next) => (seen.push(request.settings), next(request)) }],
  });
  const run = await testRun(agent, {
    input: 'Hi',
    model,
    settings: { temperature: 0, topK: 2 },
    options: { agents: { agent: { model: 'test/other', settings: { topK: 3 } } } },
  });
  await run.result();
  const settings = { temperature: 0, topK: 3, seed: 1 };
  expect(seen).toEqual([settings]);
  expect(model.requests).toMatchObject([{ model: 'test/other', settings }]);
});

it.each<[string, RunOptions, string]>([
  ['an agent that there is not', { agents: { agnt: {} } }, 'there is no agent "agnt" in "agent". There are: agent.'],
  ['a tool that there is not', { tools: ['plan'] }, 'they name the tool "plan". The worker has: plain,'],
  ['options of a tool that there is not', { toolOptions: { plan: {} } }, 'they name the tool "plan"'],
  ['options of an agent for such a tool', { agents: { agent: { toolOptions: { plan: {} } } } }, 'they name the tool "plan"'],
  ['aliases of a tool that there is not', { toolAliases: { plan: { names: ['x'] } } }, 'they name the tool "plan"'],
  ['an alias that is a tool', { toolAliases: { plain: { names: ['quick'] } } }, 'the alias "quick" of tool "plain" is the name'],
  [
    'too much for a tool, all together',
    { toolOptions: { plain: { a: 'x'.repeat(10_000) } }, agents: { agent: { toolOptions: { plain: { b: 'x'.repeat(10_000) } } } } },
    'those of the tool "plain" for agent "agent" have 20015 bytes; at most 16384 fit.',
  ],
  [
    'an alias that is an argument',
    { toolAliases: { says: { arguments: { text: ['text'] } } } },
    '"text" of tool "says" is an argument of the tool',
  ],
  ['an alias for two', { toolAliases: { plain: { names: ['x'] }, quick: { names: ['x'] } } }, 'stands for both "plain" and "quick"'],
])(
  'options that say nothing, or something else than they seem to, end the run before anything is called: %s',
  async (_, options, message) => {
    const model = scriptedModel([]);
    const says = defineTool({ ...basics, inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text });
    const run = await testRun(agentUnder(), { input: 'Hi', model, tools: { ...tools, says }, options });
    expect(await run.outcome()).toMatchObject(failure('options-invalid', expect.stringContaining(message)));
    expect(model.requests).toEqual([]);
  },
);
