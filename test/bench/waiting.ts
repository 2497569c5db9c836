import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../client/connect';
import { connectTemporal } from '../../host/connection';
import { rounded } from './report/numbers';
import type { BenchServer } from './setup';
import { connectClient, countOf, inParallel, named, park, startServer, startWorker } from './setup';
import { databaseBytes, usageOf } from './usage';

const taskQueue = 'waiting';
const maxCachedRuns = 50;
/** Above this number, only a sample is answered. */
const answeredWhole = 1000;
const sample = 500;
const quietMs = 10_000;

/** Kills a worker that caches few waiting runs, and answers through another worker. */
export async function benchWaiting(args: readonly string[]): Promise<object> {
  const counts = args.length === 0 ? [50, 1000, 10_000] : args.map((given) => countOf('waiting', given));
  const stages: Stage[] = [];
  for (const count of counts) stages.push(await waiting(count));
  if (stages.some(({ lost, doubled }) => lost + doubled > 0)) process.exitCode = 1;
  return { stages };
}

interface Stage {
  readonly runs: number;
  readonly idleWorkerMb: number;
  readonly workerMb: number;
  readonly serverMb: number;
  readonly databaseMb: number;
  readonly answersPerSecond: number;
  /** Runs that ended wrongly or never asked for the refund. */
  readonly lost: number;
  /** Runs that asked for the refund under two keys. */
  readonly doubled: number;
}

async function waiting(runs: number): Promise<Stage> {
  const bench = await startServer();
  const first = await startWorker({ ...bench, taskQueue, maxCachedRuns });
  const client = await connectClient(bench, taskQueue);
  const idleWorkerMb = rounded(usageOf(first.pid).rssMb, 0);
  const databaseBefore = databaseBytes(bench.directory);
  const ids = named('waits', runs);
  await park(client, ids);
  await delay(quietMs);
  const workerMb = rounded(usageOf(first.pid).rssMb, 0);
  const serverMb = rounded(usageOf(bench.pid).rssMb, 0);
  const databaseMb = rounded((databaseBytes(bench.directory) - databaseBefore) / 1024 ** 2, 1);
  await first.kill();
  const second = await startWorker({ ...bench, taskQueue, maxCachedRuns });
  const keys = new Map<string, Set<string>>();
  second.heard.on('begun', (id: string, key: string) => keys.set(id, (keys.get(id) ?? new Set()).add(key)));
  const chosen = runs <= answeredWhole ? ids : ids.filter((_, position) => position % Math.floor(runs / sample) === 0).slice(0, sample);
  const answering = performance.now();
  let ended = 0;
  await inParallel(16, chosen, async (id) => {
    if (await approved(client, id)) ended += 1;
  });
  const answersPerSecond = rounded((chosen.length * 1000) / (performance.now() - answering), 1);
  // Until the server's lists know the last end.
  await delay(2000);
  const lost = chosen.length - Math.min(ended, keys.size) + (runs - chosen.length) - (await stillWaiting(bench));
  const doubled = [...keys.values()].filter(({ size }) => size > 1).length;
  await client.close();
  await second.kill();
  await bench.close();
  return { runs, idleWorkerMb, workerMb, serverMb, databaseMb, answersPerSecond, lost, doubled };
}

async function approved(client: HoldfastClient, id: string): Promise<boolean> {
  try {
    const run = client.run(id);
    const [interrupt] = await run.interrupts();
    await run.approve(interrupt?.id ?? '', { by: 'bench' });
    return (await run.outcome()).status === 'completed';
  } catch (error) {
    console.error(`${id}: ${String(error)}`);
    return false;
  }
}

async function stillWaiting({ server }: BenchServer): Promise<number> {
  const { connection, close } = await connectTemporal(server);
  const { workflow } = new Client({ connection, namespace: server.namespace });
  const { count } = await workflow.count("ExecutionStatus = 'Running' AND HoldfastStatus = 'waiting'");
  await close();
  return count;
}
