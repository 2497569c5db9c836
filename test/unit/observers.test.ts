import { scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedModel, TestRunOptions } from 'holdfast/testing';
import type { Observed, ObservedEnd, ObservedError, Observer } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import { z } from 'zod';
import { Observers } from '../../activities/worker-middleware/observers';
import type { LanguageModel } from '../../activities/models/models';
import type { RunOptions } from '../../contract/run-options';
import { agentWith, echo, only, toolOf, tools, transcriptOf } from '../support/memory-bed';
import { failure } from '../support/failures';

type Seen = readonly ['start', Observed] | readonly ['end', ObservedEnd] | readonly ['error', ObservedError];

function keeping(seen: Seen[]): Pick<Observer, 'onStart' | 'onEnd' | 'onError'> {
  return {
    onStart: (observed) => void seen.push(['start', observed]),
    onEnd: (observed) => void seen.push(['end', observed]),
    onError: (observed) => void seen.push(['error', observed]),
  };
}

function linesOf(seen: readonly Seen[]): readonly string[] {
  return seen.map(([what, observed]) => {
    const which = observed.kind === 'tool' ? observed.tool : observed.kind === 'model' ? observed.model : observed.agent;
    return `${what} ${observed.kind} ${which}`;
  });
}

const started = async (
  seen: { readonly worker?: Seen[]; readonly workflow?: Seen[] },
  model: ScriptedModel | LanguageModel,
  options: Partial<Omit<TestRunOptions<string>, 'input'>> = {},
  middleware: readonly AgentMiddleware[] = [],
  agent: Parameters<typeof agentWith>[0] = {},
) =>
  testRun(
    agentWith({
      ...agent,
      middleware: [...(seen.workflow === undefined ? [] : [{ name: 'observing', ...keeping(seen.workflow) }]), ...middleware],
    }),
    {
      input: 'Hi',
      model,
      tools,
      ...(seen.worker === undefined ? {} : { observers: [{ name: 'observing', ...keeping(seen.worker) }] }),
      ...options,
    },
  );

const usage = { inputTokens: 3, outputTokens: 2 };

const ofModel = ['start model test/model', 'end model test/model'];
const ofTool = (tool: string): readonly string[] => [`start tool ${tool}`, `end tool ${tool}`];

describe('an observer of the worker', () => {
  it('sees model and tool calls, with what goes in and comes out', async () => {
    const worker: Seen[] = [];
    const options: RunOptions = { toolOptions: { add: { precise: true } } };
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'add', input: { a: 1 } }], usage }, { text: 'Done.' }]);
    await (await started({ worker }, model, { id: 'r1', options, stream: false })).result();
    expect(linesOf(worker)).toEqual([...ofModel, ...ofTool('add'), ...ofModel]);
    const place = { agent: 'agent', runId: 'r1', attempt: 1, startedAt: expect.any(Number) };
    const [model1, modelEnd, tool1, toolEnd] = worker.map(([, observed]) => observed);
    expect(model1).toMatchObject({
      ...place,
      id: 'agent/t1/model',
      request: { instructions: 'Be a test.', tools: ['echo', 'add', 'fail'] },
    });
    expect(modelEnd).toMatchObject({ ...place, id: 'agent/t1/model', endedAt: expect.any(Number), response: { usage } });
    const add = { ...place, kind: 'tool', tool: 'add', callId: 'c', id: 'agent/t1/add.0' };
    expect(tool1).toEqual({ ...add, input: { a: 1, b: 1 }, options: { precise: true } });
    expect(toolEnd).toEqual({ ...add, endedAt: expect.any(Number), output: { sum: 2 } });
  });

  it('sees streams as a whole', async () => {
    const worker: Seen[] = [];
    const streams = defineTool({
      description: 'Streams.',
      inputSchema: z.object({}),
      async *stream() {
        yield 'a';
        yield 'b';
      },
    });
    let called = false;
    const model: LanguageModel = {
      generate: () => Promise.reject(new Error('Nobody asks for it whole.')),
      async *stream() {
        yield { type: 'text', text: 'He' };
        yield { type: 'text', text: 'llo' };
        if (!called) yield { type: 'part', part: { type: 'tool-call', id: 'c', name: 'streams', input: {} } };
        called = true;
        yield { type: 'finish', usage };
      },
    };
    await (await started({ worker }, model, { tools: { ...tools, streams } }, [], { tools: ['streams'] })).result();
    const ends = worker.flatMap(([what, observed]) => (what === 'end' ? [observed] : []));
    expect(ends).toMatchObject([
      { kind: 'model', response: { usage, message: { parts: [{ text: 'Hello' }, { name: 'streams' }] } } },
      { kind: 'tool', output: 'ab' },
      { kind: 'model', response: { message: { parts: [{ text: 'Hello' }] } } },
    ]);
  });

  it('sees that a stream was cut off', async () => {
    const worker: Seen[] = [];
    const model: LanguageModel = {
      generate: () => Promise.reject(new Error('Nobody asks for it whole.')),
      async *stream() {
        yield { type: 'text', text: 'Hel' };
      },
    };
    await (await started({ worker }, model)).outcome();
    expect(worker[1]).toMatchObject(['error', { error: { code: 'model-failed', message: 'The stream of the model was cut off.' } }]);
  });

  it('sees each attempt, and its error', async () => {
    const worker: Seen[] = [];
    let calls = 0;
    const shaky = toolOf(
      () => {
        if (++calls === 1) throw new Error('not yet');
        return 'now';
      },
      { retry: { attempts: 2 } },
    );
    const model = scriptedModel([{ error: 'busy', retryable: true }, { toolCalls: [{ name: 'shaky', input: {} }] }, { text: 'Done.' }]);
    await (await started({ worker }, model, { tools: { ...tools, shaky }, stream: false }, [], { tools: ['shaky'] })).result();
    expect(worker.map(([what, { kind, attempt }]) => `${what} ${kind} ${attempt}`).slice(0, 8)).toEqual([
      'start model 1',
      'error model 1',
      'start model 2',
      'end model 2',
      'start tool 1',
      'error tool 1',
      'start tool 2',
      'end tool 2',
    ]);
    const errors = worker.flatMap(([what, observed]) => (what === 'error' ? [observed.error] : []));
    expect(errors).toEqual([
      { code: 'model-failed', message: expect.stringContaining('busy') },
      { code: 'tool-failed', message: 'not yet' },
    ]);
  });

  it('sees that a tool asked a person, and its next execution', async () => {
    const worker: Seen[] = [];
    const asks = toolOf((_, call) => (call.resumed === undefined ? call.interrupt('Go on?') : 'went on'));
    const model = scriptedModel([{ toolCalls: [{ name: 'asks', input: {} }] }, { text: 'Done.' }]);
    const run = await started({ worker }, model, { tools: { ...tools, asks } }, [], { tools: ['asks'] });
    await run.outcome();
    await run.resume(only(await run.interrupts()).id, 'yes');
    await run.result();
    const ends = worker.flatMap(([what, observed]) => (what === 'end' && observed.kind === 'tool' ? [observed] : []));
    expect(ends).toMatchObject([{ output: null, interrupted: true }, { output: 'went on' }]);
  });

  it('sees what hooks call, and of some agents nothing', async () => {
    const seen: Seen[] = [];
    const others: Seen[] = [];
    const hook: AgentMiddleware = {
      name: 'hook',
      async beforeAgent(_, ctx) {
        await ctx.call('echo', { text: 'x' });
        await ctx.model('test/other', { messages: [] });
      },
    };
    const observers = [
      { name: 'these', agents: ['agent'], ...keeping(seen) },
      { name: 'others', agents: ['other'], ...keeping(others) },
    ];
    await (await started({}, scriptedModel([{ text: 'Hidden.' }, { text: 'Done.' }]), { observers }, [hook])).result();
    expect(linesOf(seen).slice(0, 4)).toEqual(['start tool echo', 'end tool echo', 'start model test/other', 'end model test/other']);
    expect(others).toEqual([]);
  });

  it('lies around those that stand behind it', async () => {
    const order: string[] = [];
    const observers = ['A', 'B'].map((name) => ({
      name,
      onStart: () => void order.push(`${name} start`),
      onEnd: () => void order.push(`${name} end`),
    }));
    await (await started({}, scriptedModel([{ text: 'Done.' }]), { observers })).result();
    expect(order).toEqual(['A start', 'B start', 'B end', 'A end']);
  });

  it('that throws or rejects is reported once, and the run goes on', async () => {
    const problems: string[] = [];
    const observers: readonly Observer[] = [
      {
        name: 'broken',
        onStart: () => {
          throw new Error('no exporter');
        },
        onEnd: () => Promise.reject(new Error('no network')),
      },
    ];
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const run = await started({}, model, { observers, onProblem: ({ code, message }) => problems.push(`${code}: ${message}`) });
    expect(await run.result()).toBe('Done.');
    expect(problems).toEqual([
      'observer-failed: onStart of observer "broken" failed: no exporter. This is told once.',
      'observer-failed: onEnd of observer "broken" failed: no network. This is told once.',
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /an observer must be an object, not null\./],
    ['no name', { onStart: () => undefined }, /has no name/],
    ['no function', { name: 'x' }, /"x" has no function; it needs onStart, onEnd, onError/],
    ['an onEnd that is no function', { name: 'x', onEnd: 'log' }, /onEnd of observer "x" must be a function\. It is "log"\./],
    [
      'agents that are no list',
      { name: 'x', agents: 'a', onEnd: () => undefined },
      /agents of observer "x" must be an array .*\. It is "a"\./,
    ],
  ])('is refused when the worker starts: %s', (_, observer, message) => {
    expect(() => new Observers([observer as Observer])).toThrow(message);
  });
});

describe('an observer of the workflow', () => {
  it('sees the agent around its model and tool calls', async () => {
    const workflow: Seen[] = [];
    const model = scriptedModel([
      { toolCalls: [{ ...echo('x'), id: 'c' }], usage },
      { text: 'Done.', usage },
    ]);
    const run = await started({ workflow }, model, { id: 'r1', now: new Date(1000) });
    await run.result();
    expect(linesOf(workflow)).toEqual(['start agent agent', ...ofModel, ...ofTool('echo'), ...ofModel, 'end agent agent']);
    const place = { agent: 'agent', runId: 'r1', id: 'agent', startedAt: 1000 };
    expect(workflow[0]?.[1]).toMatchObject({ ...place, kind: 'agent', input: [{ role: 'user' }] });
    expect(workflow[7]?.[1]).toEqual({
      ...place,
      kind: 'agent',
      endedAt: 1000,
      output: 'Done.',
      usage: { inputTokens: 6, outputTokens: 4 },
    });
    expect(workflow[3]?.[1]).toMatchObject({ tool: 'echo', callId: 'c', input: { text: 'x' }, options: {} });
    expect(workflow[3]?.[1].id).toBe(workflow[4]?.[1].id);
    expect(new Set(workflow.map(([, { id }]) => id)).size).toBe(4);
  });

  it('sees what wraps made of a request, and not what they make of the answer', async () => {
    const workflow: Seen[] = [];
    const wrap: AgentMiddleware = {
      name: 'wrap',
      wrapModel: async (request, next) => {
        const response = await next({ ...request, instructions: 'Other.' });
        return { ...response, message: { role: 'assistant', parts: [{ type: 'text', text: 'Changed.' }] } };
      },
    };
    await (await started({ workflow }, scriptedModel([{ text: 'Said.' }]), {}, [wrap])).result();
    expect(workflow[1]?.[1]).toMatchObject({ request: { instructions: 'Other.' } });
    expect(workflow[2]?.[1]).toMatchObject({ response: { message: { parts: [{ text: 'Said.' }] } } });
    expect(workflow[3]?.[1]).toMatchObject({ output: 'Changed.' });
  });

  it('sees the error of a tool, of which the model is told', async () => {
    const workflow: Seen[] = [];
    const run = await started({ workflow }, scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]));
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'fail' failed: out of order");
    expect(workflow[4]).toMatchObject(['error', { kind: 'tool', error: { code: 'tool-failed' } }]);
  });

  it('sees each attempt of a model that is asked again', async () => {
    const workflow: Seen[] = [];
    const model = scriptedModel([{ error: 'busy', retryable: true }, { text: 'Done.' }]);
    const run = await started({ workflow }, model, {}, [], { retry: { maxRetries: 1 } });
    await run.outcome();
    await run.advance('1m');
    expect(await run.result()).toBe('Done.');
    expect(
      linesOf(workflow)
        .slice(1, -1)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['start', 'error', 'start', 'end']);
  });

  it('sees how an agent fails, also in its setup', async () => {
    const workflow: Seen[] = [];
    const broken: AgentMiddleware = {
      name: 'broken',
      beforeAgent: () => {
        throw new Error('no');
      },
    };
    await (await started({ workflow }, scriptedModel([]), {}, [broken])).outcome();
    expect(linesOf(workflow)).toEqual(['start agent agent', 'error agent agent']);
    expect(workflow[1]?.[1]).toMatchObject({ error: { code: 'hook-failed', message: expect.stringContaining('beforeAgent') } });
  });

  it('is told once, over every continue-as-new, and of a tool that waits for a person as one call', async () => {
    const workflow: Seen[] = [];
    const asks = toolOf((_, call) => (call.resumed === undefined ? call.interrupt('Go on?') : 'went on'));
    const waits: AgentMiddleware = { name: 'waits', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Begin?')) };
    const model = scriptedModel([{ toolCalls: [{ name: 'asks', input: {} }] }, { text: 'Done.' }]);
    const run = await started({ workflow }, model, { tools: { ...tools, asks } }, [waits], { tools: ['asks'] });
    for (let border = 0; border < 2; border++) {
      await run.outcome();
      await run.goOnAsNew();
      await run.advance('1h');
      await run.resume(only(await run.interrupts()).id, 'yes');
    }
    expect(await run.result()).toBe('Done.');
    expect(linesOf(workflow)).toEqual(['start agent agent', ...ofModel, ...ofTool('asks'), ...ofModel, 'end agent agent']);
    const [[, first], [, last]] = [workflow[0], workflow[7]] as [Seen, Seen];
    expect((last as ObservedEnd).endedAt - first.startedAt).toBe(2 * 3_600_000);
    const end = workflow[4]?.[1] as ObservedEnd;
    expect(end.endedAt - end.startedAt).toBe(3_600_000);
  });

  it('may tell a tool, which is not observed in turn', async () => {
    const told: string[] = [];
    const tell = defineTool({
      description: 'Exports.',
      inputSchema: z.object({ line: z.string() }),
      execute: ({ line }) => void told.push(line),
    });
    const exporting: AgentMiddleware = {
      name: 'exporting',
      onEnd: async (observed, ctx) => void (await ctx.call('tell', { line: `${observed.kind} ended` })),
    };
    await (
      await started({}, scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]), { tools: { ...tools, tell } }, [exporting])
    ).result();
    expect(told).toEqual(['model ended', 'tool ended', 'model ended', 'agent ended']);
  });

  it('that throws ends the run and is named; of an agent that failed the failure stays', async () => {
    const throwing = (hook: 'onStart' | 'onEnd' | 'onError', kind: string): AgentMiddleware => ({
      name: 'throwing',
      [hook]: (observed: Observed) => {
        if (observed.kind === kind) throw new Error('no');
      },
    });
    const outcomeOf = async (middleware: AgentMiddleware) =>
      (
        await started({}, scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { error: 'out of order' }]), {}, [middleware])
      ).outcome();
    for (const [hook, kind] of [
      ['onStart', 'agent'],
      ['onStart', 'model'],
      ['onEnd', 'model'],
      ['onStart', 'tool'],
      ['onError', 'tool'],
    ] as const)
      expect(await outcomeOf(throwing(hook, kind))).toMatchObject(failure('hook-failed', `${hook} of middleware "throwing" failed: no`));
    expect(await outcomeOf(throwing('onError', 'agent'))).toMatchObject(
      failure('model-failed', /out of order.* Then: onError of middleware "throwing" failed: no$/),
    );
  });

  it('does not have calls parsed that no wrap asks about', async () => {
    const workflow: Seen[] = [];
    await (await started({ workflow }, scriptedModel([{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { text: 'Done.' }]))).result();
    expect(workflow[3]?.[1]).toMatchObject({ input: { a: 1 } });
    const wrap: AgentMiddleware = { name: 'wrap', wrapToolCall: (call, next) => next(call) };
    workflow.length = 0;
    await (
      await started({ workflow }, scriptedModel([{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { text: 'Done.' }]), {}, [wrap])
    ).result();
    expect(workflow[3]?.[1]).toMatchObject({ input: { a: 1, b: 1 } });
  });

  it('hears nothing more of a run that is cancelled', async () => {
    const workflow: Seen[] = [];
    const waits: AgentMiddleware = { name: 'waits', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Begin?')) };
    const run = await started({ workflow }, scriptedModel([]), {}, [waits]);
    await run.outcome();
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(linesOf(workflow)).toEqual(['start agent agent']);
  });

  it('is refused by name when what it has is no function', () => {
    expect(() => agentWith({ middleware: [{ name: 'x', onStart: 'log' as never }] })).toThrow(
      'onStart of the middleware "x" must be a function. It is "log".',
    );
  });
});
