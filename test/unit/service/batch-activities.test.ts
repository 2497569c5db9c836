import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { HoldfastClient } from '../../../client/index';
import type { BatchActivities, BatchInput, BatchLine, KeptLines } from '../../../contract/batches';
import { batchBegin } from '../../../contract/batches';
import { HoldfastError } from '../../../contract/errors';
import type { LinesOfSchedule } from '../../../contract/schedules';
import { batchActivities } from '../../../service/batches/activities';
import { batchResults } from '../../../service/batches/results';
import { keptLines } from '../../../service/batches/kept-lines';
import { memoryStore } from '../../support/memory-store';

const batch: BatchInput = {
  ...{ id: 'night-2026-11-30T01:00:00Z', agent: 'clerk', concurrency: 20, tags: ['night'], tenant: 'acme', queue: 'q', schedule: 'night' },
  ...{ lines: 0, hash: '', store: '', chunks: 0, author: { by: 'schedule:night', proof: 'schedule:night' } },
};

function bed(lines?: LinesOfSchedule, more: object = {}) {
  const store = memoryStore();
  const known: unknown[] = [];
  const cancelled: string[] = [];
  const checked: unknown[] = [];
  const its = {
    place: { tenant: 'acme' },
    batches: { checkLine: async (run: unknown) => void checked.push(run), runOf: async () => 'running' },
    run: (id: string) => ({ cancel: async () => void cancelled.push(id) }),
    ...more,
  };
  const client = { as: (caller: unknown) => (known.push(caller), its), forTenant: () => its } as unknown as HoldfastClient;
  const agents = [{ name: 'clerk', description: '', takesJob: false }];
  const schedules = { night: { cron: '0 2 * * *', batch: { agent: 'clerk', lines: lines ?? (() => []) } } };
  const acts = batchActivities({ client, store, agents, schedules: () => (lines === undefined ? {} : schedules) });
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const run = <Name extends keyof BatchActivities>(
    name: Name,
    ...args: Parameters<BatchActivities[Name]>
  ): ReturnType<BatchActivities[Name]> =>
    environment.run(acts[name] as never, ...(args as unknown as never[])) as ReturnType<BatchActivities[Name]>;
  return { store, known, checked, cancelled, run, environment, its };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('the lines of a schedule', () => {
  it.each<[string, LinesOfSchedule]>([
    ['an array', () => ['order 1', { input: 'order 2', id: 'own', tags: ['vip'] }]],
    ['a promise', async () => ['order 1', { input: 'order 2', id: 'own', tags: ['vip'] }]],
    [
      'an async generator',
      async function* () {
        yield 'order 1';
        yield { input: 'order 2', id: 'own', tags: ['vip'] };
      },
    ],
  ])('are kept, of %s, in the name of the schedule', async (_, lines) => {
    const { store, known, checked, run } = bed(lines);
    const kept = await run('keepLines', batch);
    expect(kept).toMatchObject({ lines: 2, chunks: 1 });
    expect(await all(keptLines(store, { ...batch, ...kept }))).toEqual([
      { line: 1, input: 'order 1', chunk: 0 },
      { line: 2, input: 'order 2', id: 'own', tags: ['vip'], chunk: 0 },
    ]);
    expect(known).toMatchObject([{ tenant: 'acme', user: 'schedule:night', proof: 'schedule:night' }]);
    expect(checked).toMatchObject([{ id: `${batch.id}-000001`, agent: 'clerk' }, { id: 'own' }]);
  });

  it('of two attempts stand apart, so that no batch has lines of both', async () => {
    let asked = 0;
    const { store, run } = bed(() => [`answer ${++asked}`, `answer ${asked}`]);
    const attempts: KeptLines[] = [await run('keepLines', batch), await run('keepLines', batch)];
    const inputs = attempts.map(async (kept) => (await all(keptLines(store, { ...batch, ...kept }))).map(({ input }) => input));
    expect(await Promise.all(inputs)).toEqual([
      ['answer 1', 'answer 1'],
      ['answer 2', 'answer 2'],
    ]);
  });

  const broken = (): never => {
    throw new Error('The table is locked.');
  };
  it.each<[string, LinesOfSchedule, string, string]>([
    ['that throws', broken, 'batch-lines-failed', '`lines` of the schedule "night" failed: The table is locked.'],
    [
      'that throws in between',
      async function* () {
        yield* Array.from({ length: 700 }, () => 'order');
        broken();
      },
      'batch-lines-failed',
      'The table is locked.',
    ],
    ['that gives no list', () => undefined as never, 'batch-lines-failed', 'night'],
    ['with a bad line', () => ['order', new Date(0)], 'batch-invalid', 'line 2: '],
    ['without a line', () => [], 'batch-invalid', 'The batch has no line.'],
  ])('of a function %s fail for good, with the reason, and leave nothing', async (_, lines, type, message) => {
    const { store, run } = bed(lines);
    const error: unknown = await run('keepLines', batch).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ type, nonRetryable: true, message: expect.stringContaining(message) });
    expect(store.entries.size).toBe(0);
  });

  it('are asked for again when the store fails, or when this service has no such schedule', async () => {
    const { store, run } = bed(() => ['order']);
    jest.spyOn(store, 'set').mockRejectedValue(new Error('The disk is full.'));
    await expect(run('keepLines', batch)).rejects.toThrow('The disk is full.');
    await expect(bed().run('keepLines', batch)).rejects.toMatchObject({ type: 'schedule-unknown', nonRetryable: false });
  });

  it('of a function that never comes back are given up with a stop', async () => {
    const { run, environment } = bed(() => new Promise(() => undefined));
    const asked = run('keepLines', batch);
    environment.cancel();
    await expect(asked).rejects.toMatchObject({ name: 'CancelledFailure' });
  });
});

it('the count gives its place back while a run has not ended, and the server tries again', async () => {
  const { run } = bed(() => ['order 1', 'order 2'], {
    batches: { checkLine: async () => undefined, runOf: async (_: object, { line }: BatchLine) => (line === 1 ? 'completed' : 'waiting') },
  });
  const whole = { ...batch, ...(await run('keepLines', batch)) };
  const begun = { ...batchBegin, next: 3, started: 2 };
  await expect(run('countEnds', whole, begun)).rejects.toMatchObject({
    ...{ type: 'batch-waits', nonRetryable: false, nextRetryDelay: 10_000, category: 'BENIGN' },
  });
});

it('a stop cancels runs by the tag of the batch when the store has lost the lines', async () => {
  const pages = [{ runs: [{ id: 'a' }, { id: 'b' }], next: 'more' }, { runs: [{ id: 'c' }] }];
  const { cancelled, run } = bed(() => [], { list: async () => pages.shift() });
  await run('cancelRuns', { ...batch, store: 'batch/lost', chunks: 1 }, {}, batchBegin);
  expect(cancelled).toEqual(['a', 'b', 'c']);
});

it('a run that cannot be read has a result with the reason, and only an outage ends the results', async () => {
  const { store, run, its } = bed(() => ['order 1', 'order 2', 'order 3']);
  const whole = { ...batch, ...(await run('keepLines', batch)) };
  const view = (id: string) => async () => {
    if (id.endsWith('2')) throw new TypeError('The key of the codec is gone.');
    return { status: 'completed', output: 'done' };
  };
  const client = { ...its, run: (id: string) => ({ view: view(id) }) } as unknown as HoldfastClient;
  expect(await all(batchResults(whole, { client, store }))).toMatchObject([
    { line: 1, status: 'completed' },
    { line: 2, status: 'unreadable', error: { code: 'internal', message: 'The key of the codec is gone.' } },
    { line: 3, status: 'completed' },
  ]);
  const gone = async () => Promise.reject(new HoldfastError('server-unreachable', 'Gone.'));
  const away = { ...its, run: () => ({ view: gone }) } as unknown as HoldfastClient;
  await expect(all(batchResults(whole, { client: away, store }))).rejects.toMatchObject({ code: 'server-unreachable' });
});
