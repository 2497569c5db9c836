import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentUnder, agentWith, echo, linesOf, logOf, tools, transcriptOf } from '../support/memory-bed';

const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const user = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

describe('hooks', () => {
  it('run in registration order, the after hooks too', async () => {
    const seen: string[] = [];
    const noted = (name: string): AgentMiddleware => ({
      name,
      beforeAgent: () => void seen.push(`beforeAgent ${name}`),
      beforeModelRewriteState: () => void seen.push(`beforeModel ${name}`),
      afterModelRewriteState: () => void seen.push(`afterModel ${name}`),
      afterToolCalls: () => void seen.push(`afterTools ${name}`),
      afterAgent: () => void seen.push(`afterAgent ${name}`),
    });
    await (await testRun(agentUnder(noted('A'), noted('B')), { input: 'Hi', model: twoTurns(), tools })).outcome();
    const both = (hook: string): string[] => [`${hook} A`, `${hook} B`];
    expect(seen).toEqual([
      ...both('beforeAgent'),
      ...both('beforeModel'),
      ...both('afterModel'),
      ...both('afterTools'),
      ...both('beforeModel'),
      ...both('afterModel'),
      ...both('afterAgent'),
    ]);
  });

  it('each see what the earlier ones changed', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const append = (name: string): AgentMiddleware => ({
      name,
      beforeAgent: ({ instructions }) => ({ instructions: `${instructions} ${name}` }),
      beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, user(name)] }),
    });
    const run = await testRun(agentUnder(append('A'), append('B')), { input: 'Hi', model, tools });
    await run.outcome();
    expect(model.requests[0]?.instructions).toBe('Be a test. A B');
    expect(model.requests[0]?.messages).toHaveLength(3);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'user: A', 'user: B', 'assistant: Done.']);
  });

  it('may take tools away and add some that the worker has', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { text: 'Done.' }]);
    const agent = agentWith({
      tools: ['echo', 'fail'],
      middleware: [{ name: 'own', beforeAgent: (setup) => ({ tools: [...setup.tools.filter((tool) => tool !== 'fail'), 'add'] }) }],
    });
    const run = await testRun(agent, { input: 'Hi', model, tools });
    expect((await run.outcome()).status).toBe('completed');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'add']);
    expect((await transcriptOf(run))[2]).toBe('tool: {"sum":2}');
  });

  it('decide by the last message: a tool call that is added runs, one that is taken away does not', async () => {
    const adds: AgentMiddleware = {
      name: 'adds',
      afterModelRewriteState: ({ messages }, ctx) =>
        ctx.iteration > 1
          ? undefined
          : {
              messages: [
                ...messages.slice(0, -1),
                { role: 'assistant', parts: [{ type: 'tool-call', id: 'added', name: 'echo', input: { text: 'added' } }] },
              ],
            },
    };
    const run = await testRun(agentUnder(adds), { input: 'Hi', model: scriptedModel([{ text: 'Enough.' }, { text: 'Done.' }]), tools });
    expect(await run.outcome()).toMatchObject({ text: 'Done.' });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"added"})', 'tool: added', 'assistant: Done.']);
  });

  it('after the model do not change the event that was sent', async () => {
    const edits: AgentMiddleware = {
      name: 'edits',
      afterModelRewriteState: ({ messages }) => ({
        messages: [...messages.slice(0, -1), { ...messages.at(-1), role: 'assistant', parts: [{ type: 'text', text: 'Edited.' }] }],
      }),
    };
    const run = await testRun(agentUnder(edits), { input: 'Hi', model: scriptedModel([{ text: 'Original.' }]), tools });
    expect(await run.outcome()).toMatchObject({ output: 'Edited.' });
    const shown = (await logOf(run)).find((event) => event.type === 'model-end');
    expect(shown).toMatchObject({ message: { parts: [{ type: 'text', text: 'Original.' }] } });
    const kept = (await run.transcript()).at(-1);
    expect(kept?.parts).toEqual([{ type: 'text', text: 'Edited.' }]);
    expect(kept?.id).not.toBe(shown?.type === 'model-end' ? shown.message.id : '');
  });

  it('find tool results in the state before afterToolCalls, once for each iteration with calls', async () => {
    const seen: string[] = [];
    const watching: AgentMiddleware = { name: 'watching', afterToolCalls: ({ messages }) => void seen.push(messages.at(-1)?.role ?? '') };
    const model = scriptedModel([{ toolCalls: [echo('a')] }, { toolCalls: [echo('b'), echo('c')] }, { text: 'Done.' }]);
    await (await testRun(agentUnder(watching), { input: 'Hi', model, tools })).outcome();
    expect(seen).toEqual(['tool', 'tool']);
  });

  it('put a message behind tool results once, not twice', async () => {
    const model = scriptedModel([{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    const injecting: AgentMiddleware = {
      name: 'injecting',
      afterToolCalls: ({ messages }) => ({ messages: [...messages, user('Mind the gap.')] }),
    };
    await (await testRun(agentUnder(injecting), { input: 'Hi', model, tools })).outcome();
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('afterAgent comes on a final answer and on return-directly, not on failure', async () => {
    const ended: string[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      afterAgent: ({ messages }) => void ended.push(messages.map(({ role }) => role).join(' ')),
    };
    await (await testRun(agentUnder(watching), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools })).outcome();
    await (
      await testRun(agentWith({ middleware: [watching], returnDirectly: ['echo'] }), {
        input: 'Hi',
        model: scriptedModel([{ toolCalls: [echo('x')] }]),
        tools,
      })
    ).outcome();
    await (await testRun(agentUnder(watching), { input: 'Hi', model: scriptedModel([{ error: 'down' }]), tools })).outcome();
    await (
      await testRun(agentWith({ middleware: [watching], maxIterations: 1 }), {
        input: 'Hi',
        model: scriptedModel([{ toolCalls: [echo('x')] }]),
        tools,
      })
    ).outcome();
    expect(ended).toEqual(['user assistant', 'user assistant tool']);
  });

  it('that fail in afterAgent fail the run after the answer was shown', async () => {
    const failing: AgentMiddleware = {
      name: 'failing',
      afterAgent: () => {
        throw new Error('late');
      },
    };
    const never = jest.fn();
    const run = await testRun(agentUnder(failing, { name: 'never', afterAgent: never }), {
      input: 'Hi',
      model: scriptedModel([{ text: 'Done.' }]),
      tools,
    });
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'hook-failed', message: 'afterAgent of middleware "failing" failed: late' },
    });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
    expect(never).not.toHaveBeenCalled();
  });

  it.each(['beforeAgent', 'beforeModelRewriteState', 'afterModelRewriteState', 'afterToolCalls'] as const)(
    'end the run when %s throws, by name, and later ones do not run',
    async (hook) => {
      const never = jest.fn();
      const model = twoTurns();
      const failing = {
        name: 'failing',
        [hook]: () => {
          throw new Error('no');
        },
      };
      const run = await testRun(agentUnder(failing, { name: 'never', [hook]: never }), { input: 'Hi', model, tools });
      expect(await run.outcome()).toEqual({
        status: 'failed',
        error: { code: 'hook-failed', message: `${hook} of middleware "failing" failed: no` },
      });
      expect(never).not.toHaveBeenCalled();
      expect(model.requests).toHaveLength(hook === 'afterModelRewriteState' || hook === 'afterToolCalls' ? 1 : 0);
    },
  );

  it.each([
    ['a list', [], /returned object; return nothing or an object/],
    ['a text', 'keep', /returned string; return nothing or an object/],
    ['messages that are none', { messages: [{ role: 'nobody' }] }, /message 0 is no message/],
    ['messages that are no list', { messages: 'all' }, /returned messages that are no list/],
    ['tools that are no names', { tools: [1] }, /returned tools that are no list of names/],
    ['a tool that no worker has', { tools: ['teleport'] }, /named the tool "teleport", which no worker has/],
    ['values that are not JSON', { values: { when: new Date(0) } }, /passed on a value that is not JSON: when is a Date/],
  ])('that return %s fail the run by name', async (_, update, message) => {
    const bad = { name: 'bad', beforeModelRewriteState: () => update } as unknown as AgentMiddleware;
    const run = await testRun(agentUnder(bad), { input: 'Hi', model: twoTurns(), tools });
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(message) } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('beforeModelRewriteState of middleware "bad"') } });
  });

  it('that leave no message fail the run as the spec says', async () => {
    const empty: AgentMiddleware = { name: 'empty', afterModelRewriteState: () => ({ messages: [] }) };
    const run = await testRun(agentUnder(empty), { input: 'Hi', model: twoTurns(), tools });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'message-invalid', message: expect.stringContaining('after the model call') },
    });
  });

  it('that wait for what never comes are named, and the run ends', async () => {
    const stuck: AgentMiddleware = { name: 'stuck', beforeModelRewriteState: () => new Promise<never>(() => undefined) };
    const run = await testRun(agentUnder(stuck), { input: 'Hi', model: twoTurns(), tools });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: {
        code: 'hook-stalled',
        message: expect.stringContaining('beforeModelRewriteState of middleware "stuck" waits for something that never comes'),
      },
    });
  });

  it('pass values on to later hooks, wraps and turns', async () => {
    const seen: unknown[] = [];
    const first: AgentMiddleware = {
      name: 'first',
      beforeAgent: () => ({ values: { tier: 'gold' } }),
      beforeModelRewriteState: (_, ctx) => ({ values: { turn: ctx.iteration } }),
    };
    const second: AgentMiddleware = {
      name: 'second',
      beforeModelRewriteState: (_, ctx) => void seen.push({ ...ctx.values }),
      wrapToolCall: (call, next, ctx) => (seen.push({ ...ctx.values }), next(call)),
    };
    await (await testRun(agentUnder(first, second), { input: 'Hi', model: twoTurns(), tools, values: { user: 'u1' } })).outcome();
    expect(seen).toEqual([
      { user: 'u1', tier: 'gold', turn: 1 },
      { user: 'u1', tier: 'gold', turn: 1 },
      { user: 'u1', tier: 'gold', turn: 2 },
    ]);
  });

  it('do not share what they return with the run', async () => {
    const message = user('mutable');
    const list = [message];
    const sharing: AgentMiddleware = {
      name: 'sharing',
      beforeModelRewriteState: () => ({ messages: list }),
      afterModelRewriteState: () => {
        list.length = 0;
      },
    };
    const run = await testRun(agentUnder(sharing), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
    await run.outcome();
    expect(await transcriptOf(run)).toEqual(['user: mutable', 'assistant: Done.']);
  });
});
