import type { BenchBed, Bed } from './setup';
import { median, randomWords, rounded, startBed, startServer, toolText, turnModel } from './setup';
import type { RawBed } from '../test/support/raw-bed';
import { startRawBed } from '../test/support/raw-bed';

const turns = 15;
const rounds = 5;

/** The same two-activity turn by hand on Temporal alone and through Holdfast, in turns on one server. */
export async function benchEngine(): Promise<object> {
  const bench = await startServer();
  const say = randomWords(500);
  const bed = await startBed(bench, 'engine', { models: turnModel(turns, 'look', () => say) });
  const raw = await startRawBed({ server: bench.server, taskQueue: 'raw', say, toolText });
  try {
    await alternate(bench, bed, raw, 1, 2);
    const single = await alternate(bench, bed, raw, 1, rounds * 2);
    const fifty = await alternate(bench, bed, raw, 50, rounds);
    const perSecond = (ms: number): number => (50 * turns * 1000) / ms;
    return {
      single: { rawMs: rounded(single.raw / turns), ms: rounded(single.ours / turns), ratio: rounded(single.ours / single.raw, 3) },
      fifty: {
        rawTurnsPerSecond: rounded(perSecond(fifty.raw), 1),
        turnsPerSecond: rounded(perSecond(fifty.ours), 1),
        ratio: rounded(fifty.ours / fifty.raw, 3),
      },
    };
  } finally {
    await bed.close();
    await raw.close();
    await bench.close();
  }
}

async function alternate(bench: BenchBed, bed: Bed, raw: RawBed, runs: number, times: number): Promise<{ raw: number; ours: number }> {
  void bench;
  const rawTimes: number[] = [];
  const ourTimes: number[] = [];
  for (let round = 0; round < times; round++) {
    const measureRaw = async (): Promise<unknown> => rawTimes.push(await timed(runs, () => rawRun(raw)));
    const measureOurs = async (): Promise<unknown> => ourTimes.push(await timed(runs, () => ourRun(bed)));
    if (round % 2 === 0) {
      await measureRaw();
      await measureOurs();
    } else {
      await measureOurs();
      await measureRaw();
    }
  }
  console.error(`${runs} at once: raw ${rawTimes.map(Math.round).join(' ')}; holdfast ${ourTimes.map(Math.round).join(' ')} ms`);
  return { raw: median(rawTimes), ours: median(ourTimes) };
}

async function timed(runs: number, run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: runs }, run));
  return performance.now() - start;
}

let ids = 0;

async function rawRun({ client, taskQueue }: RawBed): Promise<void> {
  await client.workflow.execute('rawRun', { workflowId: `raw-${ids++}`, taskQueue, args: [turns] });
}

/** Waits as the raw run's caller does, so that only the engine differs. */
async function ourRun({ client }: Bed): Promise<void> {
  const run = await client.start('worker', 'Work.', { id: `run-${ids++}` });
  await run.result();
}
