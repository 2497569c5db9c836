import { clusterFlags } from '../host/server/server-flags';
import type { Measured } from './load/notes-bed';
import { clusterWith, openNotesBed, together } from './load/notes-bed';
import { rounded } from './setup';

/** Those that belong together count as one. The rate of lists is nothing that a run waits for. */
const steps: readonly (readonly (keyof typeof clusterFlags)[])[] = [
  [],
  ['system.enableActivityEagerExecution'],
  ['history.transferProcessorMaxPollRPS'],
  ['history.timerProcessorMaxPollRPS'],
  ['matching.numTaskqueueReadPartitions', 'matching.numTaskqueueWritePartitions'],
  ['history.sendRawHistoryBetweenInternalServices'],
];
const single = 5;

/** What each flag of docs/operations/README.md adds to those before it: a cluster of its own for each, one worker. */
export async function benchFlags([given = '50']: readonly string[]): Promise<object> {
  const runs = Number(given);
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`The bench "flags" takes a number of runs at once. It was given: ${given}.`);
  const result: Record<string, object> = {};
  const config: Record<string, unknown> = {};
  for (const added of steps) {
    for (const name of added) config[name] = clusterFlags[name];
    const { alone, many } = await measuredWith({ ...config }, runs);
    const line = {
      turnMs: { p50: rounded(alone.p50, 0), p95: rounded(alone.p95, 0) },
      turnsPerSecond: rounded(many.turnsPerSecond, 1),
      serverCpuMsATurn: rounded(many.serverCpuMs, 1),
    };
    const name = added.length === 0 ? 'none' : added.join(', ');
    console.error(`${name}: ${JSON.stringify(line)}`);
    result[name] = line;
  }
  return { cumulative: result };
}

async function measuredWith(
  config: Readonly<Record<string, unknown>>,
  runs: number,
): Promise<{ readonly alone: Measured; readonly many: Measured }> {
  const bed = await openNotesBed(await clusterWith(config));
  try {
    await bed.addWorker();
    await bed.play(Math.min(runs, 10));
    const alone: Measured[] = [];
    for (let round = 0; round < single; round++) alone.push(await bed.play(1));
    const many: Measured[] = [];
    for (let round = 0; round < 2; round++) many.push(await bed.play(runs));
    return { alone: together(alone), many: together(many) };
  } finally {
    await bed.close();
  }
}
