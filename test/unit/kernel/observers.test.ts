import type { TestRun, TestRunOptions } from 'holdfast/testing';
import type { ModelChunk, Observed, ObservedEnd, ObservedError, Observer, LanguageModel } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { z } from 'zod';
import { Observers } from '../../../activities/worker-middleware/observers';
import type { RunOptions } from '../../../contract/run-options';
import { agentWith, echo, fails, only, startRun, toolOf, tools, transcriptOf, withHook } from '../../support/memory-bed';
import { failure } from '../../support/failures';

type Seen = readonly ['start', Observed] | readonly ['end', ObservedEnd] | readonly ['error', ObservedError];

function keeping(seen: Seen[]): Pick<Observer, 'onStart' | 'onEnd' | 'onError'> {
  return {
    onStart: (told) => void seen.push(['start', told]),
    onEnd: (told) => void seen.push(['end', told]),
    onError: (told) => void seen.push(['error', told]),
  };
}

function linesOf(seen: readonly Seen[]): readonly string[] {
  return seen.map(([what, told]) => {
    const which = told.kind === 'tool' ? told.tool : told.kind === 'model' ? told.model : told.agent;
    return `${what} ${told.kind} ${which}`;
  });
}

interface Observing extends Partial<Omit<TestRunOptions<Json>, 'input' | 'model'>> {
  readonly layers?: readonly AgentMiddleware[];
  readonly agent?: Parameters<typeof agentWith>[0];
}

/** What an observer of the worker or of the workflow is told of a run, as far as the run comes by itself. */
async function observed(
  where: 'worker' | 'workflow',
  model: Parameters<typeof startRun>[1],
  { layers = [], agent = {}, ...options }: Observing = {},
): Promise<{ readonly run: TestRun; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const observer = { name: 'observing', ...keeping(seen) };
  const isOfWorker = where === 'worker';
  const run = await startRun(agentWith({ ...agent, middleware: [...(isOfWorker ? [] : [observer]), ...layers] }), model, {
    ...(isOfWorker ? { observers: [observer] } : {}),
    ...options,
  });
  await run.outcome();
  return { run, seen };
}

const asks = toolOf((_, call) => (call.resumed === undefined ? call.interrupt('Go on?') : 'went on'));
const asking: Observing = { tools: { ...tools, asks }, agent: { tools: ['asks'] } };
const asksOnce = [{ toolCalls: [{ name: 'asks', input: {} }] }, { text: 'Done.' }];
const waits: AgentMiddleware = { name: 'waits', beforeAgent: async (_, ctx) => void (await ctx.interrupt('Begin?')) };
const streaming = (stream: () => AsyncIterable<ModelChunk>): LanguageModel => ({
  generate: () => Promise.reject(new Error('Nobody asks for it whole.')),
  stream,
});
const usage = { inputTokens: 3, outputTokens: 2 };

const ofModel = ['start model test/model', 'end model test/model'];
const ofTool = (tool: string): readonly string[] => [`start tool ${tool}`, `end tool ${tool}`];

describe('an observer of the worker', () => {
  it('sees model and tool calls, with what goes in and comes out', async () => {
    const steps = [{ toolCalls: [{ id: 'c', name: 'add', input: { a: 1 } }], usage }, { text: 'Done.' }];
    const options: RunOptions = { toolOptions: { add: { precise: true } } };
    const { seen } = await observed('worker', steps, { id: 'r1', options, stream: false });
    expect(linesOf(seen)).toEqual([...ofModel, ...ofTool('add'), ...ofModel]);
    const place = { agent: 'agent', runId: 'r1', attempt: 1, startedAt: expect.any(Number) };
    const [model1, modelEnd, tool1, toolEnd] = seen.map(([, told]) => told);
    const request = { instructions: 'Be a test.', tools: ['echo', 'add', 'fail'] };
    expect(model1).toMatchObject({ ...place, id: 'agent/t1/model', request });
    expect(modelEnd).toMatchObject({ ...place, id: 'agent/t1/model', endedAt: expect.any(Number), response: { usage } });
    const add = { ...place, kind: 'tool', tool: 'add', callId: 'c', id: 'agent/t1/add.0' };
    expect(tool1).toEqual({ ...add, input: { a: 1, b: 1 }, options: { precise: true } });
    expect(toolEnd).toEqual({ ...add, endedAt: expect.any(Number), output: { sum: 2 } });
  });

  it('sees streams as a whole', async () => {
    const streams = defineTool({
      description: 'Streams.',
      inputSchema: z.object({}),
      async *stream() {
        yield* ['a', 'b'];
      },
    });
    let called = false;
    const model = streaming(async function* () {
      yield { type: 'text', text: 'He' };
      yield { type: 'text', text: 'llo' };
      if (!called) yield { type: 'part', part: { type: 'tool-call', id: 'c', name: 'streams', input: {} } };
      called = true;
      yield { type: 'finish', usage };
    });
    const { seen } = await observed('worker', model, { tools: { ...tools, streams }, agent: { tools: ['streams'] } });
    const ends = seen.flatMap(([what, told]) => (what === 'end' ? [told] : []));
    expect(ends).toMatchObject([
      { kind: 'model', response: { usage, message: { parts: [{ text: 'Hello' }, { name: 'streams' }] } } },
      { kind: 'tool', output: 'ab' },
      { kind: 'model', response: { message: { parts: [{ text: 'Hello' }] } } },
    ]);
  });

  it('sees that a stream was cut off', async () => {
    const model = streaming(async function* () {
      yield { type: 'text', text: 'Hel' };
    });
    const { seen } = await observed('worker', model);
    expect(seen[1]).toMatchObject(['error', { error: { code: 'model-failed', message: 'The stream of the model was cut off.' } }]);
  });

  it('sees each attempt, and its error', async () => {
    let calls = 0;
    const shaky = toolOf(
      () => {
        if (++calls === 1) throw new Error('not yet');
        return 'now';
      },
      { retry: { attempts: 2 } },
    );
    const steps = [{ error: 'busy', retryable: true }, { toolCalls: [{ name: 'shaky', input: {} }] }, { text: 'Done.' }];
    const { seen } = await observed('worker', steps, { tools: { ...tools, shaky }, stream: false, agent: { tools: ['shaky'] } });
    const attempts = (kind: string): readonly string[] => [`start ${kind} 1`, `error ${kind} 1`, `start ${kind} 2`, `end ${kind} 2`];
    const lines = seen.map(([what, { kind, attempt }]) => `${what} ${kind} ${attempt}`);
    expect(lines.slice(0, 8)).toEqual([...attempts('model'), ...attempts('tool')]);
    const errors = seen.flatMap(([what, told]) => (what === 'error' ? [told.error] : []));
    expect(errors).toEqual([
      { code: 'model-failed', message: expect.stringContaining('busy') },
      { code: 'tool-failed', message: 'not yet' },
    ]);
  });

  it('sees that a tool asked a person, and its next execution', async () => {
    const { run, seen } = await observed('worker', asksOnce, asking);
    await run.resume(only(await run.interrupts()).id, 'yes');
    await run.result();
    const ends = seen.flatMap(([what, told]) => (what === 'end' && told.kind === 'tool' ? [told] : []));
    expect(ends).toMatchObject([{ output: null, interrupted: true }, { output: 'went on' }]);
  });

  it('sees what hooks call, and of some agents nothing', async () => {
    const seen: Seen[] = [];
    const others: Seen[] = [];
    const hook = withHook('hook', 'beforeAgent', async (_, ctx) => {
      await ctx.call('echo', { text: 'x' });
      await ctx.model('test/other', { messages: [] });
    });
    const observers = [
      { name: 'these', agents: ['agent'], ...keeping(seen) },
      { name: 'others', agents: ['other'], ...keeping(others) },
    ];
    await observed('worker', [{ text: 'Hidden.' }, { text: 'Done.' }], { observers, layers: [hook] });
    expect(linesOf(seen).slice(0, 4)).toEqual(['start tool echo', 'end tool echo', 'start model test/other', 'end model test/other']);
    expect(others).toEqual([]);
  });

  it('lies around those that stand behind it', async () => {
    const order: string[] = [];
    const keep = (line: string) => () => void order.push(line);
    const observers = ['A', 'B'].map((name) => ({ name, onStart: keep(`${name} start`), onEnd: keep(`${name} end`) }));
    await observed('worker', [{ text: 'Done.' }], { observers });
    expect(order).toEqual(['A start', 'B start', 'B end', 'A end']);
  });

  it('that throws or rejects is reported once, and the run goes on', async () => {
    const problems: string[] = [];
    const onStart = fails('no exporter');
    const broken: Observer = { name: 'broken', onStart, onEnd: () => Promise.reject(new Error('no network')) };
    const { run } = await observed('worker', [{ toolCalls: [echo('x')] }, { text: 'Done.' }], {
      observers: [broken],
      onProblem: ({ code, message }) => problems.push(`${code}: ${message}`),
    });
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
    const steps = [
      { toolCalls: [{ ...echo('x'), id: 'c' }], usage },
      { text: 'Done.', usage },
    ];
    const { seen } = await observed('workflow', steps, { id: 'r1', now: new Date(1000) });
    expect(linesOf(seen)).toEqual(['start agent agent', ...ofModel, ...ofTool('echo'), ...ofModel, 'end agent agent']);
    const place = { agent: 'agent', runId: 'r1', id: 'agent', startedAt: 1000 };
    expect(seen[0]?.[1]).toMatchObject({ ...place, kind: 'agent', input: [{ role: 'user' }] });
    const all = { inputTokens: 6, outputTokens: 4 };
    expect(seen[7]?.[1]).toEqual({ ...place, kind: 'agent', endedAt: 1000, output: 'Done.', usage: all });
    expect(seen[3]?.[1]).toMatchObject({ tool: 'echo', callId: 'c', input: { text: 'x' }, options: {} });
    expect(seen[3]?.[1].id).toBe(seen[4]?.[1].id);
    expect(new Set(seen.map(([, { id }]) => id)).size).toBe(4);
  });

  it('sees what wraps made of a request, and not what they make of the answer', async () => {
    const wrap = withHook('wrap', 'wrapModel', async (request, next) => {
      const response = await next({ ...request, instructions: 'Other.' });
      return { ...response, message: { role: 'assistant', parts: [{ type: 'text', text: 'Changed.' }] } };
    });
    const { seen } = await observed('workflow', [{ text: 'Said.' }], { layers: [wrap] });
    expect(seen[1]?.[1]).toMatchObject({ request: { instructions: 'Other.' } });
    expect(seen[2]?.[1]).toMatchObject({ response: { message: { parts: [{ text: 'Said.' }] } } });
    expect(seen[3]?.[1]).toMatchObject({ output: 'Changed.' });
  });

  it('sees the error of a tool, of which the model is told', async () => {
    const { run, seen } = await observed('workflow', [{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]);
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'fail' failed: out of order");
    expect(seen[4]).toMatchObject(['error', { kind: 'tool', error: { code: 'tool-failed' } }]);
  });

  it('sees each attempt of a model that is asked again', async () => {
    const steps = [{ error: 'busy', retryable: true }, { text: 'Done.' }];
    const { run, seen } = await observed('workflow', steps, { agent: { retry: { maxRetries: 1 } } });
    await run.advance('1m');
    expect(await run.result()).toBe('Done.');
    expect(seen.slice(1, -1).map(([what]) => what)).toEqual(['start', 'error', 'start', 'end']);
  });

  it('sees how an agent fails, also in its setup', async () => {
    const broken: AgentMiddleware = { name: 'broken', beforeAgent: () => Promise.reject(new Error('no')) };
    const { seen } = await observed('workflow', [], { layers: [broken] });
    expect(linesOf(seen)).toEqual(['start agent agent', 'error agent agent']);
    expect(seen[1]?.[1]).toMatchObject({ error: { code: 'hook-failed', message: expect.stringContaining('beforeAgent') } });
  });

  it('is told once, over every continue-as-new, and of a tool that waits for a person as one call', async () => {
    const { run, seen } = await observed('workflow', asksOnce, { ...asking, layers: [waits] });
    for (let border = 0; border < 2; border++) {
      await run.outcome();
      await run.goOnAsNew();
      await run.advance('1h');
      await run.resume(only(await run.interrupts()).id, 'yes');
    }
    expect(await run.result()).toBe('Done.');
    expect(linesOf(seen)).toEqual(['start agent agent', ...ofModel, ...ofTool('asks'), ...ofModel, 'end agent agent']);
    const [[, first], [, last]] = [seen[0], seen[7]] as [Seen, Seen];
    expect((last as ObservedEnd).endedAt - first.startedAt).toBe(2 * 3_600_000);
    const end = seen[4]?.[1] as ObservedEnd;
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
    const steps = [{ toolCalls: [echo('x')] }, { text: 'Done.' }];
    await observed('worker', steps, { tools: { ...tools, tell }, layers: [exporting] });
    expect(told).toEqual(['model ended', 'tool ended', 'model ended', 'agent ended']);
  });

  it('that throws ends the run and is named; of an agent that failed the failure stays', async () => {
    const throwing = (hook: 'onStart' | 'onEnd' | 'onError', kind: string): AgentMiddleware => ({
      name: 'throwing',
      [hook]: (told: Observed) => {
        if (told.kind === kind) throw new Error('no');
      },
    });
    const steps = [{ toolCalls: [{ name: 'fail', input: {} }] }, { error: 'out of order' }];
    const outcomeOf = async (layer: AgentMiddleware) => (await observed('worker', steps, { layers: [layer] })).run.outcome();
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
    const wrap: AgentMiddleware = { name: 'wrap', wrapToolCall: (call, next) => next(call) };
    const inputUnder = async (...layers: readonly AgentMiddleware[]): Promise<unknown> => {
      const { seen } = await observed('workflow', [{ toolCalls: [{ name: 'add', input: { a: 1 } }] }, { text: 'Done.' }], { layers });
      return (seen[3]?.[1] as { readonly input?: unknown } | undefined)?.input;
    };
    expect([await inputUnder(), await inputUnder(wrap)]).toEqual([{ a: 1 }, { a: 1, b: 1 }]);
  });

  it('hears nothing more of a run that is cancelled', async () => {
    const { run, seen } = await observed('workflow', [], { layers: [waits] });
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(linesOf(seen)).toEqual(['start agent agent']);
  });

  it('is refused by name when what it has is no function', () => {
    expect(() => agentWith({ middleware: [{ name: 'x', onStart: 'log' as never }] })).toThrow(
      'onStart of the middleware "x" must be a function. It is "log".',
    );
  });
});
