import { scriptedModel } from 'holdfast/testing';
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
import { agentWith, echo, fails, startRun, transcriptOf } from '../../support/memory-bed';

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
    await (await startRun(agentWith({ middleware: [classic('A'), handler, classic('B')] }), [{ text: 'Done.' }])).outcome();
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
    await (await startRun(agent, [{ text: 'Done.' }])).outcome();
    expect(seen).toEqual([['One.\n\nTwo.', ['echo', 'add']]]);
  });

  it('names a hook that fails as it was written', async () => {
    const failing = fails('no');
    const run = await startRun(agentWith({ middleware: [{ additionalInstruction: 'x' }, { beforeChatModel: failing }] }), []);
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
    const run = await startRun(agent, oneCall());
    expect((await transcriptOf(run))[2]).toBe('tool: C(A(B(x)))');
  });

  it.each<[string, object]>([
    ['has beforeChatModel and also wrapModel; a middleware has one form', { beforeChatModel: () => undefined, wrapModel: () => undefined }],
    ['middleware[0].additionalInstruction must be a string. It is 1.', { additionalInstruction: 1 }],
    ['middleware[0].additionalTools must be an array of tool names. It is "echo".', { additionalTools: 'echo' }],
    ['the tool "" has no name that a tool can have', { additionalTools: [''] }],
    ['middleware[0].afterChatModel must be a function. It is true.', { afterChatModel: true }],
    [
      'middleware[0].wrapToolCall must be a function, or an object with invokable, streamable, enhancedInvokable, enhancedStreamable',
      { wrapToolCall: { all: () => undefined } },
    ],
    ['middleware[0] has no name; every middleware needs one.', { name: '', additionalInstruction: 'x' }],
  ])('is refused: %s', (message, entry) => {
    expect(() => agentWith({ middleware: [entry as AgentMiddleware] })).toThrow(message);
  });

  it.each<[string, unknown]>([
    ['toolCallMiddlewares must be an array. It is {}.', {}],
    ['toolCallMiddlewares[0] must be a function, or an object with invokable, streamable, enhancedInvokable, enhancedStreamable', ['wrap']],
    ['toolCallMiddlewares[0] must be a function, or an object with invokable, streamable, enhancedInvokable, enhancedStreamable', [{}]],
  ])('is refused for toolCallMiddlewares: %s', (message, toolCallMiddlewares) => {
    expect(() => agentWith({ toolCallMiddlewares: toolCallMiddlewares as never })).toThrow(message);
  });
});

describe('a handler of one function', () => {
  it('may stand in the list more than once, and is told apart by a number', async () => {
    const failing = withInstructionFunc(fails('no'));
    const agent = agentWith({
      middleware: [withInstruction('One.'), withInstruction('Two.'), withInstructionFunc((text) => text), failing],
    });
    const run = await startRun(agent, []);
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
    const run = await startRun(agent, model);
    expect(await transcriptOf(run)).toEqual(['user: Instead.', 'user: Before.', 'assistant: Done.']);
    expect(model.requests[0]?.messages).toHaveLength(2);
  });
});

it.each<[string, () => unknown]>([
  ['withInstruction: its argument must be a string. It is 5.', () => withInstruction(5 as never)],
  ['withTools: its argument must be an array of at least one string that is not blank. It is [5].', () => withTools(5 as never)],
  ['withTools: its argument must be an array of at least one string that is not blank. It is [].', () => withTools()],
  ['withToolsFunc: its argument must be a function. It is "echo".', () => withToolsFunc('echo' as never)],
  ['withToolCallWrapper: its argument must be a function. It is missing.', () => withToolCallWrapper(undefined as never)],
])('a helper refuses its argument: %s', (message, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'agent-invalid', message }));
});
