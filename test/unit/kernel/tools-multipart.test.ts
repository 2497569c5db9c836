import { z } from 'zod';
import type { Delta } from '../../../contract/deltas';
import type { TestRun } from '../../../testing/index';
import { scriptedModel } from '../../../testing/index';
import { defineTool } from '../../../activities/tools/tools';
import { defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import type { AgentMiddleware, Part } from '../../../workflows/index';
import { onWorker } from '../../../workflows/index';
import { agentWith, answerAnew, logOf, only, startRun, transcriptOf, withHook } from '../../support/memory-bed';
import { seen } from '../../support/tool-bed';
import { failure } from '../../support/failures';

const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };
const text = (words: string): Part => ({ type: 'text', text: words });
const basics = { description: 'Draws.', inputSchema: z.object({}) };
const draw = defineTool({ ...basics, enhanced: true, execute: () => [text('A chart:'), image] });
const calling = () => scriptedModel([{ toolCalls: [{ name: 'draw', input: {} }] }, { text: 'Done.' }]);
const parts = [text('A chart:'), image];

async function drawn(layers: readonly AgentMiddleware[] = [], tool: object = draw) {
  const model = calling();
  const run = await startRun(agentWith({ tools: ['draw'], middleware: layers }), model, { tools: { draw: tool } });
  return { model, run };
}

async function resultOf(run: TestRun): Promise<unknown> {
  await run.outcome();
  return (await run.transcript())[2]?.parts;
}

describe('a result of several parts', () => {
  const multipart = [{ type: 'tool-result', callId: 'call-1-1', name: 'draw', output: parts, multipart: true }];

  it('stays one under a layer that passes it through', async () => {
    const through: AgentMiddleware = { name: 'through', wrapToolCall: (call, next) => next(call) };
    const { model, run } = await drawn([through]);
    expect(await resultOf(run)).toEqual(multipart);
    expect(model.requests[1]?.messages[2]?.parts).toEqual(multipart);
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ message: { parts: multipart } });
  });

  it.each<[string, (output: readonly Part[]) => unknown, unknown]>([
    ['other parts', (output) => [...output, text('Look!')], { output: [...parts, text('Look!')], multipart: true }],
    ['a text', () => 'no chart', { output: 'no chart' }],
    ['what is no list of parts', (output) => [...output, { type: 'video' }], { output: [...parts, { type: 'video' }] }],
  ])('is what a layer makes of it: %s', async (_, change, expected) => {
    const changing: AgentMiddleware = {
      name: 'changing',
      wrapToolCall: async (call, next) => change((await next(call)) as unknown as readonly Part[]) as never,
    };
    const { model, run } = await drawn([changing]);
    expect(await resultOf(run)).toEqual([{ type: 'tool-result', callId: 'call-1-1', name: 'draw', ...(expected as object) }]);
    expect(model.requests[1]?.messages[2]?.parts).toEqual(await resultOf(run));
  });

  it('may come from a layer that does not call the tool', async () => {
    const cached: AgentMiddleware = { name: 'cached', wrapToolCall: async () => [image] as never };
    const { run } = await drawn([cached]);
    expect(await resultOf(run)).toMatchObject([{ output: [image], multipart: true }]);
  });

  it('is still one when the layer above it waited over a continue-as-new', async () => {
    const asking = withHook('asking', 'wrapToolCall', async (call, next, ctx) => {
      const output = await next(call);
      await ctx.interrupt('Show it?');
      return output;
    });
    const { model, run } = await drawn([asking]);
    await answerAnew(run);
    expect(await resultOf(run)).toEqual(multipart);
    expect(model.requests[1]?.messages[2]?.parts).toEqual(multipart);
  });

  it('is one also when a person says what it was', async () => {
    const once = { ...draw, effect: 'once' as const };
    const run = await startRun(agentWith({ tools: ['draw'] }), calling(), {
      tools: { draw: once },
      lose: ({ reconcile }) => (reconcile ? undefined : 'after'),
    });
    await run.resume(only(await run.interrupts()).id, { happened: true, result: [image] });
    expect(await resultOf(run)).toMatchObject([{ output: [image], multipart: true }]);
  });

  it('is plain JSON where the tool is not enhanced', async () => {
    const listing = defineTool({ ...basics, execute: () => parts });
    const { run } = await drawn([], listing);
    expect(await resultOf(run)).toEqual([{ type: 'tool-result', callId: 'call-1-1', name: 'draw', output: parts }]);
  });

  it('is the output of a run that returns it directly, and its texts are the text', async () => {
    const run = await startRun(agentWith({ tools: ['draw'], returnDirectly: ['draw'] }), calling(), { tools: { draw } });
    expect(await run.outcome()).toEqual({ status: 'completed', output: parts, text: 'A chart:' });
  });

  it('is what a hook gets of the tool', async () => {
    const hook = withHook('hook', 'beforeAgent', async (_, ctx) => ctx.sendEvent('drawn', (await ctx.call('draw', {})) as never));
    const run = await startRun(agentWith({ tools: [], middleware: [hook] }), [{ text: 'Done.' }], { tools: { draw } });
    expect((await logOf(run)).find(({ type }) => type === 'custom')).toMatchObject({ data: parts });
  });
});

it('a layer may not write into a result: it returns another one', async () => {
  const writing = withHook('writing', 'wrapToolCall', async (call, next) => {
    const output = (await next(call)) as unknown as Part[];
    output.push(text('more'));
    return output;
  });
  const { run } = await drawn([writing]);
  expect(await run.outcome()).toMatchObject(failure('hook-failed', /wrapToolCall of middleware "writing" failed/));
});

describe('a run that is followed', () => {
  const tell = defineTool({
    ...basics,
    async *stream() {
      yield 'a';
      yield 'b';
    },
    execute: () => 'ab, at once',
  });
  const start = async (options: { stream?: boolean; middleware?: readonly AgentMiddleware[] }) => {
    const deltas: Delta[] = [];
    const { stream = true, middleware = [] } = options;
    const run = await startRun(agentWith({ tools: ['draw'], middleware }), calling(), {
      tools: { draw: tell },
      stream,
      middleware: [
        defineWorkerMiddleware('loud', () => ({ wrapInvokableToolCall: async (input, next) => `${String(await next(input))}!` })),
      ],
      onDelta: (delta) => void ('callId' in delta && deltas.push(delta)),
    });
    return { line: (await transcriptOf(run))[2], deltas };
  };
  const loud = onWorker('loud');

  it('sees the pieces of a tool that streams', async () => {
    const { line, deltas } = await start({ middleware: [loud] });
    expect(line).toBe('tool: ab');
    expect(deltas).toMatchObject([
      { type: 'tool-output-delta', text: 'a', callId: 'call-1-1', tool: 'draw', address: 'agent/t1/draw.0', attempt: 1, agent: 'agent' },
      { type: 'tool-output-delta', text: 'b' },
    ]);
  });

  it('sees them also under a layer that only looks on', async () => {
    const through: AgentMiddleware = { name: 'through', wrapToolCall: (call, next) => next(call) };
    expect(seen((await start({ middleware: [through] })).deltas)).toEqual(['+a', '+b']);
  });

  it('sees nothing before it is final where a layer says that it changes results', async () => {
    const changing: AgentMiddleware = {
      name: 'changing',
      changesOutput: true,
      wrapToolCall: async (call, next) => `<${String(await next(call))}>`,
    };
    expect(await start({ middleware: [changing] })).toEqual({ line: 'tool: <ab>', deltas: [] });
  });

  it('calls the tool whole when the run does not stream, under the other wrap', async () => {
    expect(await start({ stream: false, middleware: [loud] })).toEqual({ line: 'tool: ab, at once!', deltas: [] });
  });

  it('sees progress, and what an attempt that was lost had shown is void', async () => {
    const deltas: Delta[] = [];
    const slow = defineTool({ ...basics, execute: (_, call) => (call.progress({ attempt: call.attempt }), 'done') });
    const run = await startRun(agentWith({ tools: ['draw'] }), calling(), {
      tools: { draw: slow },
      lose: ({ attempt }) => (attempt === 1 ? 'after' : undefined),
      onDelta: (delta) => deltas.push(delta),
    });
    expect(await run.result()).toBe('Done.');
    const ofTool = deltas.filter(({ address }) => address === 'agent/t1/draw.0');
    expect(ofTool.map((delta) => `${delta.attempt} ${seen([delta])[0]}`)).toEqual([
      '1 attempt-start',
      '1 .{"attempt":1}',
      '1 attempt-void',
      '2 attempt-start',
      '2 .{"attempt":2}',
    ]);
  });

  it('sees nothing of what hooks call', async () => {
    const deltas: Delta[] = [];
    const hook: AgentMiddleware = { name: 'hook', beforeAgent: async (_, ctx) => void (await ctx.call('draw', {})) };
    const run = await startRun(agentWith({ tools: [], middleware: [hook] }), [{ text: 'Done.' }], {
      tools: { draw: tell },
      onDelta: (delta) => deltas.push(delta),
    });
    expect(await run.result()).toBe('Done.');
    expect(deltas).toEqual([]);
  });
});
