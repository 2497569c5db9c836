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
const runs = 50;

/** What each flag of docs/operations/README.md adds to those before it: a cluster of its own for each, one worker. */
export async function benchFlags(): Promise<object> {
  const result: Record<string, object> = {};
  const config: Record<string, unknown> = {};
  for (const added of steps) {
    for (const name of added) config[name] = clusterFlags[name];
    const { alone, fifty } = await measuredWith({ ...config });
    const line = {
      turnMs: { p50: rounded(alone.p50, 0), p95: rounded(alone.p95, 0) },
      turnsPerSecond: rounded(fifty.turnsPerSecond, 1),
      serverCpuMsATurn: rounded(fifty.serverCpuMs, 1),
    };
    const name = added.length === 0 ? 'none' : added.join(', ');
    console.error(`${name}: ${JSON.stringify(line)}`);
    result[name] = line;
  }
  return { cumulative: result };
}

async function measuredWith(config: Readonly<Record<string, unknown>>): Promise<{ readonly alone: Measured; readonly fifty: Measured }> {
  const bed = await openNotesBed(await clusterWith(config));
  try {
    await bed.addWorker();
    await bed.play(10);
    const alone: Measured[] = [];
    for (let round = 0; round < single; round++) alone.push(await bed.play(1));
    const fifty: Measured[] = [];
    for (let round = 0; round < 2; round++) fifty.push(await bed.play(runs));
    return { alone: together(alone), fifty: together(fifty) };
  } finally {
    await bed.close();
  }
}
