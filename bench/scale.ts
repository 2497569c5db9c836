import { dynamicConfigs } from '../test/cluster/cluster';
import type { LoadServer, Measured } from './load/notes-bed';
import { clusterWith, embeddedServer, openNotesBed, together } from './load/notes-bed';
import { rounded } from './setup';

const workerCounts = [1, 2, 4];
const rounds = 3;

const servers: Readonly<Record<string, () => Promise<LoadServer>>> = {
  embedded: embeddedServer,
  plain: () => clusterWith(dynamicConfigs.plain),
  tuned: () => clusterWith(dynamicConfigs.tuned),
};

/** Fifty runs at once, or the number that is named, on one, two and four worker processes: on an embedded server, and on a cluster with PostgreSQL. */
export async function benchScale(args: readonly string[]): Promise<object> {
  const runs = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 50);
  const named = args.filter((arg) => !/^\d+$/.test(arg));
  const names = named.length === 0 ? ['embedded', 'tuned'] : named;
  const unknown = names.find((name) => servers[name] === undefined);
  if (unknown !== undefined)
    throw new Error(`The bench "scale" knows no server "${unknown}". It knows: ${Object.keys(servers).join(', ')}.`);
  const results: (readonly [string, readonly Measured[]])[] = [];
  for (const name of names) results.push([name, await measuredOn(name, runs, servers[name] as () => Promise<LoadServer>)]);
  const all = results.flatMap(([, measured]) => measured);
  const { lost, doubled } = together(all);
  if (lost + doubled > 0) process.exitCode = 1;
  return {
    runs,
    workers: workerCounts,
    ...Object.fromEntries(results.map(([name, measured]) => [name, columnsOf(measured)])),
    lost,
    doubled,
  };
}

function columnsOf(measured: readonly Measured[]): object {
  const column = (of: (one: Measured) => number, digits = 1): readonly number[] => measured.map((one) => rounded(of(one), digits));
  return {
    turnsPerSecond: column((one) => one.turnsPerSecond),
    workerCpuMsATurn: column((one) => one.workerCpuMs),
    serverCpuMsATurn: column((one) => one.serverCpuMs),
    turnMs: { p50: column((one) => one.p50, 0), p95: column((one) => one.p95, 0) },
  };
}

async function measuredOn(name: string, runs: number, start: () => Promise<LoadServer>): Promise<readonly Measured[]> {
  const bed = await openNotesBed(await start());
  try {
    const measured: Measured[] = [];
    let workers = 0;
    for (const count of workerCounts) {
      for (; workers < count; workers++) await bed.addWorker();
      await bed.play(Math.min(runs, 10 * count));
      const played: Measured[] = [];
      for (let round = 0; round < rounds; round++) played.push(await bed.play(runs));
      console.error(`${name}, workers: ${count}. Turns/s: ${played.map(({ turnsPerSecond }) => rounded(turnsPerSecond, 1)).join(', ')}`);
      measured.push(together(played));
    }
    return measured;
  } finally {
    await bed.close();
  }
}
