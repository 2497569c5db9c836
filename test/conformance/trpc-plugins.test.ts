import { scriptedModel, testRun } from 'holdfast/testing';
import type { Message, Plugin } from 'holdfast/workflow';
import { agentCallbacks, callbacks, modelCallbacks, plugin, toolCallbacks } from 'holdfast/workflow';
import { agentUnder, echo, linesOf, tools, transcriptOf } from '../support/memory-bed';

/** Plugins, in runs in memory. */

const done = () => scriptedModel([{ text: 'Done.' }]);
const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const under = (...plugins: readonly Plugin[]) => agentUnder(callbacks({ plugins }));
const fails = (message: string) => (): never => {
  throw new Error(message);
};

it('[trpc 31] beforeAgent answers in place of the agent, with one event', async () => {
  const run = await testRun(under(plugin({ name: 'p', beforeAgent: () => ({ customResponse: 'Closed.' }) })), {
    input: 'Hi',
    model: scriptedModel([]),
    tools,
  });
  expect(await run.outcome()).toMatchObject({ text: 'Closed.' });
  expect(await linesOf(run)).toEqual(['run-start', 'model-end', 'run-end']);
});

it('[trpc 32] afterAgent appends an event behind those of the agent', async () => {
  const run = await testRun(under(plugin({ name: 'p', afterAgent: () => ({ customResponse: 'Appended.' }) })), {
    input: 'Hi',
    model: done(),
    tools,
  });
  expect((await transcriptOf(run)).slice(1)).toEqual(['assistant: Done.', 'assistant: Appended.']);
  expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'model-end', 'run-end']);
});

it('[trpc 33] an error of afterAgent comes behind the answer', async () => {
  const run = await testRun(under(plugin({ name: 'p', afterAgent: fails('late') })), { input: 'Hi', model: done(), tools });
  expect(await run.outcome()).toEqual({
    status: 'failed',
    error: { code: 'callback-failed', message: 'after agent callback failed: p: late' },
  });
  expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
});

it('[trpc 34] afterAgent is told the type and the text of an error', async () => {
  const seen: string[] = [];
  const model = scriptedModel([{ error: 'boom' }]);
  const watching = plugin({ name: 'p', afterAgent: ({ error }) => void seen.push(error?.message ?? '') });
  await (await testRun(under(watching), { input: 'Hi', model, tools })).outcome();
  expect(seen).toEqual([expect.stringMatching(/^model-failed: .*boom/)]);
});

it.each<[string, readonly unknown[]]>([
  ['a name twice', [{ name: 'p' }, { name: 'p' }]],
  ['nothing', [null]],
  ['an empty name', [{ name: '' }]],
])('[trpc 37] %s is refused', (_, plugins) => {
  expect(() => callbacks({ plugins: plugins as readonly Plugin[] })).toThrow(/plugin/);
});

it('[trpc 38] plugins run in order, and one that answers spares the next', async () => {
  const order: string[] = [];
  const noted = (name: string, customResponse?: string): Plugin =>
    plugin({ name, beforeModel: () => (order.push(name), customResponse === undefined ? undefined : { customResponse }) });
  await (await testRun(under(noted('p1'), noted('p2')), { input: 'Hi', model: done(), tools })).outcome();
  expect(order).toEqual(['p1', 'p2']);
  const run = await testRun(under(noted('p1', 'Mine.'), noted('p2')), { input: 'Hi', model: scriptedModel([]), tools });
  expect(await run.outcome()).toMatchObject({ text: 'Mine.' });
  expect(order).toEqual(['p1', 'p2', 'p1']);
});

it.each(['beforeAgent', 'afterAgent', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'afterToolMessages'] as const)(
  '[trpc 39] an error of %s has the name of the plugin',
  async (place) => {
    const run = await testRun(under(plugin({ name: 'the-plugin', [place]: fails('odd') })), { input: 'Hi', model: twoTurns(), tools });
    const outcome = await run.outcome();
    const text = outcome.status === 'failed' ? outcome.error.message : (await transcriptOf(run))[2];
    expect(text).toMatch(place === 'afterToolMessages' ? /^plugin "the-plugin": odd$/ : /the-plugin: odd$/);
  },
);

describe('messages in place of tool messages', () => {
  const message = (callId: string, output = 'replaced'): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name: 'echo', output }],
  });
  const replacing = async (said: unknown) => {
    const model = scriptedModel([
      {
        toolCalls: [
          { ...echo('a'), id: '1' },
          { ...echo('b'), id: '2' },
        ],
      },
      { text: 'Done.' },
    ]);
    const middleware = under(plugin({ name: 'p', afterToolMessages: () => said as readonly Message[] }));
    return testRun(middleware, { input: 'Hi', model, tools });
  };

  it.each<[string, unknown, RegExp]>([
    ['too few', [message('1')], /has 1 messages in place of 2/],
    ['another role', [message('1'), { role: 'user', parts: [] }], /of the role "user", not tool/],
    ['an id twice', [message('1'), message('1')], /has the tool call id "1" twice/],
    ['no id', [message('1'), { role: 'tool', parts: [] }], /has no tool call id/],
    ['an unknown id', [message('1'), message('3')], /has the unknown tool call id "3"/],
    ['no list', 'x', /is no list of messages/],
  ])('[trpc 41] messages in place of tool messages are refused with %s', async (_, said, problem) => {
    const outcome = await (await replacing(said)).outcome();
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'callback-failed', message: expect.stringMatching(problem) } });
    expect(outcome).toMatchObject({ error: { message: expect.stringMatching(/^plugin "p": /) } });
  });

  it('[trpc 41] messages in place of tool messages are put in the order of the calls', async () => {
    const run = await replacing([message('2', 'second'), message('1', 'first')]);
    expect((await transcriptOf(run)).slice(2, 4)).toEqual(['tool: first', 'tool: second']);
  });
});

it('[trpc 51] a plugin that answers before the model, or fails, spares the callbacks of the agent and the model', async () => {
  const never = jest.fn();
  const model = modelCallbacks().registerBefore(() => never());
  for (const [beforeModel, expected] of [
    [() => ({ customResponse: 'Mine.' }), { status: 'completed', text: 'Mine.' }],
    [fails('no'), { status: 'failed', error: { message: 'before model callback failed: p: no' } }],
  ] as const) {
    const middleware = callbacks({ plugins: [plugin({ name: 'p', beforeModel })], model });
    const run = await testRun(agentUnder(middleware), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject(expected);
  }
  expect(never).not.toHaveBeenCalled();
});

it('[trpc 52] a plugin that answers after the model spares the callbacks of the agent; its values reach them', async () => {
  const seen: unknown[] = [];
  const model = modelCallbacks().registerAfter(({ values }) => void seen.push(values['key']));
  const play = async (afterModel: Plugin['afterModel']): Promise<unknown> => {
    const middleware = callbacks({ plugins: [{ name: 'p', ...(afterModel === undefined ? {} : { afterModel }) }], model });
    return (await testRun(agentUnder(middleware), { input: 'Hi', model: done(), tools })).outcome();
  };
  expect(await play(() => ({ customResponse: 'Mine.' }))).toMatchObject({ text: 'Mine.' });
  expect(seen).toEqual([]);
  expect(await play(() => ({ values: { key: 'from the plugin' } }))).toMatchObject({ text: 'Done.' });
  expect(seen).toEqual(['from the plugin']);
});

it('[trpc 63] a plugin that answers before a tool spares the tool and the callbacks of the agent', async () => {
  const never = jest.fn();
  const tool = toolCallbacks()
    .registerBefore(() => never())
    .registerAfter(() => never());
  const middleware = callbacks({ plugins: [plugin({ name: 'p', beforeTool: () => ({ customResult: 'mine' }) })], tool });
  const run = await testRun(agentUnder(middleware), { input: 'Hi', model: twoTurns(), tools });
  expect((await transcriptOf(run))[2]).toBe('tool: mine');
  expect(await linesOf(run)).not.toContain('tool-start echo');
  expect(never).not.toHaveBeenCalled();
});

it('[trpc 64] a plugin that fails before a tool spares the tool and the callbacks of the agent', async () => {
  const never = jest.fn();
  const tool = toolCallbacks().registerBefore(() => never());
  const middleware = callbacks({ plugins: [plugin({ name: 'p', beforeTool: fails('no') })], tool });
  const run = await testRun(agentUnder(middleware), { input: 'Hi', model: twoTurns(), tools });
  expect((await transcriptOf(run))[2]).toBe('tool: error tool callback error: p: no');
  expect(await linesOf(run)).not.toContain('tool-start echo');
  expect(never).not.toHaveBeenCalled();
});

it.each(['echo', 'fail'])(
  '[trpc 67] a custom result of a plugin after the tool %s counts, and spares the callbacks of the agent',
  async (name) => {
    const never = jest.fn();
    const middleware = callbacks({
      plugins: [plugin({ name: 'p', afterTool: () => ({ customResult: { mine: true } }) })],
      tool: toolCallbacks().registerAfter(() => never()),
    });
    const model = scriptedModel([{ toolCalls: [{ name, input: name === 'echo' ? { text: 'x' } : {} }] }, { text: 'Done.' }]);
    const run = await testRun(agentUnder(middleware), { input: 'Hi', model, tools });
    expect((await transcriptOf(run))[2]).toBe('tool: {"mine":true}');
    expect(never).not.toHaveBeenCalled();
  },
);

it.each<[string, Plugin]>([
  ['has only a beforeTool', { name: 'p', beforeTool: () => undefined }],
  ['says nothing', { name: 'p', afterTool: () => undefined }],
])('[trpc 67] a plugin that %s hides no callback of the agent', async (_, one) => {
  const after = jest.fn();
  const middleware = callbacks({ plugins: [plugin(one)], tool: toolCallbacks().registerAfter(() => after()) });
  await (await testRun(agentUnder(middleware), { input: 'Hi', model: twoTurns(), tools })).outcome();
  expect(after).toHaveBeenCalledTimes(1);
});

it('[trpc 136] an error before the agent, of a plugin too, fails the run before anything else', async () => {
  for (const middleware of [
    agentCallbacks().registerBefore(fails('no')).asMiddleware(),
    callbacks({ plugins: [plugin({ name: 'p', beforeAgent: fails('no') })] }),
  ]) {
    const run = await testRun(agentUnder(middleware), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'callback-failed', message: expect.stringMatching(/^before agent callback failed: (p: )?no$/) },
    });
    expect(await linesOf(run)).toEqual(['run-start', 'run-end']);
  }
});
