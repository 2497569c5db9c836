import { scriptedModel, testRun } from 'holdfast/testing';
import type { WorkerWraps } from 'holdfast/worker';
import { defineTool, defineWorkerMiddleware } from 'holdfast/worker';
import { onWorker } from 'holdfast/workflow';
import { z } from 'zod';
import type { Outcome } from '../../client/reading/outcome';
import { agentWith, echo, tools, transcriptOf } from '../support/memory-bed';

const outcomeWith = async (half: WorkerWraps, stream = false): Promise<Outcome<unknown>> => {
  const run = await testRun(agentWith({ middleware: [onWorker('plain'), onWorker('audit')] }), {
    input: 'Hi',
    stream,
    model: scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }, ...Array.from({ length: 4 }, () => ({ text: 'Again.' }))]),
    tools,
    middleware: [
      defineWorkerMiddleware('plain', () => ({
        wrapModel: { generate: (request, next) => next(request) },
        wrapInvokableToolCall: (input, next) => next(input),
      })),
      defineWorkerMiddleware('audit', () => half),
    ],
  });
  return run.outcome();
};

type ModelHalf = NonNullable<WorkerWraps['wrapModel']>;
type Generate = NonNullable<ModelHalf['generate']>;
type Stream = NonNullable<ModelHalf['stream']>;

describe('a bug in wrapModel of a worker middleware ends the run and names it', () => {
  it.each<[string, Generate, string, RegExp]>([
    ['that throws', () => Promise.reject(new Error('no log')), 'hook-failed', /^wrapModel of worker middleware "audit" failed: no log$/],
    [
      'that throws at once',
      () => {
        throw new TypeError('x is undefined');
      },
      'hook-failed',
      /^wrapModel of worker middleware "audit" failed: x is undefined$/,
    ],
    ['that returns nothing', async () => undefined as never, 'hook-failed', /^wrapModel of worker middleware "audit" returned no response/],
    [
      'that returns no message',
      async (request, next) => ({ ...(await next(request)), message: 'hi' }) as never,
      'hook-failed',
      /^wrapModel of worker middleware "audit" returned no response/,
    ],
    [
      'that leaves next running',
      async (request, next) => {
        void next(request);
        return { message: { role: 'assistant', parts: [] } };
      },
      'next-left-running',
      /^wrapModel of worker middleware "audit" returned while a call of next was still running/,
    ],
  ])('%s', async (_, generate, code, message) => {
    for (const stream of [false, true])
      expect(await outcomeWith({ wrapModel: { generate } }, stream)).toEqual({
        status: 'failed',
        error: { code, message: expect.stringMatching(message) },
      });
  });

  it.each<[string, Stream, string, RegExp]>([
    [
      'that throws in the middle of a stream',
      async function* (request, next) {
        for await (const chunk of next(request)) {
          yield chunk;
          throw new Error('no log');
        }
      },
      'hook-failed',
      /^wrapModel of worker middleware "audit" failed: no log$/,
    ],
    ['that gives no stream', () => 'text' as never, 'hook-failed', /^wrapModel of worker middleware "audit" returned no stream/],
    [
      'that streams what is no chunk',
      async function* () {
        yield 'text' as never;
      },
      'hook-failed',
      /^wrapModel of worker middleware "audit" streamed something that is no chunk/,
    ],
    [
      'that leaves a stream open',
      async function* (request, next) {
        await next(request)[Symbol.asyncIterator]().next();
        yield { type: 'finish' };
      },
      'next-left-running',
      /^wrapModel of worker middleware "audit" returned while a call of next was still running/,
    ],
  ])('%s', async (_, stream, code, message) => {
    for (const streams of [false, true])
      expect(await outcomeWith({ wrapModel: { stream } }, streams)).toEqual({
        status: 'failed',
        error: { code, message: expect.stringMatching(message) },
      });
  });

  it('that looks on and asks nobody', async () => {
    const half: WorkerWraps = { wrapModel: { looksOn: true, generate: async () => ({ message: { role: 'assistant', parts: [] } }) } };
    expect(await outcomeWith(half, true)).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: expect.stringContaining('worker middleware "audit" says that it looks on') },
    });
  });
});

describe('what comes from inside of a worker middleware', () => {
  it('keeps the name that it has: the model failed, not the half', async () => {
    const run = await testRun(agentWith({ middleware: [onWorker('audit')] }), {
      input: 'Hi',
      model: scriptedModel([{ error: 'out of order' }]),
      tools,
      middleware: [defineWorkerMiddleware('audit', () => ({ wrapModel: { generate: (request, next) => next(request) } }))],
    });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'out of order' } });
  });

  it('goes to the model when it is an error of the tool', async () => {
    const half: WorkerWraps = { wrapInvokableToolCall: (input, next) => next(input) };
    const run = await testRun(agentWith({ middleware: [onWorker('audit')] }), {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]),
      tools,
      middleware: [defineWorkerMiddleware('audit', () => half)],
    });
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'fail' failed: out of order");
  });

  it('is made again when the half that failed was only cut off', async () => {
    let attempts = 0;
    const half: WorkerWraps = {
      wrapModel: {
        generate: (request, next) =>
          ++attempts === 1 ? Promise.reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })) : next(request),
      },
    };
    expect((await outcomeWith(half)).status).toBe('completed');
  });
});

describe('a bug in the tool wrap of a worker middleware ends the run and names it', () => {
  type Wrap = NonNullable<WorkerWraps['wrapInvokableToolCall']>;

  it.each<[string, Wrap, string, RegExp]>([
    [
      'that throws',
      () => Promise.reject(new Error('no log')),
      'hook-failed',
      /^wrapInvokableToolCall of worker middleware "audit" failed: no log$/,
    ],
    [
      'that forgets to return',
      async (input, next) => void (await next(input)) as never,
      'hook-failed',
      /^wrapInvokableToolCall of worker middleware "audit" returned nothing/,
    ],
    [
      'that returns what is no JSON',
      async () => new Map() as never,
      'hook-failed',
      /^wrapInvokableToolCall of worker middleware "audit" returned something that is not JSON: the value is a Map/,
    ],
    [
      'that leaves next running',
      async (input, next) => {
        next(input).catch(() => undefined);
        return 'early';
      },
      'next-left-running',
      /^wrapInvokableToolCall of worker middleware "audit" returned while a call of next was still running/,
    ],
  ])('%s', async (_, wrapInvokableToolCall, code, message) => {
    expect(await outcomeWith({ wrapInvokableToolCall })).toEqual({
      status: 'failed',
      error: { code, message: expect.stringMatching(message) },
    });
  });

  it('that never returns', async () => {
    const slow = {
      slow: defineTool({ description: 'Is fast.', inputSchema: z.object({}), timeout: '300ms', execute: () => 'fast' }),
    };
    const run = await testRun(agentWith({ tools: ['slow'], middleware: [onWorker('audit')] }), {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }] }, { text: 'Done.' }]),
      tools: slow,
      middleware: [
        defineWorkerMiddleware('audit', () => ({
          wrapInvokableToolCall: async (input, next) => (await next(input), new Promise<never>(() => undefined)),
        })),
      ],
    });
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'hook-failed', message: 'wrapInvokableToolCall of worker middleware "audit" gave nothing within 0.3 s.' },
    });
  });
});
