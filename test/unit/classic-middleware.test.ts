import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import {
  withAfterModelRewriteHistory,
  withBeforeModelRewriteHistory,
  withInstruction,
  withInstructionFunc,
  withToolCallWrapper,
  withTools,
  withToolsFunc,
} from 'holdfast/eino';
import { agentWith, echo, tools, transcriptOf } from '../support/memory-bed';

const oneCall = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);

describe('a classic middleware', () => {
  it('has its hooks outside of those of the handlers, wherever it stands', async () => {
    const seen: string[] = [];
    const classic = (name: string) => ({
      beforeChatModel: () => void seen.push(`before ${name}`),
      afterChatModel: () => void seen.push(`after ${name}`),
    });
    const handler: AgentMiddleware = {
      name: 'handler',
      beforeModelRewriteState: () => void seen.push('before handler'),
      afterModelRewriteState: () => void seen.push('after handler'),
    };
    const agent = agentWith({ middleware: [classic('A'), handler, classic('B')] });
    await (await testRun(agent, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools })).outcome();
    expect(seen).toEqual(['before A', 'before B', 'before handler', 'after handler', 'after A', 'after B']);
  });

  it('gives instructions and tools before any beforeAgent, each tool once', async () => {
    const seen: unknown[] = [];
    const agent = agentWith({
      instructions: '',
      tools: ['echo'],
      middleware: [
        { name: 'handler', beforeAgent: ({ instructions, tools: names }) => void seen.push([instructions, names]) },
        { additionalInstruction: 'One.', additionalTools: ['echo', 'add'] },
        { additionalInstruction: 'Two.' },
      ],
    });
    await (await testRun(agent, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools })).outcome();
    expect(seen).toEqual([['One.\n\nTwo.', ['echo', 'add']]]);
  });

  it('names a hook that fails as it was written', async () => {
    const failing = () => {
      throw new Error('no');
    };
    const agent = agentWith({ middleware: [{ additionalInstruction: 'x' }, { beforeChatModel: failing }] });
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ error: { message: 'beforeChatModel of middleware "classic.2" failed: no' } });
  });

  it('with a name and a function wrapToolCall alone is a handler, at its place', async () => {
    const marks =
      (name: string): NonNullable<AgentMiddleware['wrapToolCall']> =>
      async (call, next) =>
        `${name}(${String(await next(call))})`;
    const agent = agentWith({
      middleware: [{ name: 'A', wrapToolCall: marks('A') }, { name: 'B', wrapToolCall: marks('B') }, { wrapToolCall: marks('C') }],
    });
    const run = await testRun(agent, { input: 'Hi', model: oneCall(), tools });
    expect((await transcriptOf(run))[2]).toBe('tool: C(A(B(x)))');
  });

  it.each<[string, object, string]>([
    [
      'hooks of a handler',
      { beforeChatModel: () => undefined, wrapModel: () => undefined },
      'has beforeChatModel and also wrapModel; a middleware has one form',
    ],
    ['an instruction that is none', { additionalInstruction: 1 }, 'additionalInstruction of entry 1 of middleware is a text.'],
    ['tools that are none', { additionalTools: 'echo' }, 'additionalTools of entry 1 of middleware are a list'],
    ['a tool without a name', { additionalTools: [''] }, 'the tool "" has no name that a tool can have'],
    ['a hook that is none', { afterChatModel: true }, 'afterChatModel of entry 1 of middleware is no function.'],
    [
      'a wrap for no kind',
      { wrapToolCall: { all: () => undefined } },
      'wrapToolCall of entry 1 of middleware is a function, or an object with invokable',
    ],
    ['an alias of its name', { name: '', additionalInstruction: 'x' }, 'entry 1 of middleware has no name'],
  ])('with %s is refused', (_, entry, message) => {
    expect(() => agentWith({ middleware: [entry as AgentMiddleware] })).toThrow(message);
  });

  it.each<[string, unknown, string]>([
    ['that are no list', {}, 'toolCallMiddlewares are a list.'],
    ['of which one is none', ['wrap'], 'entry 1 of toolCallMiddlewares is a function, or an object'],
    ['of which one says nothing', [{}], 'entry 1 of toolCallMiddlewares is a function, or an object'],
  ])('toolCallMiddlewares %s are refused', (_, toolCallMiddlewares, message) => {
    expect(() => agentWith({ toolCallMiddlewares: toolCallMiddlewares as never })).toThrow(message);
  });
});

describe('a handler of one function', () => {
  it('may stand in the list more than once, and is told apart by a number', async () => {
    const failing = withInstructionFunc(() => {
      throw new Error('no');
    });
    const agent = agentWith({
      middleware: [withInstruction('One.'), withInstruction('Two.'), withInstructionFunc((text) => text), failing],
    });
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ error: { message: 'beforeAgent of middleware "withInstructionFunc.2" failed: no' } });
  });

  it('rewrites messages for good, also for an agent without tools', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const text = (value: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text: value }] });
    const agent = agentWith({
      tools: [],
      middleware: [
        withBeforeModelRewriteHistory((messages) => [...messages, text('Before.')]),
        withAfterModelRewriteHistory((messages) => [text('Instead.'), ...messages.slice(1)]),
      ],
    });
    const run = await testRun(agent, { input: 'Hi', model, tools });
    expect(await transcriptOf(run)).toEqual(['user: Instead.', 'user: Before.', 'assistant: Done.']);
    expect(model.requests[0]?.messages).toHaveLength(2);
  });
});

it.each<[string, () => unknown, string]>([
  ['a number for a text', () => withInstruction(5 as never), 'withInstruction takes a text.'],
  ['a number for a name', () => withTools(5 as never), 'withTools takes names of tools, at least one.'],
  ['no tools', () => withTools(), 'withTools takes names of tools, at least one.'],
  ['a text for a function', () => withToolsFunc('echo' as never), 'withToolsFunc takes a function.'],
  ['nothing for a wrap', () => withToolCallWrapper(undefined as never), 'withToolCallWrapper takes a function.'],
])('a helper refuses %s', (_, make, message) => {
  expect(make).toThrow(expect.objectContaining({ code: 'agent-invalid', message }));
});
