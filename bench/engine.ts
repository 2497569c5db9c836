import type { RawBed } from '../test/support/raw-bed';
import { startRawBed } from '../test/support/raw-bed';
import { median, randomWords, rounded } from './report/numbers';
import type { Bed } from './setup';
import { benchModels, startBed, startServer, task, toolText } from './setup';

const turns = 15;
const rounds = 5;

/** The same two-activity turn by hand on Temporal alone and through Holdfast, in turns on one server. */
export async function benchEngine(): Promise<object> {
  const bench = await startServer();
  const say = randomWords(500);
  const bed = await startBed(bench, 'engine', { models: benchModels(() => say) });
  const raw = await startRawBed({ server: bench.server, taskQueue: 'raw', say, toolText });
  try {
    await alternate(bed, raw, 1, 2);
    const single = await alternate(bed, raw, 1, rounds * 2);
    const fifty = await alternate(bed, raw, 50, rounds);
    const perSecond = (ms: number): number => rounded((50 * turns * 1000) / ms, 1);
    return {
      single: { rawMs: rounded(single.raw / turns), ms: rounded(single.ours / turns), ratio: rounded(single.ours / single.raw, 3) },
      fifty: {
        rawTurnsPerSecond: perSecond(fifty.raw),
        turnsPerSecond: perSecond(fifty.ours),
        ratio: rounded(fifty.ours / fifty.raw, 3),
      },
    };
  } finally {
    await bed.close();
    await raw.close();
    await bench.close();
  }
}

async function alternate(bed: Bed, raw: RawBed, runs: number, times: number): Promise<{ readonly raw: number; readonly ours: number }> {
  const rawTimes: number[] = [];
  const ourTimes: number[] = [];
  for (let round = 0; round < times; round++) {
    const steps = [
      async () => rawTimes.push(await timed(runs, () => rawRun(raw))),
      async () => ourTimes.push(await timed(runs, () => ourRun(bed))),
    ];
    for (const step of round % 2 === 0 ? steps : steps.reverse()) await step();
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
  const id = `run-${ids++}`;
  const run = await client.start('worker', task(id, turns), { id });
  await run.result();
}
