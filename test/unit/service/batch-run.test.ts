import type { BatchInput, BatchLine, BatchProgress } from '../../../contract/batches';
import { batchBegin } from '../../../contract/batches';
import { HoldfastError } from '../../../contract/errors';
import type { EndStatus, RunStatus } from '../../../contract/events';
import { LineWriter } from '../../../service/batches/kept-lines';
import { refusalOf } from '../../../service/batches/kept-lines';
import type { BatchWork, LineRuns } from '../../../service/batches/run-batch';
import { countEnds, startLines } from '../../../service/batches/run-batch';
import type { ServiceStore } from '../../../service/store/store';
import { memoryStore } from '../../support/memory-store';

const crash = new Error('The service was killed.');

interface Faked extends LineRuns {
  readonly begun: string[];
  readonly atWork: () => number;
  readonly mostAtWork: () => number;
  answer(id: string, end?: EndStatus): void;
}

/** Runs that outlast the service. Runs with `ask` wait for an answer, and others end by themselves. */
function fakeRuns(): Faked {
  const runs = new Map<string, { status: RunStatus; changed: Promise<void>; change: (status: RunStatus) => void }>();
  const begun: string[] = [];
  let most = 0;
  const idOf = ({ line, id }: BatchLine): string => id ?? String(line);
  const atWork = (): number => [...runs.values()].filter(({ status }) => status === 'running').length;
  const until = async (line: BatchLine, isSo: (status: RunStatus) => boolean, signal: AbortSignal): Promise<void> => {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    for (let run = runs.get(idOf(line)); run !== undefined && !isSo(run.status) && !signal.aborted;)
      await Promise.race([run.changed, aborted]);
  };
  return {
    begun,
    atWork,
    mostAtWork: () => most,
    answer: (id, end = 'completed') => runs.get(id)?.change(end),
    async start(line) {
      const id = idOf(line);
      if (line.input === 'taken') throw new HoldfastError('run-id-in-use', 'Another run has the id.');
      if (runs.has(id)) return;
      begun.push(id);
      let wake = (): void => undefined;
      const changed = (): Promise<void> => new Promise((resolve) => (wake = resolve));
      const run = {
        status: 'running' as RunStatus,
        changed: changed(),
        change(status: RunStatus) {
          const before = wake;
          run.status = status;
          run.changed = changed();
          before();
        },
      };
      runs.set(id, run);
      most = Math.max(most, atWork());
      setImmediate(() => {
        const ends = { fails: 'failed', ask: 'waiting' } as Record<string, RunStatus>;
        if (line.input !== 'held') run.change(ends[String(line.input)] ?? 'completed');
      });
    },
    rests: (line, signal) => until(line, (status) => status !== 'running', signal),
    statusOf: async (line) => runs.get(idOf(line))?.status,
  };
}

async function batchOf(store: ServiceStore, inputs: readonly string[], more: Partial<BatchInput> = {}): Promise<BatchInput> {
  const writer = new LineWriter(store, 'batch/x');
  for (const [at, input] of inputs.entries()) await writer.add(JSON.stringify({ line: at + 1, input }));
  await writer.flush();
  const facts = { id: 'b', agent: 'clerk', tags: [], hash: '', tenant: 'acme', author: {}, queue: 'q', concurrency: 3 };
  return { ...facts, lines: inputs.length, store: 'batch/x', chunks: writer.chunks, ...more };
}

/** As the workflow does, without a wait for people. */
async function runBatch(batch: BatchInput, begin: BatchProgress, work: BatchWork): Promise<BatchProgress> {
  const begun = await startLines(batch, begin, work);
  return work.signal.aborted ? begun : countEnds(batch, begun, work);
}

const forever = new AbortController().signal;
const quiet = { report: () => undefined, signal: forever };
const many = (count: number, input = 'x'): readonly string[] => Array.from({ length: count }, () => input);

describe('the runs of a batch', () => {
  it('are started once each, at most `concurrency` at work, and are counted by their ends', async () => {
    const store = memoryStore();
    const runs = fakeRuns();
    const inputs = [...many(700), 'fails', 'taken', ...many(20)];
    const done = await runBatch(await batchOf(store, inputs), batchBegin, { ...quiet, store, runs });
    expect(done).toEqual({
      ...{ next: 723, started: 721, refused: 1, open: [], looked: 723, chunk: 2 },
      ended: { completed: 720, failed: 1, cancelled: 0 },
    });
    expect(new Set(runs.begun).size).toBe(721);
    expect(runs.mostAtWork()).toBe(3);
    expect(await refusalOf(store, await batchOf(store, inputs), { line: 702, input: '' })).toEqual({
      code: 'run-id-in-use',
      message: 'Another run has the id.',
    });
  });

  it('that wait for a person hold no place, and end the count until all of them have ended, wherever the count begins again', async () => {
    const store = memoryStore();
    const runs = fakeRuns();
    const batch = await batchOf(store, [...many(499), 'ask', 'ask', 'ask', ...many(10)]);
    let progress = await startLines(batch, batchBegin, { ...quiet, store, runs });
    expect(progress).toMatchObject({ started: 512, open: [] });
    const read = jest.spyOn(store, 'get');
    const look = async (): Promise<BatchProgress> => (progress = await countEnds(batch, progress, { ...quiet, store, runs }));
    expect(await look()).toMatchObject({ looked: 500, chunk: 0, ended: { completed: 499 } });
    runs.answer('502', 'failed');
    runs.answer('500', 'cancelled');
    expect(await look()).toMatchObject({ looked: 501, chunk: 0, ended: { completed: 499, cancelled: 1 } });
    expect(await look()).toEqual(progress);
    runs.answer('501');
    read.mockClear();
    expect(await look()).toMatchObject({ looked: 513, chunk: 2, ended: { completed: 510, failed: 1, cancelled: 1 } });
    expect(await look()).toEqual(progress);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('at work hold their places over a crash: nothing new begins beside them, and none is asked to start again', async () => {
    const store = memoryStore();
    const runs = fakeRuns();
    const batch = await batchOf(store, [...many(3, 'held'), ...many(5)]);
    let told: BatchProgress = batchBegin;
    let asked = 0;
    const counted = { ...runs, start: (line: BatchLine) => (asked++, runs.start(line)) };
    const first = new AbortController();
    const attempt = (signal: AbortSignal): Promise<BatchProgress> =>
      runBatch(batch, told, { store, runs: counted, signal, report: (progress) => (told = progress) });
    const left = attempt(first.signal);
    while (told.open.length < 3) await new Promise(setImmediate);
    first.abort();
    expect(await left).toMatchObject({ next: 4, open: [1, 2, 3] });
    const second = attempt(forever);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(runs.begun).toEqual(['1', '2', '3']);
    expect(asked).toEqual(3);
    for (const id of ['1', '2', '3']) runs.answer(id);
    expect((await second).ended.completed).toBe(8);
    expect(runs.mostAtWork()).toBe(3);
  });

  it.each([false, true])('begin once each when the service dies at every step, also if the last report is lost (%s)', async (loses) => {
    const inputs = [...many(4), 'fails', 'taken', ...many(3)];
    const expected = { started: 8, refused: 1, ended: { completed: 7, failed: 1, cancelled: 0 } };
    let deaths = 0;
    for (let steps = 1; ; steps++) {
      const store = memoryStore();
      const runs = fakeRuns();
      const batch = await batchOf(store, inputs);
      let reports: readonly BatchProgress[] = [batchBegin];
      let isDead = false;
      let left = steps;
      /** Dies before or after a step, and no later step counts. */
      const dying = <Args extends readonly unknown[], Result>(step: (...args: Args) => Promise<Result>) => {
        return async (...args: Args): Promise<Result> => {
          if (isDead || left-- === 0) throw ((isDead = true), crash);
          const result = await step(...args);
          if (isDead || left-- === 0) throw ((isDead = true), crash);
          return result;
        };
      };
      const faulty = {
        ...runs,
        start: dying(runs.start),
        rests: dying(runs.rests),
        statusOf: dying(runs.statusOf),
      };
      const failing: ServiceStore = { ...store, get: dying(store.get), set: dying(store.set) };
      const first = await runBatch(batch, batchBegin, {
        ...{ store: failing, runs: faulty, signal: forever },
        report: (progress) => void (isDead || (reports = [...reports, progress])),
      }).catch((error: unknown) => error);
      if (first !== crash) {
        expect(first).toMatchObject(expected);
        break;
      }
      deaths += 1;
      const begin = (loses ? reports.at(-2) : undefined) ?? reports.at(-1) ?? batchBegin;
      expect(await runBatch(batch, begin, { ...quiet, store, runs })).toMatchObject(expected);
      expect([...runs.begun].sort()).toEqual(['1', '2', '3', '4', '5', '7', '8', '9']);
      expect(runs.mostAtWork()).toBeLessThanOrEqual(3);
    }
    expect(deaths).toBeGreaterThan(40);
  });

  it('begin no more after a stop, and an error of the server that may pass ends the attempt', async () => {
    const store = memoryStore();
    const runs = fakeRuns();
    const stop = new AbortController();
    const batch = await batchOf(store, many(20, 'held'));
    const stopped = runBatch(batch, batchBegin, { ...quiet, store, runs, signal: stop.signal });
    while (runs.begun.length < 3) await new Promise(setImmediate);
    stop.abort();
    expect(await stopped).toMatchObject({ started: 3, ended: batchBegin.ended });
    const away = { ...runs, start: () => Promise.reject(new HoldfastError('server-unreachable', 'Gone.')) };
    await expect(runBatch(batch, batchBegin, { ...quiet, store, runs: away })).rejects.toMatchObject({ code: 'server-unreachable' });
    expect([...store.entries.keys()]).toEqual(['batch/x/000000']);
  });

  it('begin at most `perMinute` in a minute', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const store = memoryStore();
      const runs = fakeRuns();
      const batch = await batchOf(store, many(5), { perMinute: 30 });
      const work = runBatch(batch, batchBegin, { ...quiet, store, runs });
      const counts: number[] = [];
      for (let second = 0; second < 9; second++) {
        for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
        counts.push(runs.begun.length);
        await jest.advanceTimersByTimeAsync(1000);
      }
      expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5]);
      expect((await work).started).toBe(5);
    } finally {
      jest.useRealTimers();
    }
  });
});
