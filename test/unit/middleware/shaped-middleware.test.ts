import type { AgenticMessage, ChatMessage } from 'holdfast/eino';
import type { Json } from 'holdfast/workflow';
import { agenticMiddleware, chatMiddleware } from 'holdfast/eino';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { LanguageModel } from '../../../activities/models/language-model';
import { agentUnder, agentWith, answerAnew, echo, logOf, only, startRun, tools, transcriptOf } from '../../support/memory-bed';
import { failure, errorOf } from '../../support/failures';

const calling = () => scriptedModel([{ toolCalls: [echo('x')], text: 'Looking.' }, { text: 'Done.' }]);
const user = (text: string): AgenticMessage => ({ role: 'user', blocks: [{ type: 'text', text }] });
const assistant = (text: string): AgenticMessage => ({ role: 'assistant', blocks: [{ type: 'text', text }] });
const agentic = (middleware: Parameters<typeof agenticMiddleware>[0]) => agentUnder(agenticMiddleware(middleware));
const kinds = (messages: readonly AgenticMessage[]): readonly string[] =>
  messages.map(({ role, blocks }) => `${role} ${blocks.map(({ type }) => type).join(' ')}`);

describe('a middleware for agentic messages', () => {
  it('sees them in every hook', async () => {
    const seen: [string, readonly string[]][] = [];
    const see = (hook: string, messages: readonly AgenticMessage[]): void => void seen.push([hook, kinds(messages)]);
    const agent = agentic({
      name: 'seeing',
      beforeModelRewriteState: ({ messages }) => see('before', messages),
      async wrapModel(request, next) {
        see('request', request.messages);
        const response = await next(request);
        see('response', [response.message]);
        return response;
      },
      afterModelRewriteState: ({ messages }) => see('after', messages.slice(-1)),
      afterToolCalls: ({ messages }) => see('tools', messages.slice(-1)),
      afterAgent: ({ messages }) => see('end', messages),
    });
    const run = await startRun(agent, calling());
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const called = 'assistant text function-tool-call';
    const returned = 'user function-tool-result';
    expect(seen).toEqual([
      ['before', ['user text']],
      ['request', ['user text']],
      ['response', [called]],
      ['after', [called]],
      ['tools', [returned]],
      ['before', ['user text', called, returned]],
      ['request', ['user text', called, returned]],
      ['response', ['assistant text']],
      ['after', ['assistant text']],
      ['end', ['user text', called, returned, 'assistant text']],
    ]);
  });

  it('keeps the ids of messages that it returns as they were, also copied, and gives new ones to others', async () => {
    const before: (string | undefined)[][] = [];
    const agent = agentic({
      name: 'editing',
      beforeModelRewriteState({ messages }, ctx) {
        before.push(messages.map(({ id }) => id));
        if (ctx.iteration === 1) return;
        const [first, second, third] = messages;
        if (first === undefined || second === undefined || third === undefined) throw new Error('Too few.');
        return { messages: [{ ...first, blocks: [...first.blocks, { type: 'text', text: '!' }] }, { ...second }, third, user('Well?')] };
      },
    });
    const run = await startRun(agent, calling());
    await run.outcome();
    const after = (await run.transcript()).map(({ id }) => id);
    expect(after.slice(1, 3)).toEqual(before[1]?.slice(1, 3));
    expect(new Set([...after, ...(before[1] ?? [])])).toHaveProperty('size', 6);
    expect(await transcriptOf(run)).toEqual([
      'user: Hi !',
      'assistant: Looking. echo({"text":"x"})',
      'tool: x',
      'user: Well?',
      'assistant: Done.',
    ]);
  });

  it('keeps a message with several results whole, as long as nobody takes it apart', async () => {
    const results = ['1', '2'].map((callId) => ({ type: 'tool-result', callId, name: 'echo', output: 'x' }));
    const calls = ['1', '2'].map((id) => ({ type: 'tool-call', id, name: 'echo', input: { text: 'x' } }));
    const input: Json = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', parts: calls },
      { role: 'tool', parts: results },
    ];
    const seen: (readonly string[])[] = [];
    const passing = agenticMiddleware({
      name: 'passing',
      beforeModelRewriteState({ messages }) {
        seen.push(kinds(messages));
        return { messages: [...messages, user('Well?')] };
      },
      afterModelRewriteState: ({ messages }) => ({ messages: messages.filter((_, position) => position !== 2) }),
    });
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await testRun(agentUnder(passing), { input, model, tools });
    await run.outcome();
    expect(seen[0]).toEqual([
      'user text',
      'assistant function-tool-call function-tool-call',
      ...Array(2).fill('user function-tool-result'),
    ]);
    expect(model.requests[0]?.messages[2]).toMatchObject({ id: 'input.2', parts: results });
    expect((await run.transcript())[2]).toMatchObject({ role: 'tool', parts: [results[1]] });
    expect((await run.transcript())[2]?.id).not.toBe('input.2');
  });

  it('changes a request for one call, and an answer for good', async () => {
    const model = calling();
    const agent = agentic({
      name: 'wrapping',
      async wrapModel(request, next) {
        const { message, ...rest } = await next({ ...request, messages: [user('Prefixed.'), ...request.messages.slice(1)] });
        const blocks = message.blocks.map((block) => (block.type === 'text' ? { ...block, text: block.text.toUpperCase() } : block));
        return { ...rest, message: { ...message, blocks } };
      },
    });
    const run = await startRun(agent, model);
    expect(await run.outcome()).toMatchObject({ text: 'DONE.' });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(model.requests[1]?.messages[0]).toMatchObject({ parts: [{ text: 'Prefixed.' }] });
    expect((await transcriptOf(run))[0]).toBe('user: Hi');
  });

  it('ends the agent with a message of its own, or with a result', async () => {
    const first = await startRun(agentic({ name: 'early', beforeAgent: () => ({ answer: assistant('No.') }) }), []);
    expect(await first.outcome()).toMatchObject({ status: 'completed', text: 'No.' });
    const result = agentic({ name: 'result', afterToolCalls: ({ messages }) => ({ answer: messages.at(-1) as AgenticMessage }) });
    const second = await startRun(result, [{ toolCalls: [echo('x')] }]);
    expect(await second.outcome()).toMatchObject({ status: 'completed', output: 'x' });
    const made = assistant('Made.');
    const own = agentic({ name: 'own', afterToolCalls: ({ messages }) => ({ messages: [...messages, made], answer: made }) });
    const third = await startRun(own, [{ toolCalls: [echo('x')] }]);
    expect(await third.outcome()).toMatchObject({ status: 'completed', text: 'Made.' });
    expect((await third.transcript()).filter(({ role }) => role === 'assistant')).toHaveLength(2);
  });

  it('appends behind an answer, and behind a failure', async () => {
    const agent = agentic({
      name: 'ending',
      afterAgent: () => ({ append: [assistant('By the way.')] }),
      afterFailure: ({ code }, { messages }) => ({ append: [assistant(`${code} behind ${messages.length}`)] }),
    });
    const good = await startRun(agent, [{ text: 'Done.' }]);
    expect(await transcriptOf(good)).toEqual(['user: Hi', 'assistant: Done.', 'assistant: By the way.']);
    const bad = await startRun(agent, [{ error: 'No.' }]);
    expect(await transcriptOf(bad)).toEqual(['user: Hi', 'assistant: model-failed behind 1']);
  });

  it('has a ctx that takes and gives them', async () => {
    const seen: unknown[] = [];
    const agent = agentic({
      name: 'asking',
      async beforeModelRewriteState({ messages }, ctx) {
        const { message } = await ctx.model('other', { messages: [...messages, user('Aside?')] });
        seen.push(message.blocks);
        const note = ctx.ensureMessageId(user('Noted.'));
        ctx.sendEvent({ name: 'noted', message: note });
        ctx.sendEvent('plain', 1);
        seen.push(ctx.agent, ctx.iteration, ctx.userMessage);
        return { messages: [...messages, note] };
      },
    });
    const run = await startRun(agent, [{ text: 'Aside.' }, { text: 'Done.' }]);
    const log = await logOf(run);
    expect(seen).toEqual([[{ type: 'text', text: 'Aside.' }], 'agent', 1, 'Hi']);
    const noted = only(log.flatMap((event) => (event.type === 'custom' && event.name === 'noted' ? [event.data] : [])));
    expect(noted).toEqual({ message: (await run.transcript())[1] });
    expect(log.some((event) => event.type === 'custom' && event.name === 'plain')).toBe(true);
  });

  it('wraps tool calls as ever, and stands beside middleware for stored messages', async () => {
    const agent = agentUnder(
      agenticMiddleware({
        name: 'marking',
        onlyTools: ['echo'],
        wrapToolCall: async (call, next, ctx) => {
          ctx.sendToolAction({ of: call.id });
          return `(${String(await next(call))})`;
        },
      }),
      { name: 'stored', beforeModelRewriteState: ({ messages }) => ({ messages: messages.filter(({ parts }) => parts.length > 0) }) },
    );
    const run = await startRun(agent, calling());
    expect((await transcriptOf(run))[2]).toBe('tool: (x)');
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ action: { of: expect.any(String) as string } });
  });

  it('waits over a continue-as-new', async () => {
    const agent = agentic({
      name: 'waiting',
      async beforeModelRewriteState({ messages }, ctx) {
        const answer = await ctx.interrupt<string>('Go on?');
        return { messages: [...messages, user(answer)] };
      },
    });
    const run = await testRun(agent, { input: [user('Hi')] as Json, model: scriptedModel([{ text: 'Done.' }]), tools });
    await answerAnew(run, 'Yes.');
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'user: Yes.', 'assistant: Done.']);
    expect((await run.transcript())[0]?.id).toBe('input.0');
  });

  it.each<[string, () => unknown, string]>([
    ['a list that is none', () => ({ messages: 'Hi' }), 'beforeModelRewriteState of middleware "wrong" returned messages that are no list'],
    ['something else', () => ({ messages: [user('Hi'), { role: 'tool', blocks: [] }] }), 'middleware "wrong", message 1 is no'],
  ])('that returns %s ends the run with a code', async (_, hook, message) => {
    const run = await startRun(agentic({ name: 'wrong', beforeModelRewriteState: hook as () => undefined }), []);
    expect(await run.outcome()).toMatchObject(failure('message-invalid', expect.stringContaining(message)));
  });

  it('may not answer with several messages', async () => {
    const results: AgenticMessage = {
      role: 'user',
      blocks: ['a', 'b'].map((callId) => ({ type: 'function-tool-result', callId, name: 'echo', output: 'x' })),
    };
    const run = await startRun(agentic({ name: 'many', beforeAgent: () => ({ answer: results }) }), []);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'message-invalid' } });
  });

  it('is refused where it has the classic form', () => {
    expect(() => agenticMiddleware({ name: 'old', beforeChatModel: () => undefined } as never)).toThrow(
      errorOf('agent-invalid', /beforeChatModel/),
    );
    expect(() => agenticMiddleware(undefined as never)).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
  });

  it('that drops a call of the model does not bring down the run', async () => {
    const agent = agentic({
      name: 'dropping',
      async wrapModel(request, next) {
        await next(request).catch(() => undefined);
        void next(request).catch(() => undefined);
        return { message: assistant('Mine.') };
      },
    });
    const run = await startRun(agent, [{ error: 'No.' }, { error: 'No.' }]);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'next-left-running' } });
  });
});

describe('a middleware for chat messages', () => {
  it('sees and returns them', async () => {
    const seen: ChatMessage[][] = [];
    const agent = agentUnder(
      chatMiddleware({
        name: 'chatting',
        beforeModelRewriteState({ messages }, ctx) {
          seen.push([...messages]);
          if (ctx.iteration === 2) return { messages: [...messages, { role: 'user', content: 'Well?' }] };
        },
        async wrapModel(request, next) {
          const { message, ...rest } = await next(request);
          return message.role === 'assistant' && message.toolCalls === undefined
            ? { ...rest, message: { ...message, content: 'Finished.' } }
            : { ...rest, message };
        },
      }),
    );
    const run = await testRun(agent, { input: [{ role: 'user', content: 'Hi' }], model: calling(), tools });
    expect(await run.outcome()).toMatchObject({ text: 'Finished.' });
    expect(seen[1]).toEqual([
      { id: 'input.0', role: 'user', content: 'Hi' },
      {
        id: expect.any(String) as string,
        role: 'assistant',
        content: 'Looking.',
        toolCalls: [{ id: 'call-1-1', name: 'echo', input: { text: 'x' } }],
      },
      { id: expect.any(String) as string, role: 'tool', toolCallId: 'call-1-1', toolName: 'echo', content: 'x' },
    ]);
    expect(await run.transcript({ shape: 'chat' })).toMatchObject([
      { content: 'Hi' },
      { content: 'Looking.' },
      { role: 'tool', content: 'x' },
      { content: 'Well?' },
      { content: 'Finished.' },
    ]);
  });

  it('leaves messages that it does not change as they are, also where its shape cannot hold their order', async () => {
    const parts = [
      { type: 'tool-call' as const, id: '1', name: 'echo', input: { text: 'x' } },
      { type: 'text' as const, text: 'Behind.' },
    ];
    let turn = 0;
    const model: LanguageModel = { generate: async () => ({ parts: turn++ === 0 ? parts : [{ type: 'text', text: 'Done.' }] }) };
    const agent = agentUnder(chatMiddleware({ name: 'same', beforeModelRewriteState: ({ messages }) => ({ messages: [...messages] }) }));
    const run = await startRun(agent, model);
    await run.outcome();
    expect((await run.transcript())[1]?.parts).toEqual(parts);
  });
});

describe('the input of a run', () => {
  it.each<[string, Json]>([
    ['chat', [{ role: 'user', content: 'Hi' }]],
    ['agentic', [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }]],
    [
      'mixed',
      [
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: 'Yes?' },
      ],
    ],
  ])('may be %s messages, and is stored in one shape', async (_, input) => {
    const run = await testRun(agentWith(), { input, model: scriptedModel([{ text: 'Done.' }]), tools });
    expect((await transcriptOf(run))[0]).toBe('user: Hi');
    const [first] = await logOf(run);
    expect(first?.type === 'run-start' ? (first.input as readonly Json[])[0] : undefined).toEqual({
      role: 'user',
      parts: [{ type: 'text', text: 'Hi' }],
    });
  });

  it('that has something else among its messages is refused', async () => {
    const input = [
      { role: 'user', content: 'Hi' },
      { role: 'user', blocks: [{ type: 'tool-call' }] },
    ];
    await expect(testRun(agentWith(), { input, model: scriptedModel([]), tools })).rejects.toMatchObject({ code: 'input-invalid' });
  });
});

it('a transcript has the shapes that there are', async () => {
  const run = await startRun(agentWith(), calling());
  expect(kinds(await run.transcript({ shape: 'agentic' }))).toEqual([
    'user text',
    'assistant text function-tool-call',
    'user function-tool-result',
    'assistant text',
  ]);
  await expect(run.transcript({ shape: 'round' as 'chat' })).rejects.toMatchObject({ code: 'request-invalid' });
});
