import { once } from 'node:events';
import type { HoldfastClient } from '../../client/connect';
import { leastCachedRuns } from '../../host/check-settings';
import { rounded, spread } from './report/numbers';
import type { WorkerProcess } from './setup';
import { connectClient, countOf, named, park, startServer, startWorker } from './setup';

const lengths = [
  [0, 40],
  [20, 15],
  [100, 15],
] as const;

export async function benchParked([given = '500']: readonly string[]): Promise<object> {
  const runs = countOf('parked', given);
  const bench = await startServer();
  const measured: Record<string, object> = {};
  for (const [taskQueue, maxCachedRuns] of [
    ['cached', runs + 1000],
    ['evicted', leastCachedRuns],
  ] as const) {
    const worker = await startWorker({ ...bench, taskQueue, maxCachedRuns });
    const client = await connectClient(bench, taskQueue);
    await park(client, named(`${taskQueue}-warm`, 30));
    const before = await worker.memory();
    await park(client, named(`${taskQueue}-parked`, runs));
    const kbOfARun = rounded(((await worker.memory()) - before) / runs, 1);
    const toCallMs: Record<string, object> = {};
    for (const [turns, count] of lengths) {
      const ids = named(`${taskQueue}-after-${turns}`, count);
      await park(client, ids, turns);
      const took: number[] = [];
      for (const id of ids) took.push(await answer(client, worker, id));
      toCallMs[`after ${turns} turns`] = spread(took);
    }
    measured[taskQueue] = { kbOfARun, toCallMs };
    await client.close();
    await worker.kill();
  }
  await bench.close();
  return { runs, ...measured };
}

async function answer(client: HoldfastClient, { heard }: WorkerProcess, id: string): Promise<number> {
  const run = client.run(id);
  const [interrupt] = await run.interrupts();
  const begun = once(heard, `begun ${id}`).then(() => performance.now());
  const sent = performance.now();
  await run.approve(interrupt?.id ?? '');
  const ms = (await begun) - sent;
  await run.result();
  return ms;
}
