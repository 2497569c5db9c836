import type { ModelProvider } from '../../activities/models/language-model';
import type { RunEvent } from '../../contract/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { ScriptedStep } from '../../testing/index';
import type { AgentMiddleware, AgentObserver, AgentToolOptions, CustomEvent, Json, Message, Part } from '../../workflows/index';
import {
  agentTool,
  breakLoopAction,
  customAgent,
  exitAction,
  loop,
  parallel,
  sequential,
  supervisor,
  transferToAgentAction,
} from '../../workflows/index';
import { setSubAgents } from '../../middleware/forms/index';
import { failure } from '../support/failures';
import { logOf, only, startRun, tools } from '../support/memory-bed';
import { byHand, heard, member, placed, play, says as saysWith, scripts, teamModel, transfer } from '../support/team-bed';
import { closeEngines, onEngines } from './engines';
import * as teams from './team-agents';

/*
 * Eino, agents, flow, sessions and callbacks (5.8). Eino's agent events are `model-end`, `tool-end` or `agent-message`; callbacks are
 * observers.
 */

afterAll(closeEngines);

const says = (text: string, action?: object): CustomEvent => saysWith(text, action === undefined ? {} : { action: action as never });
const saying = <const Name extends string>(name: Name, ...events: readonly CustomEvent[]) =>
  byHand(name, async function* () {
    yield* events;
  });
const calls = (name: string, input: Json): ScriptedStep => ({ toolCalls: [{ name, input }] });
const asksFor = (name: string, request = 'Please.'): ScriptedStep => calls(name, { request });
const exits = calls('exit', { final_result: 'Out.' });
const acting = (action: object): AgentMiddleware => ({
  name: 'acting',
  wrapToolCall(call, next, ctx) {
    ctx.sendToolAction(action as never);
    return next(call);
  },
});
const texts = (log: readonly RunEvent[]): readonly string[] =>
  log.flatMap((event) =>
    event.type === 'agent-message' || event.type === 'model-end'
      ? event.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
const ofType = (log: readonly RunEvent[], ...types: readonly RunEvent['type'][]): readonly string[] =>
  log.filter(({ type }) => types.includes(type)).map(placed);

it('[eino 172] the agents of a sequence run in order', async () => {
  const all = sequential({ name: 'all', agents: [saying('one', says('1')), saying('two', says('2')), saying('three', says('3'))] });
  const { run, outcome } = await play(all, {});
  expect(outcome).toMatchObject({ status: 'completed', text: '3' });
  expect(texts(await logOf(run))).toEqual(['1', '2', '3']);
});

it('[eino 172] an exit ends a sequence behind its agent', async () => {
  const all = sequential({ name: 'all', agents: [saying('one', says('1', exitAction())), saying('two', says('2'))] });
  const { run, outcome } = await play(all, {});
  expect(outcome).toMatchObject({ status: 'completed', text: '1' });
  expect(ofType(await logOf(run), 'agent-start', 'agent-message', 'agent-end')).toEqual([
    'agent-start all/one',
    'agent-message all/one',
    'agent-end all/one',
  ]);
});

it('[eino 173] parallel agents show all that they say', async () => {
  const { run, outcome } = await play(parallel({ name: 'both', agents: [saying('one', says('1')), saying('two', says('2'))] }), {});
  expect(outcome).toMatchObject({ status: 'completed', output: { one: '1', two: '2' } });
  expect([...texts(await logOf(run))].sort()).toEqual(['1', '2']);
});

it('[eino 173] a loop runs as often as it may', async () => {
  const { run } = await play(loop({ name: 'rounds', agents: [saying('one', says('1'))], maxIterations: 3 }), {});
  expect(ofType(await logOf(run), 'agent-message')).toEqual([
    'agent-message rounds/one',
    'agent-message rounds/one#2',
    'agent-message rounds/one#3',
  ]);
});

it('[eino 174] a break ends the loop, tells by whom, and what that agent says later still comes', async () => {
  const breaker = saying('breaker', says('Enough.', breakLoopAction()), says('Good bye.'));
  const { run, outcome } = await play(loop({ name: 'rounds', agents: [breaker, saying('next', says('Never.'))], maxIterations: 3 }), {});
  expect(outcome).toMatchObject({ status: 'completed', text: 'Good bye.' });
  const log = await logOf(run);
  expect(texts(log)).toEqual(['Enough.', 'Good bye.']);
  expect(log.find(({ type }) => type === 'agent-end')).toMatchObject({ runPath: ['rounds', 'breaker'], action: { breakLoop: true } });
});

it('[eino 174] a break in the second round stands at the place of that round', async () => {
  const breaker = customAgent({
    name: 'breaker',
    async *run(input) {
      const rounds = input.messages.filter(({ role }) => role === 'assistant').length;
      yield says(`${rounds}`, rounds === 1 ? breakLoopAction() : undefined);
    },
  });
  const { run } = await play(loop({ name: 'rounds', agents: [breaker], maxIterations: 5 }), {});
  const log = await logOf(run);
  expect(texts(log)).toEqual(['0', '1']);
  const ends = log.flatMap((event) => (event.type === 'agent-end' ? [[event.runPath.join('/'), event.action ?? null]] : []));
  expect(ends).toEqual([
    ['rounds/breaker', null],
    ['rounds/breaker#2', { breakLoop: true }],
  ]);
});

describe('an agent that throws', () => {
  const throwing = customAgent({
    name: 'throwing',

    async *run() {
      throw new Error('out of order');
    },
  });
  const after = saying('after', says('Never.'));
  it.each([
    ['sequence', sequential({ name: 'all', agents: [throwing, after] })],
    ['loop', loop({ name: 'all', agents: [throwing, after], maxIterations: 2 })],
    ['parallel', parallel({ name: 'all', agents: [throwing] })],
  ] as const)('[eino 176] an agent that throws is an error of the run, in a %s', async (_, agent) => {
    const { run, outcome } = await play(agent, {});
    expect(outcome).toMatchObject(failure('hook-failed', 'agent "throwing" failed: out of order'));
    const log = await logOf(run);
    expect(texts(log)).toEqual([]);
    expect(log.find(({ type }) => type === 'agent-end')).toMatchObject({ agent: 'throwing', error: { code: 'hook-failed' } });
  });
});

it('[eino 176] what is no agent of a known kind is refused when the agents are defined', () => {
  const unknown = { name: 'odd', description: 'Odd.', kind: 'zigzag' };
  for (const make of [sequential, parallel])
    expect(() => make({ name: 'all', agents: [unknown] })).toThrow(/entry 1 of its agents is none/);
  expect(() => loop({ name: 'all', agents: [unknown], maxIterations: 1 })).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
});

it('[eino 177] options reach the agents that they name, and no others', async () => {
  const telling = (name: string) =>
    customAgent({
      name,
      async *run({ options }) {
        yield { output: { [name]: options['color'] ?? null } };
      },
    });
  const both = sequential({ name: 'both', agents: [telling('one'), telling('two'), member('talks'), member('mumbles')] });
  const model = scripts({ talks: [], mumbles: [{ text: 'Mm.' }], loud: [{ text: 'Hey!' }] });
  const options = { agents: { two: { custom: { color: 'red' } }, talks: { model: 'test/loud', settings: { temperature: 1 } } } };
  const run = await testRun(both, { input: 'Hi', model, tools, options });
  const log = await logOf(run);
  expect(log.flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual([
    { output: { one: null } },
    { output: { two: 'red' } },
  ]);
  expect(only(model.requests('loud')).settings).toMatchObject({ temperature: 1 });
  expect(only(model.requests('mumbles')).settings ?? {}).not.toHaveProperty('temperature');
});

const tracing = (seen: string[]): AgentObserver => ({
  name: 'tracing',
  onStart: ({ kind, agent, id }) => void (kind === 'agent' && seen.push(`start ${agent} at ${id}`)),
  onEnd: ({ kind, agent, id }) => void (kind === 'agent' && seen.push(`end ${agent} at ${id}`)),
  onError: ({ kind, agent, error }) => void (kind === 'agent' && seen.push(`error ${agent} ${error.code}`)),
});

it('[eino 177] observers are told once for each round of a loop', async () => {
  const seen: string[] = [];
  const writer = member('writer', { middleware: [tracing(seen)] });
  const rounds = loop({ name: 'rounds', agents: [writer], maxIterations: 2, observers: [tracing(seen)] });
  await play(rounds, { writer: [{ text: 'A.' }, { text: 'B.' }] });
  expect(seen).toEqual([
    'start rounds at rounds',
    'start writer at rounds/writer',
    'end writer at rounds/writer',
    'start writer at rounds/writer#2',
    'end writer at rounds/writer#2',
    'end rounds at rounds',
  ]);
});

it('[eino 178] a transfer shows the call, its result with the action, and what the child answers', async () => {
  const family = setSubAgents(member('parent'), [member('child')]);
  const { run, outcome } = await play(family, { parent: [transfer('child')], child: [{ text: 'Hello from the child.' }] });
  expect(outcome).toMatchObject({ status: 'completed', text: 'Hello from the child.' });
  const [call, result, answer, ...others] = (await logOf(run)).filter(({ type }) => type === 'model-end' || type === 'tool-end');
  expect(call).toMatchObject({ agent: 'parent', message: { parts: [{ type: 'tool-call', name: 'transfer_to_agent' }] } });
  expect(result).toMatchObject({
    agent: 'parent',
    tool: 'transfer_to_agent',
    message: { parts: [{ output: 'successfully transferred to agent [child]' }] },
    action: { transferTo: 'child' },
  });
  expect(answer).toMatchObject({ agent: 'child', runPath: ['parent', 'child'] });
  expect(others).toEqual([]);
});

const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };
const provider = (answers: Readonly<Record<string, readonly Part[]>>, asked: Record<string, readonly Message[]> = {}): ModelProvider => ({
  model: (name) => ({
    async generate({ messages }) {
      asked[name.replace('test/', '')] = messages;
      return { parts: answers[name.replace('test/', '')] ?? [] };
    },
  }),
});

it('[eino 179] words of other agents are rewritten with their media and without their reasoning, and stay what they are', async () => {
  const said: readonly Part[] = [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Look' }, image];
  const asked: Record<string, readonly Message[]> = {};
  const both = sequential({ name: 'both', agents: [member('painter'), member('critic')] });
  const run = await startRun(both, provider({ painter: said, critic: [{ type: 'text', text: 'Nice.' }] }, asked));
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Nice.' });
  expect(asked['critic']?.[1]).toMatchObject({
    role: 'user',
    parts: [{ type: 'text', text: 'For context: [painter] said: Look.' }, image],
  });
  expect((await run.view()).messages[1]).toMatchObject({ role: 'assistant', parts: said });
});

it('[eino 179] so are results of tools that have parts', async () => {
  const result: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', callId: 'c', name: 'paint', output: [{ type: 'text', text: 'Done' }, image] as never, multipart: true }],
  };
  const both = sequential({ name: 'both', agents: [saying('painter', { message: result }), member('critic')] });
  const { model } = await play(both, { critic: [{ text: 'Nice.' }] });
  expect(only(model.requests('critic')).messages[1]).toMatchObject({
    role: 'user',
    parts: [{ type: 'text', text: 'For context: [painter] `paint` tool returned result: Done.' }, image],
  });
});

async function toolOf(agent: Parameters<typeof agentTool>[0], steps: readonly ScriptedStep[] = [], input: Json = { request: 'Please.' }) {
  const { model, run } = await play(member('caller', { tools: [agentTool(agent)] }), {
    caller: [calls(agent.name, input), { text: 'Done.' }],
    [agent.name]: steps,
  });
  return { run, result: model.requests('caller')[1]?.messages.at(-1)?.parts[0] };
}

it('[eino 181] an agent as a tool gives the text of what it said last', async () => {
  const talks = member('talks', { tools: ['echo'] });
  const said = await toolOf(talks, [calls('echo', { text: 'x' }), { text: 'My answer.' }]);
  expect(said.result).toMatchObject({ type: 'tool-result', output: 'My answer.' });
  const direct = await toolOf(member('direct', { tools: ['echo'], returnDirectly: ['echo'] }), [calls('echo', { text: 'Directly.' })]);
  expect(direct.result).toMatchObject({ output: 'Directly.' });
  const ofHand = await toolOf(saying('byHand', says('First.'), says('Last.')));
  expect(ofHand.result).toMatchObject({ output: 'Last.' });
  const result: Message = { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', name: 'x', output: 'Of a tool.' }] };
  expect((await toolOf(saying('ofTool', { message: result }))).result).toMatchObject({ output: 'Of a tool.' });
});

it('[eino 181] arguments that do not fit, no events and an event that is an error are errors of the call', async () => {
  const fine = saying('fine', says('Never.'));
  for (const [input, problem] of [
    ['{"request":', 'are not JSON that can be read'],
    [{ other: 1 }, 'do not fit'],
  ] as const)
    expect((await toolOf(fine, [], input)).result).toMatchObject({
      isError: true,
      output: expect.stringContaining(`The arguments of 'fine' ${problem}`) as string,
    });
  expect((await toolOf(saying('silent'))).result).toMatchObject({ isError: true, output: "The agent 'silent' ended without an event." });
  expect((await toolOf(saying('broken', says('Well,'), { error: 'out of order' }))).result).toMatchObject({
    isError: true,
    output: `The agent 'broken' failed: agent "broken" failed: out of order`,
  });
});

it('[eino 182] an agent as a tool in a run that streams gives the whole of its last stream', async () => {
  const inner = member('inner', { tools: ['echo'] });
  const model = {
    caller: scriptedModel([asksFor('inner'), { text: 'Done.' }]),
    inner: scriptedModel(
      [{ text: ['Let ', 'me ', 'see.'], toolCalls: [{ name: 'echo', input: { text: 'x' } }] }, { text: ['The ', 'whole ', 'answer.'] }],
      { stream: true },
    ),
  };
  const run = await testRun(member('caller', { tools: [agentTool(inner)] }), {
    input: 'Go.',
    stream: true,
    tools,
    model: { model: (name) => model[name.replace('test/', '') as keyof typeof model] },
  });
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(model.caller.requests[1]?.messages.at(-1)?.parts[0]).toMatchObject({ output: 'The whole answer.' });
});

it('[eino 183] an agent as a tool shares session values with its caller, in both directions, but not what is said', async () => {
  const seen: Json[] = [];
  const inner = member('inner', {
    outputKey: 'answer',
    middleware: [
      {
        name: 'values',
        beforeAgent(_, ctx) {
          seen.push(['inner', ctx.session.get('from') ?? null]);
          ctx.session.set('from', 'inner');
        },
      },
    ],
  });
  const caller = member('caller', {
    tools: [agentTool(inner)],
    middleware: [
      {
        name: 'values',
        beforeAgent: (_, ctx) => ctx.session.set('from', 'caller'),
        afterToolCalls: (_, ctx) => void seen.push(['caller', ctx.session.get('from') ?? null, ctx.session.get('answer') ?? null]),
      },
    ],
  });
  const { model } = await play(caller, { caller: [asksFor('inner', 'Only this.'), { text: 'Done.' }], inner: [{ text: 'Mine.' }] });
  expect(seen).toEqual([
    ['inner', 'caller'],
    ['caller', 'inner', 'Mine.'],
  ]);
  expect(heard(only(model.requests('inner')))).toEqual(['user: Only this.']);
});

it('[eino 184] an agent as a tool may get the whole conversation, and is told that it goes on', async () => {
  const caller = member('caller', { tools: ['echo', agentTool(member('inner'), { fullHistory: true })] });
  const model = scripts({ caller: [asksFor('inner'), { text: 'Done.' }], inner: [{ text: 'Mine.' }] });
  const input = [
    { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'Hi there' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Ask the other.' }] },
  ];
  const run = await testRun(caller, { input: input as never, model, tools });
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  expect(heard(only(model.requests('inner')))).toEqual([
    'user: Hello',
    'user: For context: [caller] said: Hi there.',
    'user: Ask the other.',
    'user: For context: [caller] called tool: `transfer_to_agent` with arguments: {"agent_name":"inner"}.',
    'user: For context: [caller] `transfer_to_agent` tool returned result: successfully transferred to agent [inner].',
  ]);
});

const nested = (outerOptions: AgentToolOptions, innerOptions: AgentToolOptions) =>
  play(
    member('outer', {
      tools: [agentTool(member('inner', { tools: ['echo', agentTool(member('inmost'), innerOptions)] }), outerOptions)],
    }),
    {
      outer: [asksFor('inner', 'One.'), { text: 'Outer.' }],
      inner: [asksFor('inmost', 'Two.'), calls('echo', { text: 'x' }), { text: 'Inner.' }],
      inmost: [{ text: 'Inmost.' }],
    },
  );

it('[eino 186] events of nested agents have the whole path, and each agent only hears its own', async () => {
  const { run, model } = await nested({ forwardEvents: true }, { forwardEvents: true });
  expect(ofType(await logOf(run), 'model-end')).toEqual([
    'model-end outer',
    'model-end outer/inner@1',
    'model-end outer/inner@1/inmost@2',
    'model-end outer/inner@1',
    'model-end outer/inner@1',
    'model-end outer',
  ]);
  expect(heard(only(model.requests('inmost')))).toEqual(['user: Two.']);
  expect(
    model
      .requests('inner')
      .at(-1)
      ?.messages.map(({ role }) => role),
  ).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  expect(
    model
      .requests('outer')
      .at(-1)
      ?.messages.map(({ role }) => role),
  ).toEqual(['user', 'assistant', 'tool']);
  expect((await run.view()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

it('[eino 187] of an agent as a tool nothing is shown but the call and its result', async () => {
  const { run } = await nested({}, { forwardEvents: true });
  const log = await logOf(run);
  expect(log.filter((event) => 'runPath' in event && event.runPath.length > 1)).toEqual([]);
  expect(log.flatMap((event) => (event.type === 'tool-end' ? [event.tool] : []))).toEqual(['inner']);
});

it('[eino 187] and where only the inner one is hidden, nothing of that', async () => {
  const { run } = await nested({ forwardEvents: true }, {});
  const ends = (await logOf(run)).flatMap((event) => (event.type === 'tool-end' ? [event.tool] : []));
  expect(ends).toEqual(['inmost', 'echo', 'inner']);
  expect(ofType(await logOf(run), 'agent-start')).toEqual(['agent-start outer/inner@1']);
});

describe('what an agent that is a tool does', () => {
  it.each([
    ['exits', exitAction()],
    ['hands over', transferToAgentAction('other')],
    ['breaks', breakLoopAction()],
  ] as const)('[eino 188] has no effect outside when it %s', async (_, action) => {
    const inner = saying('inner', says('Mine.', action));
    const caller = member('caller', { tools: [agentTool(inner, { forwardEvents: true })] });
    const all = loop({ name: 'all', agents: [caller, setSubAgents(member('next'), [member('other')])], maxIterations: 2 });
    const twice = [{ text: 'Next.' }, { text: 'Next.' }];
    const { run, outcome, model } = await play(all, {
      caller: [asksFor('inner'), { text: 'On.' }, asksFor('inner'), { text: 'On.' }],
      next: twice,
      other: [],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Next.' });
    expect(model.requests('next')).toHaveLength(2);
    expect(
      (await logOf(run)).filter((event) => event.type === 'agent-end' && event.agent !== 'inner' && event.action !== undefined),
    ).toEqual([]);
  });
});

it('[eino 188] nor has an exit in a sequence outside of it', async () => {
  const inner = sequential({ name: 'inner', agents: [saying('leaves', says('1', exitAction())), saying('skipped', says('Never.'))] });
  const { run, outcome } = await play(sequential({ name: 'outer', agents: [inner, saying('after', says('2'))] }), {});
  expect(outcome).toMatchObject({ status: 'completed', text: '2' });
  expect(texts(await logOf(run))).toEqual(['1', '2']);
});

it('[eino 189] an agent as a tool without events is an error, one that says nothing an empty text', async () => {
  expect((await toolOf(saying('silent'))).result).toMatchObject({ isError: true, output: "The agent 'silent' ended without an event." });
  expect((await toolOf(saying('acts', { action: { mine: true } }))).result).toMatchObject({ output: '' });
  expect((await toolOf(saying('acts', { action: { mine: true } }))).result).not.toHaveProperty('isError');
});

it('[eino 191] observers are told once of each agent, of those that have them', async () => {
  const seen: string[] = [];
  const one = member('one', { middleware: [tracing(seen)] });
  const inside = sequential({ name: 'inside', agents: [one, member('unobserved')], observers: [tracing(seen)] });
  const handMade = customAgent({
    name: 'byHand',
    agents: [member('helper', { middleware: [tracing(seen)] })],
    observers: [tracing(seen)],
    async *run(_, ctx) {
      yield says((await ctx.runAgent('helper', 'Help.')).text);
    },
  });
  const said = [{ text: 'Fine.' }];
  await play(parallel({ name: 'all', agents: [sequential({ name: 'lane', agents: [inside, handMade] })], observers: [tracing(seen)] }), {
    one: said,
    unobserved: said,
    helper: said,
  });
  expect(seen.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'start all',
    'start inside',
    'start one',
    'end one',
    'end inside',
    'start byHand',
    'start helper',
    'end helper',
    'end byHand',
    'end all',
  ]);
});

it('[eino 191] an observer sees what goes in and comes out, and can change nothing of it for others', async () => {
  const seen: Json[] = [];
  const changing: AgentObserver = {
    name: 'changing',
    onStart: (observed) => void expect(() => Object.assign(observed, { agent: 'other' })).toThrow(),
    onEnd: (observed) => void expect(() => Object.assign(observed, { output: 'other' })).toThrow(),
  };
  const seeing: AgentObserver = {
    name: 'seeing',
    onStart: (observed) => void (observed.kind === 'agent' && seen.push([observed.agent, observed.input.map(({ role }) => role)])),
    onEnd: (observed) => void (observed.kind === 'agent' && seen.push([observed.agent, observed.output])),
  };
  const all = sequential({ name: 'all', agents: [saying('one', says('1')), saying('two', says('2'))], observers: [changing, seeing] });
  expect((await play(all, {})).outcome).toMatchObject({ status: 'completed', output: '2' });
  expect(seen).toEqual([
    ['all', ['user']],
    ['all', '2'],
  ]);
});

it('[eino 191] an observer of the worker may be for some agents only', async () => {
  const seen: string[] = [];
  const both = sequential({ name: 'both', agents: [member('one'), member('two')] });
  const run = await startRun(both, scripts({ one: [{ text: '1' }], two: [{ text: '2' }] }), {
    observers: [{ name: 'some', agents: ['two'], onStart: ({ kind, agent }) => void seen.push(`${kind} ${agent}`) }],
  });
  await run.outcome();
  expect(seen).toEqual(['model two']);
});

it('[eino 191] an agent that fails is told to its observers as an error, up to the outermost', async () => {
  const seen: string[] = [];
  const inner = loop({ name: 'inner', agents: [saying('broken', { error: 'No.' })], maxIterations: 3, observers: [tracing(seen)] });
  const { outcome } = await play(sequential({ name: 'outer', agents: [inner], observers: [tracing(seen)] }), {});
  expect(outcome).toMatchObject(failure('agent-failed'));
  expect(seen).toEqual(['start outer at outer', 'start inner at outer/inner', 'error inner agent-failed', 'error outer agent-failed']);
});

const handedBack = (log: readonly RunEvent[]): readonly string[] =>
  log.flatMap((event) =>
    event.type === 'agent-message' && event.action !== undefined ? [`${event.agent} ${JSON.stringify(event.action)}`] : [],
  );

it('[eino 192] behind an exit a supervisor does not get the word back', async () => {
  const team = supervisor({ name: 'team', supervisor: member('boss'), agents: [member('leaver', { exitTool: true })] });
  const { run, outcome } = await play(team, { boss: [transfer('leaver')], leaver: [exits] });
  expect(outcome).toMatchObject({ status: 'completed', output: 'Out.' });
  expect(handedBack(await logOf(run))).toEqual([]);
});

it('[eino 192] nor does any supervisor above it', async () => {
  const crew = supervisor({
    name: 'crew',
    description: 'The crew.',
    supervisor: member('foreman'),
    agents: [member('leaver', { exitTool: true })],
  });
  const { run, outcome } = await play(supervisor({ name: 'company', supervisor: member('chief'), agents: [crew] }), {
    chief: [transfer('crew')],
    foreman: [transfer('leaver')],
    leaver: [exits],
  });
  expect(outcome).toMatchObject({ status: 'completed', output: 'Out.' });
  expect(handedBack(await logOf(run))).toEqual([]);
});

it('[eino 192] an exit inside of an agent that is a tool is none of the specialist', async () => {
  const inner = saying('inner', says('Gone.', exitAction()));
  const worker = member('worker', { tools: [agentTool(inner, { forwardEvents: true })] });
  const team = supervisor({ name: 'team', supervisor: member('boss'), agents: [worker] });
  const { run, outcome } = await play(team, {
    boss: [transfer('worker'), { text: 'Thanks.' }],
    worker: [asksFor('inner'), { text: 'Worked.' }],
  });
  expect(outcome).toMatchObject({ status: 'completed', text: 'Thanks.' });
  const log = await logOf(run);
  expect(log.find((event) => event.type === 'agent-end' && event.agent === 'inner')).toMatchObject({ action: { exit: true } });
  expect(handedBack(log)).toContain('worker {"transferTo":"boss"}');
});

it('[eino 192] nor is a tool event with an exit further inside', async () => {
  const inner = member('inner', { tools: ['echo'], middleware: [acting(exitAction())] });
  const team = supervisor({
    name: 'team',
    supervisor: member('boss'),
    agents: [member('worker', { tools: [agentTool(inner)] })],
  });
  const { outcome } = await play(team, {
    boss: [transfer('worker'), { text: 'Thanks.' }],
    worker: [asksFor('inner'), { text: 'Worked.' }],
    inner: [calls('echo', { text: 'x' }), { text: 'Gone.' }],
  });
  expect(outcome).toMatchObject({ status: 'completed', text: 'Thanks.' });
});

onEngines('[eino 193] a supervisor is traced as one, also over an answer and a continue-as-new', async (engine) => {
  const model = teamModel({
    chief: [transfer('crew'), { text: 'Company done.' }],
    foreman: [transfer('worker'), { text: 'Crew done.' }],
    worker: [calls('echo', { text: 'lift' }), { text: 'Lifted.' }],
  });
  const run = await engine.play(teams.chief, { model });
  const { id } = only(await run.waiting(1));
  expect(await run.notes()).toEqual([['start', 'agent', 'company']]);
  await run.goOnAsNew();
  await run.resume(id, { type: 'approve' });
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Company done.' });
  expect(await run.notes()).toEqual([
    ['start', 'agent', 'company'],
    ['end', 'company', 'Company done.'],
  ]);
});
