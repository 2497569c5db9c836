import type { ScriptedStep } from 'holdfast/testing';
import type { WorkerWraps } from 'holdfast/worker';
import { defineWorkerMiddleware } from 'holdfast/worker';
import { onWorker } from 'holdfast/workflow';
import { failure } from '../../support/failures';
import { agentWith, echo, startRun, toolOf, transcriptOf } from '../../support/memory-bed';

async function endOf(half: WorkerWraps, stream = false): Promise<string> {
  const plain = defineWorkerMiddleware('plain', () => ({
    wrapModel: { generate: (request, next) => next(request) },
    wrapInvokableToolCall: (input, next) => next(input),
  }));
  const run = await startRun(
    agentWith({ middleware: [onWorker('plain'), onWorker('audit')] }),
    [{ toolCalls: [echo('x')] }, { text: 'Done.' }, ...Array.from({ length: 4 }, () => ({ text: 'Again.' }))],
    { stream, middleware: [plain, defineWorkerMiddleware('audit', () => half)] },
  );
  const outcome = await run.outcome();
  return outcome.status === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
}

const bug = (hook: string, what: string): string => `hook-failed: ${hook} of worker middleware "audit" ${what}`;
const leftRunning = (hook: string): string =>
  `next-left-running: ${hook} of worker middleware "audit" returned while a call of next was still running`;

type ModelHalf = NonNullable<WorkerWraps['wrapModel']>;
type Generate = NonNullable<ModelHalf['generate']>;
type Stream = NonNullable<ModelHalf['stream']>;
type Wrap = NonNullable<WorkerWraps['wrapInvokableToolCall']>;

const noLog = new Error('no log');

describe('a bug in wrapModel of a worker middleware ends the run and names it', () => {
  const throwsAtOnce = (): never => {
    throw new TypeError('x is undefined');
  };
  const leaves: Generate = async (request, next) => {
    void next(request);
    return { message: { role: 'assistant', parts: [] } };
  };
  const throwsInside: Stream = async function* (request, next) {
    for await (const chunk of next(request)) {
      yield chunk;
      throw noLog;
    }
  };
  const streamsText: Stream = async function* () {
    yield 'text' as never;
  };
  const leavesOpen: Stream = async function* (request, next) {
    await next(request)[Symbol.asyncIterator]().next();
    yield { type: 'finish' };
  };

  it.each<[string, ModelHalf, string]>([
    ['that throws', { generate: () => Promise.reject(noLog) }, bug('wrapModel', 'failed: no log')],
    ['that throws at once', { generate: throwsAtOnce }, bug('wrapModel', 'failed: x is undefined')],
    ['that returns nothing', { generate: async () => undefined as never }, bug('wrapModel', 'returned no response')],
    ['that returns no message', { generate: async () => ({ message: 'hi' }) as never }, bug('wrapModel', 'returned no response')],
    ['that leaves next running', { generate: leaves }, leftRunning('wrapModel')],
    ['that throws in the middle of a stream', { stream: throwsInside }, bug('wrapModel', 'failed: no log')],
    ['that gives no stream', { stream: () => 'text' as never }, bug('wrapModel', 'returned no stream')],
    ['that streams what is no chunk', { stream: streamsText }, bug('wrapModel', 'streamed something that is no chunk')],
    ['that leaves a stream open', { stream: leavesOpen }, leftRunning('wrapModel')],
  ])('%s', async (_, wrapModel, end) => {
    for (const stream of [false, true]) expect(await endOf({ wrapModel }, stream)).toContain(end);
  });

  it('that looks on and asks nobody', async () => {
    const half: WorkerWraps = { wrapModel: { looksOn: true, generate: async () => ({ message: { role: 'assistant', parts: [] } }) } };
    expect(await endOf(half, true)).toMatch(/^hook-failed: .*worker middleware "audit" says that it looks on/);
  });
});

describe('what comes from inside of a worker middleware', () => {
  const audited = (half: WorkerWraps, ...steps: readonly ScriptedStep[]) =>
    startRun(agentWith({ middleware: [onWorker('audit')] }), steps, { middleware: [defineWorkerMiddleware('audit', () => half)] });

  it('keeps the name that it has: the model failed, not the half', async () => {
    const run = await audited({ wrapModel: { generate: (request, next) => next(request) } }, { error: 'out of order' });
    expect(await run.outcome()).toMatchObject(failure('model-failed', 'out of order'));
  });

  it('goes to the model when it is an error of the tool', async () => {
    const calls = { toolCalls: [{ name: 'fail', input: {} }] };
    const run = await audited({ wrapInvokableToolCall: (input, next) => next(input) }, calls, { text: 'Done.' });
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'fail' failed: out of order");
  });

  it('is made again when the half that failed was only cut off', async () => {
    let attempts = 0;
    const cut = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    expect(await endOf({ wrapModel: { generate: (request, next) => (++attempts === 1 ? Promise.reject(cut) : next(request)) } })).toBe(
      'completed',
    );
  });
});

describe('a bug in the tool wrap of a worker middleware ends the run and names it', () => {
  const hook = 'wrapInvokableToolCall';
  const hasty: Wrap = async (input, next) => {
    next(input).catch(() => undefined);
    return 'early';
  };

  it.each<[string, Wrap, string]>([
    ['that throws', () => Promise.reject(noLog), bug(hook, 'failed: no log')],
    ['that forgets to return', async (input, next) => void (await next(input)) as never, bug(hook, 'returned nothing')],
    ['that returns what is no JSON', async () => new Map() as never, bug(hook, 'returned something that is not JSON: the value is a Map')],
    ['that leaves next running', hasty, leftRunning(hook)],
  ])('%s', async (_, wrapInvokableToolCall, end) => {
    expect(await endOf({ wrapInvokableToolCall })).toContain(end);
  });

  it('that never returns', async () => {
    const wrapInvokableToolCall: Wrap = async (input, next) => (await next(input), new Promise<never>(() => undefined));
    const run = await startRun(
      agentWith({ tools: ['slow'], middleware: [onWorker('audit')] }),
      [{ toolCalls: [{ name: 'slow', input: {} }] }, { text: 'Done.' }],
      {
        tools: { slow: toolOf(() => 'fast', { timeout: '300ms' }) },
        middleware: [defineWorkerMiddleware('audit', () => ({ wrapInvokableToolCall }))],
      },
    );
    expect(await run.outcome()).toMatchObject(failure('hook-failed', `${hook} of worker middleware "audit" gave nothing within 0.3 s.`));
  });
});
