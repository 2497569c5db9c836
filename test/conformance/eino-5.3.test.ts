import type { RunEvent } from '../../contract/plain/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, AgenticMessage, HookContext, Json, Message } from '../../workflows/index';
import { agenticMiddleware, messagesIn, withToolsFunc, withTools } from '../../workflows/index';
import { agentUnder, agentWith, echo, logOf, only, tools, transcriptOf } from '../support/memory-bed';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import { tools as allTools } from './tools';

afterAll(closeEngines);

const answer = () => scriptedModel([{ text: 'Done.' }]);
const oneCall = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const toolEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'tool-end' ? [event] : []));
const before = (act: (ctx: HookContext) => unknown): AgentMiddleware => ({
  name: 'hook',
  beforeModelRewriteState: async (_, ctx) => void (await act(ctx)),
});

onEngines('[eino 64] a run-local value is found after the model', async (engine) => {
  const run = await engine.play(agents.remembers, { model: answer() });
  expect(await run.notes()).toEqual([
    ['before', null],
    ['after', 1],
  ]);
});

it('[eino 66] a key that nobody set gives nothing, and no error', async () => {
  const seen: unknown[] = [];
  const run = await testRun(agentUnder(before((ctx) => seen.push(ctx.runLocal.get('never')))), { input: 'Hi', model: answer(), tools });
  expect((await run.outcome()).status).toBe('completed');
  expect(seen).toEqual([undefined]);
});

it('[eino 67] a value that cannot be written down is refused at once, and plain ones pass', async () => {
  class Custom {
    readonly inner = new Map();
  }
  const odd = await testRun(agentUnder(before((ctx) => ctx.runLocal.set('key', { at: new Custom() } as never))), {
    input: 'Hi',
    model: answer(),
    tools,
  });
  expect(await odd.outcome()).toMatchObject({
    status: 'failed',
    error: {
      code: 'value-not-json',
      message: expect.stringMatching(/^The run-local value "key" is not JSON: at.* Keep plain data here\.$/),
    },
  });
  const plain = before((ctx) => {
    for (const value of ['text', 1, true, 1.5] as const) ctx.runLocal.set('key', value);
  });
  expect(await (await testRun(agentUnder(plain), { input: 'Hi', model: answer(), tools })).outcome()).toMatchObject({
    status: 'completed',
  });
});

it('[eino 68] outside of a run the run-local values fail by their names', async () => {
  let kept: HookContext | undefined;
  await (await testRun(agentUnder(before((ctx) => (kept = ctx))), { input: 'Hi', model: answer(), tools })).outcome();
  const { runLocal } = kept as HookContext;
  const outside = (name: string) =>
    expect.objectContaining({ code: 'outside-run', message: expect.stringContaining(`${name} failed`) }) as Error;
  expect(() => runLocal.set('key', 1)).toThrow(outside('ctx.runLocal.set'));
  expect(() => runLocal.get('key')).toThrow(outside('ctx.runLocal.get'));
  expect(() => runLocal.delete('key')).toThrow(outside('ctx.runLocal.delete'));
});

onEngines('[eino 69] a run-local value lasts over the calls of the model', async (engine) => {
  const run = await engine.play(agents.remembers, { model: oneCall() });
  expect((await run.notes()).filter((note) => (note as readonly Json[])[0] === 'before')).toEqual([
    ['before', null],
    ['before', 1],
  ]);
});

onEngines('[eino 71] two calls of one tool at once have their own actions', async (engine) => {
  for (const name of ['echo', 'streams']) {
    const toolCalls = ['one', 'two'].map((id) => ({ name, id, input: { text: id } }));
    const run = await engine.play(agents.acts, { model: scriptedModel([{ toolCalls }, { text: 'Done.' }]) });
    const shown = toolEnds(await run.log()).map(({ callId, action }) => ({ callId, action }));
    expect(shown.sort((a, b) => a.callId.localeCompare(b.callId))).toEqual([
      { callId: 'one', action: { of: 'one' } },
      { callId: 'two', action: { of: 'two' } },
    ]);
  }
});

onEngines('[eino 73] exit gives its result with its action, and nothing after it', async (engine) => {
  const model = scriptedModel([{ toolCalls: [{ name: 'exit', input: { final_result: 'All done.' } }] }]);
  const run = await engine.play(agents.exits, { model });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'All done.' });
  const log = await run.log();
  expect(log.slice(-2)).toMatchObject([
    { type: 'tool-end', action: { exit: true }, message: { role: 'tool', parts: [{ output: 'All done.' }] } },
    { type: 'run-end' },
  ]);
  model.assertComplete();
});

onEngines('[eino 74] of three calls the one that returns directly is shown last, though it ended first', async (engine) => {
  // What asks a person ends after the direct one for sure.
  const toolCalls = [
    { name: 'echo', input: { text: 'direct' } },
    { name: 'asks', input: { text: 'late' } },
    { name: 'enhanced', input: { text: 'other' } },
  ];
  const run = await engine.play(agents.direct, { model: scriptedModel([{ toolCalls }]) });
  const { id } = only(await run.waiting(1));
  const ended = (): Promise<number> => run.log().then((log) => toolEnds(log).length);
  while ((await ended()) < 1) await new Promise((resolve) => setTimeout(resolve, 20));
  await run.resume(id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'direct' });
  expect(
    (await run.log())
      .filter(({ type }) => type === 'model-end' || type === 'tool-end')
      .map((event) => ('tool' in event ? event.tool : '-')),
  ).toEqual(['-', 'enhanced', 'asks', 'echo']);
});

it('[eino 76] a tool that the worker does not know gives one error and nothing else', async () => {
  const model = answer();
  const run = await testRun(agentWith({ tools: ['echo', 'teleport'] }), { input: 'Hi', model, tools });
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-unknown' } });
  expect((await logOf(run)).map(({ type }) => type)).toEqual(['run-start', 'run-end']);
  expect(model.requests).toEqual([]);
});

describe('aliases', () => {
  const toolAliases = { add: { names: ['plus'], arguments: { a: ['first'] } } };
  const called = (name: string) => scriptedModel([{ toolCalls: [{ name, input: { first: 2, b: 3 } }] }, { text: 'Done.' }]);

  it.each<[string, Parameters<typeof agentWith>[0], string]>([
    ['an alias of an argument', { toolAliases }, 'add'],
    ['an alias of the name', { toolAliases }, 'plus'],
    [
      'with tools that a hook changes',
      { toolAliases, middleware: [withToolsFunc((names) => names.filter((name) => name === 'add'))] },
      'plus',
    ],
    ['of a tool that a hook adds', { tools: ['echo', 'add'], toolAliases, middleware: [withTools('fail')] }, 'plus'],
  ])('[eino 78] are understood: %s', async (_, options, name) => {
    const run = await testRun(agentWith(options), { input: 'Hi', model: called(name), tools });
    expect((await transcriptOf(run))[2]).toBe('tool: {"sum":5}');
  });
});

onEngines('[eino 79] the result of a tool that returns directly has the role tool', async (engine) => {
  for (const [name, stream] of [
    ['echo', false],
    ['streams', true],
  ] as const) {
    const run = await engine.play(agents.direct, { model: scriptedModel([{ toolCalls: [{ name, input: { text: 'x' } }] }]), stream });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: name === 'echo' ? 'x' : 'x end' });
    expect((await run.messages()).at(-1)?.role).toBe('tool');
  }
});

const copyOf = (message: AgenticMessage): AgenticMessage => ({ ...message, blocks: message.blocks.map((block) => ({ ...block })) });

/** Hands on copies in every hook, so that all messages come out of the agentic shape. */
const copying: AgentMiddleware = agenticMiddleware({
  name: 'copying',
  beforeModelRewriteState: ({ messages }) => ({ messages: messages.map(copyOf) }),
  async wrapModel(request, next) {
    const response = await next({ ...request, messages: request.messages.map(copyOf) });
    return { ...response, message: copyOf(response.message) };
  },
  afterModelRewriteState: ({ messages }) => ({ messages: messages.map(copyOf) }),
  afterToolCalls: ({ messages }) => ({ messages: messages.map(copyOf) }),
});

describe.each([
  ['as they are stored', 'parts', []],
  ['as agentic messages', 'agentic', [copying]],
] as const)('messages of several parts, %s,', (_, shape, middleware) => {
  const said: Message = {
    role: 'user',
    parts: [
      { type: 'text', text: 'What is this?' },
      { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    ],
  };
  const input = messagesIn(shape, [said]) as readonly object[] as Json;
  const reasoning = { type: 'reasoning' as const, text: 'Hm.' };
  const call = (name: string, n = 1) => ({
    parts: [reasoning, { type: 'tool-call' as const, id: `c${n}`, name, input: { text: `x${n}` } }],
  });
  const end = { parts: [reasoning, { type: 'text' as const, text: 'Done.' }] };
  const scripted = (...answers: readonly { readonly parts: readonly object[] }[]) => {
    let position = 0;
    return { generate: async () => answers[position++] as typeof end };
  };

  it('[eino 81] meet the limit of iterations', async () => {
    const run = await testRun(agentWith({ tools: ['echo'], maxIterations: 2, middleware }), {
      input,
      model: scripted(call('echo'), call('echo', 2)),
      tools,
    });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'max-iterations' } });
  });

  it('[eino 81] end with a result that is returned directly', async () => {
    const agent = agentWith({ tools: ['echo'], returnDirectly: ['echo'], middleware });
    const run = await testRun(agent, { input, model: scripted(call('echo')), tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'x1' });
  });

  it('[eino 81] go through several turns of tools', async () => {
    const agent = agentWith({ tools: ['echo'], middleware });
    const run = await testRun(agent, { input, model: scripted(call('echo'), call('echo', 2), end), tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await run.transcript()).map(({ role, parts }) => `${role} ${parts.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text file',
      'assistant reasoning tool-call',
      'tool tool-result',
      'assistant reasoning tool-call',
      'tool tool-result',
      'assistant reasoning text',
    ]);
    const shown = await run.transcript({ shape: 'agentic' });
    expect(shown.map(({ role, blocks }) => `${role} ${blocks.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text file',
      'assistant reasoning function-tool-call',
      'user function-tool-result',
      'assistant reasoning function-tool-call',
      'user function-tool-result',
      'assistant reasoning text',
    ]);
    // No copy has a new id: each message is in the log under the id that it has here.
    const ends = (await logOf(run)).flatMap((event) => ('message' in event ? [event.message.id] : []));
    expect((await run.transcript()).map(({ id }) => id)).toEqual(['input.0', ...ends]);
  });

  it('[eino 81] wait twice, one interrupt after the other', async () => {
    const run = await testRun(agentWith({ tools: ['asks'], middleware }), {
      input,
      model: scripted(call('asks'), call('asks', 2), end),
      tools: allTools,
    });
    for (const answer of ['one', 'two']) {
      const outcome = await run.outcome();
      if (outcome.status !== 'waiting') throw new Error(outcome.status);
      await run.resume(only(outcome.interrupts).id, answer);
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await transcriptOf(run)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: x1: "one" with {"asked":"x1"}',
      'tool: x2: "two" with {"asked":"x2"}',
    ]);
  });
});

it('[eino 82] the model gets instructions only where there are some', async () => {
  const model = scriptedModel([{ text: 'Done.' }, { text: 'Done.' }]);
  await (await testRun(agentWith({ instructions: '' }), { input: 'Hi', model, tools })).outcome();
  await (await testRun(agentWith(), { input: 'Hi', model, tools })).outcome();
  expect(model.requests.map(({ instructions }) => instructions)).toEqual(['', 'Be a test.']);
  expect(model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([['user'], ['user']]);
});

it('[eino 82] so does a middleware for agentic messages, whose request has them beside the messages', async () => {
  const seen: unknown[] = [];
  const watching = agenticMiddleware({
    name: 'watching',
    wrapModel(request, next) {
      seen.push([request.instructions, request.messages.map(({ role, blocks }) => [role, blocks])]);
      return next(request);
    },
  });
  const input: Json = [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }];
  const model = scriptedModel([{ text: 'Done.' }, { text: 'Done.' }]);
  for (const instructions of ['', 'Be a test.'])
    await (await testRun(agentWith({ instructions, middleware: [watching] }), { input, model, tools })).outcome();
  const messages = [['user', [{ type: 'text', text: 'Hi' }]]];
  expect(seen).toEqual([
    ['', messages],
    ['Be a test.', messages],
  ]);
  expect(model.requests.map(({ instructions }) => instructions)).toEqual(['', 'Be a test.']);
});

it.each([
  ['getFailoverModel', { maxRetries: 1, shouldFailover: () => true }],
  ['shouldFailover', { maxRetries: 1, getFailoverModel: () => ({ model: 'test/other' }) }],
])('[eino 77] a failover without %s is refused when the agent is made', (field, failover) => {
  expect(() => agentWith({ failover: failover as never })).toThrow(
    expect.objectContaining({ code: 'agent-invalid', message: `Agent "agent": failover.${field} is required; it is a function.` }),
  );
});
