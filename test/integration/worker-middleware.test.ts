import type { WorkflowHandle } from '@temporalio/client';
import { z } from 'zod';
import { defined } from '../../contract/defined';
import type { WorkerWraps } from '../../worker/index';
import { defineTool, defineWorkerMiddleware } from '../../worker/index';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

const act = calls({ name: 'act', input: {} });

describe('run-local values on the worker', () => {
  const large = 'z'.repeat(20_000);
  const seen: unknown[] = [];
  const reads = defineWorkerMiddleware('reads', () => ({
    wrapModel: {
      async generate(request, next, { runLocal, sendEvent }) {
        seen.push([runLocal.get('large') === large, runLocal.get('acts') ?? 0]);
        sendEvent('asked', runLocal.get('acts') ?? 0);
        return next(request);
      },
    },
  }));
  const counting = defineTool({
    description: 'Counts.',
    inputSchema: z.object({}),
    execute: (_, { runLocal }) => {
      seen.push(runLocal.get('large') === large);
      runLocal.set('acts', Number(runLocal.get('acts') ?? 0) + 1);
      return 'acted';
    },
  });
  const tools = { act: counting, quick: counting };
  const answers = script(act, calls({ name: 'act', input: {} }, { name: 'quick', input: {} }), act, text('Done.'));
  let temporal: Temporal;
  beforeAll(async () => (temporal = await openTemporal()));
  afterAll(() => temporal.close());

  it.each([undefined, 1])(
    'survive an interrupt and a continue-as-new, and are in the history once (cache: %s)',
    async (messageCacheBytes) => {
      seen.length = 0;
      const bed = await startTestBed(answers, { tools, middleware: [reads], ...defined({ messageCacheBytes }) });
      const { client, worker } = bed;
      const run = await client.start('keeps', 'Hi', { values: { large } });
      await run.outcome();
      const [interrupt] = await run.interrupts();
      const handle = temporal.handle(run.id);
      expect(await scheduledWith(handle, large)).toBe(1);
      await temporal.goOnAsNew(run.id);
      await run.resume(interrupt?.id ?? '', 'yes');
      expect(await run.result()).toBe('Done.');
      expect(await scheduledWith(handle, large)).toBe(1);
      // Parallel calls start with equal values, and the last result counts.
      expect(seen).toEqual([[true, 0], true, [true, 1], true, true, [true, 2], true, [true, 3]]);
      expect((await logOf(run)).flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual([0, 1, 2, 3]);
      if (messageCacheBytes !== undefined) expect(worker.parts.messages.values.misses).toBeGreaterThan(0);
      await bed.close();
    },
  );
});

async function scheduledWith(handle: WorkflowHandle, piece: string): Promise<number> {
  const { events } = await handle.fetchHistory();
  const inputs = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.input?.payloads ?? []);
  return inputs.filter(({ data }) => Buffer.from(data ?? []).includes(piece)).length;
}

describe('a worker middleware with a bug ends its run and is named', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  // The worker requests the wraps of a name once, and reads them at every call.
  const wraps: WorkerWraps = {};
  const faulty = sharedBed({
    middleware: [defineWorkerMiddleware('faulty', () => wraps)],
    modelFacts: { timeoutMs: 2500, attempts: 2 },
  });
  const model = faulty.scripted(() => text('Done.'));

  it.each<[string, NonNullable<WorkerWraps['wrapModel']>]>([
    ['that never returns', { generate: async (request, next) => (await next(request), never()) }],
    [
      'that never comes to next',
      {
        stream: async function* (request, next) {
          await never();
          yield* next(request);
        },
      },
    ],
  ])('a model wrap %s', async (_, wrapModel) => {
    Object.assign(wraps, { wrapModel });
    const run = await model.start('faulty', 'Hi');
    const message = 'wrapModel of worker middleware "faulty" gave nothing within 2.5 s.';
    expect(await run.outcome()).toEqual({ status: 'failed', error: { code: 'hook-failed', message } });
  });
});
