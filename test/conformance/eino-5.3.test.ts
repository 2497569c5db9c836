import type { RunEvent } from '../../contract/events';
import { scriptedModel, testRun } from '../../testing/index';
import type { HookContext, Json, Message } from '../../workflows/index';
import { messagesIn } from '../../middleware/forms/index';
import { failure } from '../support/failures';
import { agentUnder, agentWith, before, echo, only, tools } from '../support/memory-bed';
import * as agents from './agents';
import { closeEngines, onEngines } from './engines';
import * as hooks from './hook-agents';

afterAll(closeEngines);

const answer = () => scriptedModel([{ text: 'Done.' }]);
const oneCall = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const toolEnds = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'tool-end' ? [event] : []));

onEngines('[eino 64] a run-local value is found after the model', async (engine) => {
  const run = await engine.play(agents.remembers, { model: answer() });
  expect(await run.notes()).toEqual([
    ['before', null],
    ['after', 1],
  ]);
});

onEngines('[eino 66] a key that nobody set gives nothing, and no error', async (engine) => {
  const run = await engine.play(hooks.readsUnset, { model: answer() });
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  expect(await run.notes()).toEqual([true]);
});

onEngines('[eino 67] a value that cannot be written down is refused at once, and plain ones pass', async (engine) => {
  expect(await (await engine.play(hooks.setsOdd, { model: answer() })).outcome()).toMatchObject(
    failure('value-not-json', /^The run-local value "key" is not JSON: at.* Keep plain data here\.$/),
  );
  const plain = await engine.play(hooks.setsPlain, { model: answer() });
  expect(await plain.outcome()).toMatchObject({ status: 'completed' });
  expect(await plain.notes()).toEqual(['text', 1, true, 1.5]);
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
  // The question always ends after the direct call.
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

onEngines('[eino 76] a tool that the worker does not know gives one error and nothing else', async (engine) => {
  const model = answer();
  const run = await engine.play(hooks.namesUnknownTool, { model });
  expect(await run.outcome()).toMatchObject(failure('tool-unknown'));
  expect((await run.log()).map(({ type }) => type)).toEqual(['run-start', 'run-end']);
  expect(model.requests).toEqual([]);
});

onEngines('[eino 78] aliases are understood, also where hooks change or add tools', async (engine) => {
  for (const [agent, name] of [
    [hooks.aliasedAdd, 'add'],
    [hooks.aliasedAdd, 'plus'],
    [hooks.aliasedAndChanged, 'plus'],
    [hooks.aliasedAndAdded, 'plus'],
  ] as const) {
    const model = scriptedModel([{ toolCalls: [{ name, input: { first: 2, b: 3 } }] }, { text: 'Done.' }]);
    expect((await (await engine.play(agent, { model })).transcript())[2]).toBe('tool: {"sum":5}');
  }
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

describe.each([
  ['as they are stored', 'parts', { twice: hooks.partsTwice, direct: hooks.partsDirect, all: hooks.parts }],
  ['as agentic messages', 'agentic', { twice: hooks.copiesTwice, direct: hooks.copiesDirect, all: hooks.copies }],
] as const)('messages of several parts, %s,', (_, shape, { twice, direct, all }) => {
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

  onEngines('[eino 81] meet the limit of iterations', async (engine) => {
    const run = await engine.play(twice, { input, model: scripted(call('echo'), call('echo', 2)) });
    expect(await run.outcome()).toMatchObject(failure('max-iterations'));
  });

  onEngines('[eino 81] end with a result that is returned directly', async (engine) => {
    const run = await engine.play(direct, { input, model: scripted(call('echo')) });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'x1' });
  });

  onEngines('[eino 81] go through several turns of tools', async (engine) => {
    const run = await engine.play(all, { input, model: scripted(call('echo'), call('echo', 2), end) });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await run.messages()).map(({ role, parts }) => `${role} ${parts.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text file',
      'assistant reasoning tool-call',
      'tool tool-result',
      'assistant reasoning tool-call',
      'tool tool-result',
      'assistant reasoning text',
    ]);
    expect((await run.agentic()).map(({ role, blocks }) => `${role} ${blocks.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text file',
      'assistant reasoning function-tool-call',
      'user function-tool-result',
      'assistant reasoning function-tool-call',
      'user function-tool-result',
      'assistant reasoning text',
    ]);
    const ends = (await run.log()).flatMap((event) => ('message' in event ? [event.message.id] : []));
    expect((await run.messages()).map(({ id }) => id)).toEqual(['input.0', ...ends]);
  });

  onEngines('[eino 81] wait twice, one interrupt after the other', async (engine) => {
    const run = await engine.play(all, { input, model: scripted(call('asks'), call('asks', 2), end) });
    for (const answer of ['one', 'two']) await run.resume(only(await run.waiting(1)).id, answer);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await run.transcript()).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: x1: "one" with {"asked":"x1"}',
      'tool: x2: "two" with {"asked":"x2"}',
    ]);
  });
});

onEngines('[eino 82] the model gets instructions only where there are some', async (engine) => {
  const model = scriptedModel([{ text: 'Done.' }, { text: 'Done.' }]);
  await (await engine.play(hooks.uninstructed, { model })).outcome();
  await (await engine.play(hooks.instructed, { model })).outcome();
  expect(model.requests.map(({ instructions }) => instructions)).toEqual(['', 'Be a test.']);
  expect(model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([['user'], ['user']]);
});

onEngines('[eino 82] so does a middleware for agentic messages, whose request has them beside the messages', async (engine) => {
  const input: Json = [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }];
  const messages = [['user', [{ type: 'text', text: 'Hi' }]]];
  for (const [agent, instructions] of [
    [hooks.uninstructed, ''],
    [hooks.instructed, 'Be a test.'],
  ] as const) {
    const model = answer();
    expect(await (await engine.play(agent, { input, model })).notes()).toEqual([[instructions, messages]]);
    expect(model.requests.map((request) => request.instructions)).toEqual([instructions]);
  }
});

it.each([
  ['getFailoverModel', { maxRetries: 1, shouldFailover: () => true }],
  ['shouldFailover', { maxRetries: 1, getFailoverModel: () => ({ model: 'test/other' }) }],
])('[eino 77] a failover without %s is refused when the agent is made', (field, failover) => {
  expect(() => agentWith({ failover: failover as never })).toThrow(
    expect.objectContaining({ code: 'agent-invalid', message: `Agent "agent": failover.${field} must be a function. It is missing.` }),
  );
});
