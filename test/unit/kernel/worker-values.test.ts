import type { ScriptedStep, TestRun, TestRunOptions } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { ToolCallContext, WorkerWraps } from 'holdfast/worker';
import {
  defineTool,
  defineWorkerMiddleware,
  deleteRunLocalValue,
  getRunLocalValue,
  sendEvent as sendEventOfRun,
  setRunLocalValue,
} from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { onWorker } from 'holdfast/workflow';
import { z } from 'zod';
import { agentWith, answerAnew, before, gate, linesOf, logOf, only, withHook } from '../../support/memory-bed';

const half = (made: WorkerWraps) => defineWorkerMiddleware('half', () => made);
type ModelCall = Parameters<NonNullable<NonNullable<WorkerWraps['wrapModel']>['generate']>>[2];
const beforeAsking = (act: (call: ModelCall) => unknown): WorkerWraps => ({
  wrapModel: { generate: async (request, next, call) => (act(call), next(request)) },
});
const calls = (...names: readonly string[]): ScriptedStep => ({ toolCalls: names.map((name) => ({ name: 'act', input: { name } })) });
const done: ScriptedStep = { text: 'Done.' };

const act = (run: (name: string, call: ToolCallContext) => unknown, options: object = {}) => ({
  act: defineTool({
    description: 'Acts.',
    inputSchema: z.object({ name: z.string() }),
    execute: async ({ name }, call) => (await run(name, call)) ?? 'done',
    ...options,
  }),
});

interface Bed extends Partial<Omit<TestRunOptions<Json>, 'middleware'>> {
  readonly steps: readonly ScriptedStep[];
  readonly layers?: readonly AgentMiddleware[];
  readonly half?: WorkerWraps;
  readonly agent?: Parameters<typeof agentWith>[0];
}

function begin({ steps, layers = [], half: made, agent = {}, ...rest }: Bed): Promise<TestRun> {
  return testRun(
    agentWith({
      tools: rest.tools === undefined ? [] : Object.keys(rest.tools),
      middleware: [...layers, ...(made === undefined ? [] : [onWorker('half')])],
      ...agent,
    }),
    { input: 'Hi', model: scriptedModel(steps), ...(made === undefined ? {} : { middleware: [half(made)] }), ...rest },
  );
}

async function played(bed: Bed): Promise<TestRun> {
  const run = await begin(bed);
  await run.outcome();
  return run;
}

const historyOf = (run: TestRun): string => JSON.stringify((run as unknown as { run: { facts: unknown } }).run.facts);

const customsOf = async (run: TestRun): Promise<readonly string[]> => (await linesOf(run)).filter((line) => line.startsWith('custom'));

const times = (text: string, piece: string): number => text.split(piece).length - 1;

describe('run-local values of the worker middleware', () => {
  it('are those of the hooks, and go back to them', async () => {
    const seen: unknown[] = [];
    const run = await begin({
      steps: [calls('a'), done],
      layers: [before((ctx) => (seen.push(['hook', ctx.runLocal.get('count') ?? null]), ctx.runLocal.set('hook', ctx.iteration)))],
      half: {
        ...beforeAsking(({ runLocal }) => {
          seen.push(['model', runLocal.get('hook'), runLocal.get('tool')]);
          runLocal.set('count', Number(runLocal.get('count') ?? 0) + 1);
        }),
        async wrapInvokableToolCall(input, next, { runLocal }) {
          seen.push(['wrap', runLocal.get('count')]);
          runLocal.set('wrap', true);
          return next(input);
        },
      },
      tools: act((_, { runLocal }) => {
        seen.push(['tool', runLocal.get('count'), runLocal.get('wrap')]);
        runLocal.set('tool', { deep: [1] });
        runLocal.delete('wrap');
        seen.push(['after', runLocal.get('wrap'), runLocal.get('tool')]);
      }),
    });
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toEqual([
      ['hook', null],
      ['model', 1, undefined],
      ['wrap', 1],
      ['tool', 1, true],
      ['after', undefined, { deep: [1] }],
      ['hook', 1],
      ['model', 2, { deep: [1] }],
    ]);
  });

  it('of parallel calls count in the order of the calls, when all have ended, and so do their events', async () => {
    const first = gate();
    const seen: unknown[] = [];
    const run = await played({
      steps: [calls('a', 'b'), done],
      layers: [
        before((ctx) => seen.push(ctx.runLocal.get('last') ?? null)),
        withHook('around', 'wrapToolCall', async (call, next, ctx) => {
          const output = await next(call);
          seen.push(`${String(output)} ${String(ctx.runLocal.get('last'))}`);
          if (output === 'b') first.open();
          return output;
        }),
      ],
      tools: act(async (name, { runLocal, sendEvent }) => {
        if (name === 'a') await first.opened;
        runLocal.set('last', name);
        sendEvent('acted', { name });
        sendEvent('again', name);
        return name;
      }),
    });
    expect(seen).toEqual([null, 'b undefined', 'a undefined', 'b']);
    const customs = (await logOf(run)).filter(({ type }) => type === 'custom');
    expect(customs).toMatchObject([
      { name: 'acted', data: { name: 'a' }, agent: 'agent', runPath: ['agent'] },
      { name: 'again', data: 'a' },
      { name: 'acted', data: { name: 'b' } },
      { name: 'again', data: 'b' },
    ]);
    expect((await linesOf(run)).slice(3)).toEqual([
      ...['tool-start act', 'tool-start act', 'tool-end act', 'tool-end act'],
      ...['custom acted', 'custom again', 'custom acted', 'custom again', 'model-start', 'model-end', 'run-end'],
    ]);
  });

  it('of calls that run one after another are seen by the next one', async () => {
    const seen: unknown[] = [];
    await played({
      steps: [calls('a', 'b'), done],
      agent: { sequentialTools: true },
      tools: act((name, { runLocal }) => {
        seen.push(runLocal.get('last') ?? null);
        runLocal.set('last', name);
      }),
    });
    expect(seen).toEqual([null, 'a']);
  });

  it('come back with a failure too, and not with an attempt that is made again', async () => {
    const seen: unknown[] = [];
    const run = await played({
      steps: [calls('a'), calls('b'), done],
      layers: [before((ctx) => seen.push([ctx.runLocal.get('a'), ctx.runLocal.get('b'), ctx.runLocal.get('attempt')]))],
      tools: act(
        (name, { runLocal, sendEvent, attempt }) => {
          seen.push(runLocal.get('attempt') ?? null);
          runLocal.set(name, attempt);
          runLocal.set('attempt', attempt);
          sendEvent(name, attempt);
          if (name === 'a' || attempt === 1) throw new Error('no');
        },
        { retry: { attempts: 2 } },
      ),
    });
    expect(seen).toEqual([[undefined, undefined, undefined], null, null, [2, undefined, 2], 2, 2, [2, 2, 2]]);
    expect(await customsOf(run)).toEqual(['custom a', 'custom b']);
  });

  it('come back with the failure of a model call, and a wrap that catches it sees them', async () => {
    const seen: unknown[] = [];
    let asked = 0;
    const run = await begin({
      steps: [{ error: 'refused' }, done],
      layers: [
        withHook('again', 'wrapModel', async (request, next, ctx) =>
          next(request).catch(() => (seen.push(ctx.runLocal.get('asked')), next(request))),
        ),
      ],
      half: beforeAsking(({ runLocal, sendEvent }) => {
        seen.push(runLocal.get('asked') ?? null);
        runLocal.set('asked', ++asked);
        sendEvent('asked', asked);
      }),
    });
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toEqual([null, 1, 1]);
    expect(await customsOf(run)).toEqual(['custom asked', 'custom asked']);
  });

  it('of the last attempt of a model that failed are kept, and of those before none', async () => {
    const fails: ScriptedStep = () => {
      throw Object.assign(new Error('the line is bad'), { isRetryable: true });
    };
    let asked = 0;
    const run = await begin({
      steps: Array.from({ length: 20 }, () => fails),
      half: beforeAsking(({ sendEvent }) => sendEvent('asked', ++asked)),
    });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    expect(asked).toBeGreaterThan(1);
    const sent = (await logOf(run)).flatMap((event) => (event.type === 'custom' ? [event.data] : []));
    expect(sent).toEqual([asked]);
  });

  it.each([false, true])('survive the interrupt of a tool, which finds its own again (over a continue-as-new: %s)', async (border) => {
    const seen: unknown[] = [];
    const run = await begin({
      steps: [calls('asks', 'beside'), done],
      layers: [before((ctx) => (seen.push([ctx.runLocal.get('asks'), ctx.runLocal.get('beside')]), ctx.runLocal.set('base', 1)))],
      tools: act((name, { runLocal, resumed, interrupt, sendEvent }) => {
        if (name === 'beside') return runLocal.set('beside', true);
        seen.push([runLocal.get('asks') ?? null, runLocal.get('beside') ?? null, runLocal.get('base')]);
        runLocal.set('asks', resumed === undefined ? 'asked' : 'answered');
        sendEvent(String(runLocal.get('asks')), null);
        if (resumed === undefined) interrupt('Go?');
      }),
    });
    const { id } = only(await run.interrupts());
    if (border) await run.goOnAsNew();
    await run.resume(id, 'yes');
    expect((await run.outcome()).status).toBe('completed');
    // The parallel call's values count once both have ended.
    expect(seen).toEqual([
      [undefined, undefined],
      [null, null, 1],
      ['asked', null, 1],
      ['answered', true],
    ]);
    expect(await customsOf(run)).toEqual(['custom asked', 'custom answered']);
  });

  it('count once when the batch is over and the run then goes over a continue-as-new', async () => {
    const seen: unknown[] = [];
    const run = await played({
      steps: [calls('a'), done],
      layers: [
        withHook('after', 'afterToolCalls', async (_, ctx) => {
          ctx.runLocal.set('n', Number(ctx.runLocal.get('n')) + 10);
          await ctx.interrupt('Go on?');
          seen.push(ctx.runLocal.get('n'));
        }),
      ],
      tools: act((_, { runLocal, sendEvent }) => (runLocal.set('n', 1), sendEvent('acted', null))),
    });
    await answerAnew(run, 'yes');
    expect(seen).toEqual([11]);
    expect(await customsOf(run)).toEqual(['custom acted']);
  });

  it('are not lost when a wrap waits over a continue-as-new between the call and its own end', async () => {
    const seen: unknown[] = [];
    const run = await played({
      steps: [calls('a'), done],
      layers: [
        before((ctx) => seen.push(ctx.runLocal.get('n') ?? null)),
        { name: 'waits', wrapToolCall: async (call, next, ctx) => [await next(call), await ctx.interrupt('Go on?')] as unknown as Json },
      ],
      tools: act((_, { runLocal }) => runLocal.set('n', 1)),
    });
    await answerAnew(run, 'yes');
    expect(seen).toEqual([null, 1]);
  });

  it('of a call that a hook makes count at once', async () => {
    const seen: unknown[] = [];
    await played({
      steps: [done],
      layers: [
        before(async (ctx) => {
          ctx.runLocal.set('n', 1);
          await ctx.call('act', { name: 'x' });
          seen.push(ctx.runLocal.get('n'));
        }),
      ],
      tools: act((_, { runLocal }) => runLocal.set('n', Number(runLocal.get('n')) + 1)),
    });
    expect(seen).toEqual([2]);
  });

  it.each<[string, (call: ToolCallContext) => void, string]>([
    ['no JSON', ({ runLocal }) => runLocal.set('when', new Date(0) as never), 'run-local value "when" is not JSON: the value is a Date'],
    ['an event without JSON', ({ sendEvent }) => sendEvent('big', 1n as never), 'The event value "big" is not JSON'],
    ['__proto__ as a key', ({ runLocal }) => runLocal.set('__proto__', 1), 'has the key "__proto__"'],
    ['__proto__ within', ({ runLocal }) => runLocal.set('deep', JSON.parse('[{"__proto__":1}]')), 'has the key "__proto__"'],
    ['an event without a name', ({ sendEvent }) => sendEvent('', 1), 'The name of an event'],
    ['more than a call may hand back', ({ runLocal }) => runLocal.set('all', 'x'.repeat(300_000)), 'at most 262144 fit'],
  ])('refuse %s at once', async (_, attempt, message) => {
    const run = await begin({ steps: [calls('a'), done], agent: { toolErrors: 'fail' }, tools: act((_name, call) => attempt(call)) });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } });
  });

  it('cannot be changed in place, and what was set does not change with its origin', async () => {
    const seen: unknown[] = [];
    const list = [1];
    await played({
      steps: [calls('a'), calls('b'), done],
      layers: [before((ctx) => ctx.iteration === 1 && ctx.runLocal.set('list', list))],
      tools: act((name, { runLocal }) => {
        list.push(2);
        try {
          (runLocal.get('list') as number[]).push(3);
        } catch (error) {
          seen.push((error as Error).name);
        }
        seen.push(name, runLocal.get('list'));
      }),
    });
    expect(seen).toEqual(['TypeError', 'a', [1], 'TypeError', 'b', [1]]);
  });

  it('end with the call', async () => {
    let kept: ToolCallContext | undefined;
    const run = await played({ steps: [calls('a'), done], tools: act((_, call) => void (kept = call)) });
    kept?.runLocal.set('late', 1);
    kept?.sendEvent('late', 1);
    expect(kept?.runLocal.get('late')).toBeUndefined();
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toEqual([]);
  });
});

describe('the history', () => {
  const large = 'y'.repeat(20_000);

  it('has a value of 20 KB once, in 50 turns', async () => {
    const sizes: unknown[] = [];
    const run = await played({
      steps: [...Array.from({ length: 50 }, () => calls('a', 'b')), done],
      agent: { maxIterations: 100 },
      layers: [before((ctx) => ctx.iteration === 1 && ctx.runLocal.set('large', large))],
      half: beforeAsking(({ runLocal }) => sizes.push(runLocal.get('large'))),
      tools: act((_, { runLocal }) => void sizes.push(runLocal.get('large'))),
    });
    expect(sizes).toHaveLength(151);
    expect(sizes.every((value) => value === large)).toBe(true);
    expect(times(historyOf(run), large)).toBe(1);
  });

  it('has a value that a call brought back once, and again only when it changes', async () => {
    const run = await played({
      steps: [...Array.from({ length: 50 }, () => calls('a', 'b')), done],
      agent: { maxIterations: 100 },
      tools: act((name, { runLocal }) => {
        if (runLocal.get('large') === undefined && name === 'a') runLocal.set('large', large);
        runLocal.set('count', Number(runLocal.get('count') ?? 0) + 1);
      }),
    });
    expect(times(historyOf(run), large)).toBe(1);
  });

  it('has nothing of it when nobody sets a value', async () => {
    const run = await played({
      steps: [calls('a'), done],
      half: beforeAsking(() => undefined),
      tools: act((_, { runLocal }) => void runLocal.get('none')),
    });
    expect(historyOf(run)).not.toContain('runLocal":{"');
  });

  it('says in some 40 bytes that nothing has changed', async () => {
    const sizeOf = async (value: boolean): Promise<number> => {
      const run = await played({
        steps: [...Array.from({ length: 50 }, () => calls('a')), done],
        agent: { maxIterations: 100 },
        layers: [before((ctx) => void (value && ctx.iteration === 1 && ctx.runLocal.set('v', 1)))],
        tools: act(() => undefined),
      });
      return historyOf(run).length;
    };
    expect(((await sizeOf(true)) - (await sizeOf(false))) / 100).toBeLessThan(50);
  });
});

describe('functions for code without a call', () => {
  it('act on the call that they run in', async () => {
    const seen: unknown[] = [];
    const deep = async (): Promise<void> => {
      await Promise.resolve();
      setRunLocalValue('deep', 1);
      setRunLocalValue('gone', 1);
      deleteRunLocalValue('gone');
      seen.push(getRunLocalValue('deep'), getRunLocalValue('gone'));
      sendEventOfRun('deep', { yes: true });
    };
    const run = await played({
      steps: [calls('a'), done],
      layers: [before((ctx) => ctx.iteration > 1 && seen.push(ctx.runLocal.get('deep')))],
      tools: act(deep),
    });
    expect(seen).toEqual([1, undefined, 1]);
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([{ name: 'deep', data: { yes: true } }]);
  });

  it.each<[string, () => unknown]>([
    ['setRunLocalValue', () => setRunLocalValue('a', 1)],
    ['getRunLocalValue', () => getRunLocalValue('a')],
    ['deleteRunLocalValue', () => deleteRunLocalValue('a')],
    ['sendEvent', () => sendEventOfRun('a', 1)],
  ])('refuse to act outside of a run: %s', (name, attempt) => {
    expect(attempt).toThrow(expect.objectContaining({ code: 'outside-run', message: `${name} failed: must be called within a run` }));
  });
});
