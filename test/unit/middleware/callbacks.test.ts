import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool, defineWorkerMiddleware } from 'holdfast/worker';
import type { AgentMiddleware, Json, Message } from 'holdfast/workflow';
import type { Plugin } from 'holdfast/callbacks';
import { StopError, onWorker, textOf } from 'holdfast/workflow';
import { agentCallbacks, callbacks, modelCallbacks, plugin, toolCallbacks, toolStateKey } from 'holdfast/callbacks';
import { z } from 'zod';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, fails, gate, linesOf, logOf, only, startRun, tools, transcriptOf } from '../../support/memory-bed';

const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });

describe('model callbacks as middleware', () => {
  it('change the request of one call, and not its model', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const set = modelCallbacks().registerBefore(({ request }) => {
      request.instructions = 'Shout.';
      request.messages.push(user('Now!'));
      request.tools = ['echo'];
      (request as { model: string }).model = 'test/other';
    });
    const run = await startRun(agentUnder(set.asMiddleware()), model);
    await run.outcome();
    expect(model.requests[0]).toMatchObject({ instructions: 'Shout.', model: 'test/model', tools: [{ name: 'echo' }] });
    expect(model.requests[0]?.messages).toHaveLength(2);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.']);
  });

  it('may replace messages of the request, and cannot change them in place', async () => {
    const set = modelCallbacks().registerBefore(({ request }) => void ((request.messages[0] as { role: string }).role = 'system'));
    const run = await startRun(agentUnder(set.asMiddleware()), []);
    expect(await run.outcome()).toMatchObject(failureSaying('callback-failed', 'read only'));
  });

  it('see an unchanged answer under its id, and give a changed one a new id', async () => {
    const seen: (string | undefined)[] = [];
    const set = modelCallbacks().registerAfter(({ response }) => {
      seen.push(response?.message.id);
      if (response === undefined || seen.length === 1) return;
      response.message = { ...response.message, parts: [{ type: 'text', text: 'Changed.' }] };
    });
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    await run.outcome();
    const ids = (await run.transcript()).filter(({ role }) => role === 'assistant').map(({ id }) => id);
    expect(ids[0]).toBe(seen[0]);
    expect(ids[1]).not.toBe(seen[1]);
    expect((await transcriptOf(run)).at(-1)).toBe('assistant: Changed.');
  });

  it('see why the model failed, and may answer in its place', async () => {
    const set = modelCallbacks().registerAfter(({ error }) => (error === undefined ? undefined : { customResponse: error.message }));
    const run = await startRun(agentUnder(set.asMiddleware()), [{ error: 'down' }]);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: expect.stringMatching(/^model-failed: .*down/) });
  });

  it('that hand the error on leave it as it was', async () => {
    const play = async (middleware: readonly AgentMiddleware[]): Promise<unknown> =>
      (await startRun(agentUnder(...middleware), [{ error: 'down' }])).outcome();
    const handing = modelCallbacks().registerAfter(({ error }) => {
      if (error !== undefined) throw error;
    });
    expect(await play([handing.asMiddleware()])).toEqual(await play([]));
  });

  it('do not see errors of hooks, and layers outside see errors of theirs', async () => {
    const never = jest.fn();
    const set = modelCallbacks().registerAfter(() => never());
    const inner: AgentMiddleware = { name: 'inner', wrapModel: fails('odd') };
    const run = await startRun(agentUnder(set.asMiddleware(), inner), twoTurns());
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed'));
    expect(never).not.toHaveBeenCalled();
  });

  it('ask people, who answer over a continue-as-new', async () => {
    const set = modelCallbacks().registerBefore(async ({ invocation }) => {
      const count = Number(invocation.state.get('asked') ?? 0) + 1;
      invocation.state.set('asked', count);
      const said = await invocation.ctx?.interrupt<string>('Well?');
      return { customResponse: `${said} ${String(invocation.state.get('asked'))}` };
    });
    const run = await startRun(agentUnder(set.asMiddleware()), []);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, 'yes');
    expect(await run.outcome()).toMatchObject({ text: 'yes 1' });
  });
});

describe('tool callbacks as middleware', () => {
  it('see parsed arguments, and what they change is parsed', async () => {
    const seen: Json[] = [];
    const set = toolCallbacks()
      .registerBefore((call) => {
        seen.push(structuredClone(call.arguments));
        (call.arguments as { a: number }).a = 20;
        delete (call.arguments as { b?: number }).b;
      })
      .registerAfter((call) => void seen.push(call.arguments, call.result ?? null));
    const run = await startRun(agentUnder(set.asMiddleware()), [{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { text: 'Done.' }]);
    expect((await transcriptOf(run))[2]).toBe('tool: {"sum":21}');
    expect(seen).toEqual([{ a: 1, b: 1 }, { a: 20 }, { sum: 21 }]);
  });

  it('leave a result that nobody changed as the tool gave it', async () => {
    const set = toolCallbacks()
      .registerBefore(() => undefined)
      .registerAfter(() => ({}));
    const plain = await startRun(agentUnder(), twoTurns());
    const watched = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect(await transcriptOf(watched)).toEqual(await transcriptOf(plain));
    expect(await linesOf(watched)).toEqual(await linesOf(plain));
  });

  it('take null for a value', async () => {
    const set = toolCallbacks().registerAfter(() => ({ customResult: null }));
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect((await transcriptOf(run))[2]).toBe('tool: null');
  });

  it.each<[string, ReturnType<typeof toolCallbacks>]>([
    ['before', toolCallbacks().registerBefore(fails('no'))],
    ['after', toolCallbacks().registerAfter(fails('no'))],
    ['messages', toolCallbacks().registerToolResultMessages(fails('no'))],
  ])('that fail tell the model, and the run goes on: %s', async (_, set) => {
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await transcriptOf(run))[2]).toBe('tool: error tool callback error: no');
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ error: { code: 'callback-failed' } });
  });

  it('see a failed tool, and one that hands its error on leaves it as it was', async () => {
    const failing = () => scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]);
    const handing = toolCallbacks().registerAfter(({ error }) => {
      if (error !== undefined) throw error;
    });
    const run = await startRun(agentUnder(handing.asMiddleware()), failing());
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'fail' failed: out of order");
  });

  it('keep calls that run side by side apart, by their ids', async () => {
    const set = toolCallbacks()
      .registerBefore((call) => call.invocation.state.set(toolStateKey(call, 'input'), call.arguments))
      .registerAfter(async (call) => {
        const key = toolStateKey(call, 'input');
        await call.invocation.ctx?.sleep('1s');
        const before = call.invocation.state.get(key);
        call.invocation.state.delete(key);
        return { customResult: { before: before ?? null, after: call.result ?? null } };
      });
    const model = scriptedModel([{ toolCalls: ['a', 'b', 'c'].map((text) => ({ ...echo(text), id: `call-${text}` })) }, { text: 'Done.' }]);
    const run = await startRun(agentUnder(set.asMiddleware()), model);
    await run.goOnAsNew();
    await run.advance('1s');
    expect((await transcriptOf(run)).slice(2, 5)).toEqual(
      ['a', 'b', 'c'].map((text) => `tool: {"before":{"text":"${text}"},"after":"${text}"}`),
    );
  });

  it('remember over a continue-as-new which call ends the run, and what follows it', async () => {
    const set = toolCallbacks()
      .registerAfter(() => ({ skipSummarization: true }))
      .registerToolResultMessages(({ defaultMessage }) => [defaultMessage, user('Mind the gap.')]);
    const slow: AgentMiddleware = { name: 'slow', afterToolCalls: async (_, ctx) => void (await ctx.interrupt('Go on?')) };
    const run = await startRun(agentUnder(slow, set.asMiddleware()), twoTurns());
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, true);
    expect(await run.outcome()).toMatchObject({ text: 'x' });
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: x', 'user: Mind the gap.']);
  });

  it.each<[string, (id: string) => readonly Message[], string]>([
    [
      'another call',
      () => [{ role: 'tool', parts: [{ type: 'tool-result', callId: 'other', name: 'echo', output: 'x' }] }],
      'a tool message names the call "other" in place of "call-1-1"',
    ],
    [
      'one call twice',
      () => [1, 2].map((text) => ({ role: 'tool', parts: [{ type: 'text', text: `${text}` }] })),
      'there are 2 tool messages',
    ],
  ])('refuse tool messages of %s', async (_, said, problem) => {
    const set = toolCallbacks().registerToolResultMessages(({ toolCallId }) => said(toolCallId));
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect((await transcriptOf(run))[2]).toContain(`tool: error tool callback error: ${problem}`);
  });
});

describe('agent callbacks as middleware', () => {
  it('pass values on to every later hook', async () => {
    const seen: Json[] = [];
    const set = agentCallbacks()
      .registerBefore(() => ({ values: { tier: 'gold' } }))
      .registerAfter(({ values }) => void seen.push(values['tier'] ?? null));
    const other: AgentMiddleware = { name: 'other', beforeModelRewriteState: (_, ctx) => void seen.push(ctx.values['tier'] ?? null) };
    await (await startRun(agentUnder(set.asMiddleware(), other), twoTurns())).outcome();
    expect(seen).toEqual(['gold', 'gold', 'gold']);
  });

  it('append behind the answer, plugins last', async () => {
    const seen: string[] = [];
    const append = (text: string) => (args: { response?: Message }) => {
      seen.push(args.response === undefined ? '' : textOf(args.response));
      return { customResponse: text };
    };
    const middleware = callbacks({
      plugins: [plugin({ name: 'p', afterAgent: append('Plugin.') })],
      agent: agentCallbacks().registerAfter(append('Own.')),
    });
    const run = await startRun(agentUnder(middleware), [{ text: 'Done.' }]);
    expect(await run.outcome()).toMatchObject({ text: 'Done.' });
    expect((await transcriptOf(run)).slice(1)).toEqual(['assistant: Done.', 'assistant: Own.', 'assistant: Plugin.']);
    expect(seen).toEqual(['Done.', 'Own.']);
  });
});

describe('a StopError', () => {
  const stop = (): never => {
    throw new StopError('out of budget');
  };
  const stopping = defineTool({ description: 'Stops.', inputSchema: z.object({}), retry: { attempts: 3 }, execute: stop });

  it.each<[string, AgentMiddleware]>([
    ['before the agent', agentCallbacks({ continueOnError: true }).registerBefore(stop).asMiddleware()],
    ['after the agent', agentCallbacks().registerAfter(stop).asMiddleware()],
    ['before the model', modelCallbacks({ continueOnError: true }).registerBefore(stop).asMiddleware()],
    ['after the model', modelCallbacks().registerAfter(stop).asMiddleware()],
    ['before a tool', toolCallbacks({ continueOnError: true }).registerBefore(stop).asMiddleware()],
    ['after a tool', toolCallbacks().registerAfter(stop).asMiddleware()],
    ['for messages', toolCallbacks().registerToolResultMessages(stop).asMiddleware()],
    ['in a hook', { name: 'hook', afterToolCalls: stop }],
  ])('%s ends the run with its own code', async (_, middleware) => {
    const run = await startRun(agentUnder(middleware), twoTurns());
    expect(await run.outcome()).toEqual({ status: 'failed', error: { code: 'stopped', message: 'out of budget' } });
    expect((await logOf(run)).at(-1)).toMatchObject({ type: 'run-end', error: { code: 'stopped' } });
  });

  it('of a plugin says whose it is', async () => {
    const middleware = callbacks({ plugins: [plugin({ name: 'quota', beforeTool: stop })] });
    const run = await startRun(agentUnder(middleware), twoTurns());
    expect(await run.outcome()).toMatchObject({ error: { code: 'stopped', message: 'quota: out of budget' } });
  });

  it('of a tool is not tried again, and no custom value clears it', async () => {
    const execute = jest.fn(stop);
    const set = toolCallbacks().registerAfter(({ error }) => ({ customResult: `saw ${error?.message}` }));
    const agent = agentWith({ tools: ['stopping'], middleware: [set.asMiddleware()] });
    const model = scriptedModel([{ toolCalls: [{ name: 'stopping', input: {} }] }]);
    const run = await testRun(agent, { input: 'Hi', model, tools: { stopping: { ...stopping, execute } } });
    expect(await run.outcome()).toMatchObject({ error: { code: 'stopped', message: 'out of budget' } });
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it('of a worker middleware around the model is not tried again', async () => {
    const generate = jest.fn(stop);
    const half = defineWorkerMiddleware('quota', () => ({ wrapModel: { generate } }));
    const run = await startRun(agentUnder(onWorker('quota')), [], { middleware: [half] });
    expect(await run.outcome()).toMatchObject(failureSaying('stopped', 'out of budget'));
    expect(generate).toHaveBeenCalledTimes(1);
  });

  it('of several calls is the first one in their order, and outranks other errors', async () => {
    const door = gate();
    const execute = (message: string) => () =>
      door.opened.then(() => {
        throw new StopError(message);
      });
    const set = toolCallbacks().registerBefore(({ toolName }) => (toolName === 'two' ? door.open() : undefined));
    const broken: AgentMiddleware = { name: 'broken', onlyTools: ['echo'], wrapToolCall: fails('a bug') };
    const agent = agentWith({ tools: ['echo', 'one', 'two'], middleware: [set.asMiddleware(), broken] });
    const stops = Object.fromEntries(
      ['one', 'two'].map((name) => [
        name,
        defineTool({ description: name, inputSchema: z.object({}), effect: 'once', execute: execute(name) }),
      ]),
    );
    const calls = [echo('x'), { name: 'one', input: {} }, { name: 'two', input: {} }];
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ toolCalls: calls }]), tools: { ...tools, ...stops } });
    expect(await run.outcome()).toMatchObject({ error: { code: 'stopped', message: 'one' } });
  });
});

describe('plugins', () => {
  it('run before the callbacks of the agent, and pass values on to them', async () => {
    const seen: string[] = [];
    const noted = (name: string): Plugin => ({
      name,
      beforeAgent: () => void seen.push(`beforeAgent ${name}`),
      beforeModel: () => void seen.push(`beforeModel ${name}`),
      afterModel: () => void seen.push(`afterModel ${name}`),
      beforeTool: () => ({ values: { [name]: true } }),
      afterTool: ({ values }) => void seen.push(`afterTool ${name} ${Object.keys(values).join(' ')}`),
      afterAgent: () => void seen.push(`afterAgent ${name}`),
    });
    const own = noted('own');
    const middleware = callbacks({
      plugins: [plugin(noted('p1')), plugin(noted('p2'))],
      model: modelCallbacks()
        .registerBefore(own.beforeModel as never)
        .registerAfter(own.afterModel as never),
      tool: toolCallbacks()
        .registerBefore(own.beforeTool as never)
        .registerAfter(own.afterTool as never),
      agent: agentCallbacks()
        .registerBefore(own.beforeAgent as never)
        .registerAfter(own.afterAgent as never),
    });
    await (await startRun(agentUnder(middleware), twoTurns())).outcome();
    const around = (place: string): string[] => ['p1', 'p2', 'own'].map((name) => `${place} ${name}`);
    expect(seen).toEqual([
      ...around('beforeAgent'),
      ...around('beforeModel'),
      ...around('afterModel'),
      ...['p1', 'p2', 'own'].map((name) => `afterTool ${name} p1 p2 own`),
      ...around('beforeModel'),
      ...around('afterModel'),
      ...['own', 'p1', 'p2'].map((name) => `afterAgent ${name}`),
    ]);
  });

  it('cost nothing at places where they have no callback', () => {
    expect(callbacks({ plugins: [plugin({ name: 'p', beforeModel: () => undefined })], tool: toolCallbacks() })).toEqual({
      name: 'callbacks',
      wrapModel: expect.any(Function),
    });
  });

  it('may replace the results of a message, and a result that ends the run is the replaced one', async () => {
    const middleware = callbacks({
      plugins: [
        plugin({
          name: 'redact',
          afterToolMessages: ({ toolMessages, toolCalls }) => {
            expect(toolCalls).toHaveLength(2);
            return [...toolMessages].reverse().map((message) => ({
              ...message,
              parts: message.parts.map((part) => (part.type === 'tool-result' ? { ...part, output: `***${String(part.output)}` } : part)),
            }));
          },
        }),
      ],
      tool: toolCallbacks().registerAfter(({ result }) => ({ skipSummarization: result === 'b' })),
    });
    const run = await startRun(agentUnder(middleware), [{ toolCalls: [echo('a'), echo('b')] }]);
    expect(await run.outcome()).toMatchObject({ text: '***b' });
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: ***a', 'tool: ***b']);
  });

  it('are refused with a place that there is not', () => {
    expect(() => plugin({ name: 'p', onEvent: () => undefined } as never)).toThrow(
      /there is no option "onEvent"; there are name, beforeAgent, afterAgent, beforeModel, afterModel, beforeTool, af/,
    );
    expect(() => plugin({ name: 'p', beforeModel: 'no' } as never)).toThrow(/beforeModel must be a function\. It is "no"\./);
  });
});

it('a set that grows later does not change the agent', async () => {
  const set = modelCallbacks().registerBefore(() => undefined);
  const agent = agentUnder(set.asMiddleware('mine'));
  set.registerBefore(fails('late'));
  const run = await startRun(agent, twoTurns());
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
});

describe('values of a callback that are no JSON', () => {
  type Set = { asMiddleware(): AgentMiddleware };
  const none = { values: { f: () => 1 } as never };

  it.each<[string, Set]>([
    ['before agent', agentCallbacks().registerBefore(() => none)],
    ['after agent', agentCallbacks().registerAfter(() => none)],
    ['before model', modelCallbacks().registerBefore(() => ({ values: { f: new Map() } as never }))],
    ['after model', modelCallbacks().registerAfter(() => ({ values: 'text' as never }))],
  ])('are refused: %s', async (phase, set) => {
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect(await run.outcome()).toMatchObject(
      failureSaying('value-not-json', new RegExp(`^${phase} callback returned values that are not JSON`)),
    );
  });

  it.each<[string, Set]>([
    ['before tool', toolCallbacks().registerBefore(() => ({ values: { n: Number.NaN } }))],
    ['after tool', toolCallbacks().registerAfter(() => ({ values: { n: 1n } as never }))],
  ])('are refused, and the model is told: %s', async (phase, set) => {
    const run = await startRun(agentUnder(set.asMiddleware()), twoTurns());
    expect((await transcriptOf(run))[2]).toContain(`${phase} callback returned values that are not JSON`);
  });
});

it('callbacks behind the agent see the result with which it ended, also where another one stands behind it', async () => {
  const seen: unknown[] = [];
  const play = async (skips: boolean): Promise<void> => {
    const skip = toolCallbacks().registerAfter(({ result }) => (skips && result === 'first' ? { skipSummarization: true } : undefined));
    const after = agentCallbacks().registerAfter(({ response }) => void seen.push(response?.parts[0]));
    const agent = agentWith({ middleware: [skip.asMiddleware(), after.asMiddleware()], ...(skips ? {} : { returnDirectly: ['echo'] }) });
    const calls = [echo('first'), { name: 'add', input: { a: 1 } as Json }];
    const run = await startRun(agent, [{ toolCalls: calls }]);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'first' });
  };
  await play(true);
  await play(false);
  expect(seen).toMatchObject([
    { name: 'echo', output: 'first' },
    { name: 'echo', output: 'first' },
  ]);
});
