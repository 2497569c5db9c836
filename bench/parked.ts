import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { HoldfastClient } from '../client/connect';
import { connect } from '../client/connect';
import { leastCachedRuns } from '../host/check-settings';
import type { ParkedMemory, ParkedReport, ParkedSettings } from './parked-worker';
import type { BenchBed } from './setup';
import { median, percentile, rounded, startServer } from './setup';

const answers = 40;
/** Turns that lie behind a run when it is answered. */
const lengths = [0, 20, 100];
const runsOfLength = 15;
const warmUp = 30;

/** Measures the memory of a worker for each run that waits, cached and evicted, and the time from an answer to the call that the answer allows. */
export async function benchParked([given = '500']: readonly string[]): Promise<object> {
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`The bench "parked" takes a number of runs, such as 500. It was given: ${given}.`);
  const bench = await startServer();
  const cached = await ParkedBed.start(bench, 'cached', count * 2 + 1000);
  const evicted = await ParkedBed.start(bench, 'evicted', leastCachedRuns);
  const cost: Record<string, object> = {};
  for (const bed of [cached, evicted]) {
    await bed.park(bed.idsOf('warm', warmUp), 0);
    const before = await bed.memory();
    await bed.park(bed.idsOf('parked', count), 0);
    const after = await bed.memory();
    const share = (read: (memory: ParkedMemory) => number): number => rounded((read(after) - read(before)) / count, 1);
    cost[bed.taskQueue] = {
      rssKb: share(({ rssKb }) => rssKb),
      threadHeapKb: share(({ threadHeapKb }) => threadHeapKb),
      mainHeapKb: share(({ mainHeapKb }) => mainHeapKb),
      cachedRuns: after.cached,
    };
  }
  const toCallMs: Record<string, object> = {};
  for (const turns of lengths) {
    const name = turns === 0 ? 'parked' : `after-${turns}`;
    const runs = turns === 0 ? answers : runsOfLength;
    const beds = [cached, evicted];
    if (turns > 0) await Promise.all(beds.map((bed) => bed.park(bed.idsOf(name, runs), turns)));
    const measured = new Map<ParkedBed, number[]>(beds.map((bed) => [bed, []]));
    for (let position = 0; position < runs; position++)
      for (const bed of beds) measured.get(bed)?.push(await bed.answer(bed.idsOf(name, runs)[position] as string));
    toCallMs[`after ${turns} turns`] = Object.fromEntries(
      beds.map((bed) => {
        const values = measured.get(bed) as number[];
        return [bed.taskQueue, { p50: rounded(median(values), 1), p95: rounded(percentile(values, 0.95), 1) }];
      }),
    );
  }
  for (const bed of [cached, evicted]) await bed.close();
  await bench.close();
  return { runs: count, kbOfARun: cost, toCallMs };
}

class ParkedBed {
  private readonly waiting = new Set<(report: ParkedReport) => void>();

  private constructor(
    readonly taskQueue: string,
    private readonly child: ChildProcess,
    private readonly client: HoldfastClient,
  ) {
    child.on('message', (report) => {
      for (const hear of this.waiting) hear(report as ParkedReport);
    });
  }

  static async start({ server, directory }: BenchBed, taskQueue: string, maxCachedRuns: number): Promise<ParkedBed> {
    const settings: ParkedSettings = { address: server.address, directory, taskQueue, maxCachedRuns };
    const child = fork(join(__dirname, 'parked-worker.js'), [JSON.stringify(settings)], { execArgv: ['--expose-gc'] });
    const bed = new ParkedBed(taskQueue, child, await connect({ server, taskQueue }));
    await bed.hear((report) => 'ready' in report);
    return bed;
  }

  idsOf(name: string, count: number): readonly string[] {
    return Array.from({ length: count }, (_, position) => `${this.taskQueue}-${name}-${position}`);
  }

  async park(ids: readonly string[], turns: number): Promise<void> {
    const left = [...ids];
    const work = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const run = await this.client.start('carefulWorker', `${id} ${turns}`, { id });
        const outcome = await run.outcome({ timeout: '60s' });
        if (outcome.status !== 'waiting') throw new Error(`${id} is ${outcome.status}.`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
  }

  async memory(): Promise<ParkedMemory> {
    const heard = this.hear((report) => 'memory' in report);
    this.child.send('memory');
    return ((await heard) as { memory: ParkedMemory }).memory;
  }

  /** Milliseconds from the answer to the beginning of the call. */
  async answer(id: string): Promise<number> {
    const run = this.client.run(id);
    const outcome = await run.outcome();
    const [interrupt] = outcome.status === 'waiting' ? outcome.interrupts : [];
    if (interrupt === undefined) throw new Error(`${id} does not wait.`);
    const begun = this.hear((report) => 'begun' in report && report.begun === id).then(() => performance.now());
    const sent = performance.now();
    await run.approve(interrupt.id);
    const ms = (await begun) - sent;
    await run.result();
    return ms;
  }

  async close(): Promise<void> {
    await this.client.close();
    this.child.kill('SIGKILL');
  }

  private hear(wanted: (report: ParkedReport) => boolean): Promise<ParkedReport> {
    return new Promise((resolve, reject) => {
      const listen = (report: ParkedReport): void => {
        if (!wanted(report)) return;
        this.waiting.delete(listen);
        resolve(report);
      };
      this.waiting.add(listen);
      this.child.once('exit', (code) => reject(new Error(`The worker ended with ${code}.`)));
    });
  }
}
