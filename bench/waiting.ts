import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { HoldfastClient } from '../client/connect';
import { connect } from '../client/connect';
import { connectTemporal } from '../host/connection';
import { startCounter, tallied } from './load/counter';
import { inParallel } from './load/in-parallel';
import { jobText, plans } from './load/jobs';
import type { Started } from './load/processes';
import { startLoadWorker } from './load/processes';
import { databaseMb, usageOf } from './load/usage';
import type { BenchBed } from './setup';
import { rounded, startServer } from './setup';

const cache = 50;
const startsAtOnce = 32;
/** So many runs may be on their way to their question. */
const underWay = 200;
const answersAtOnce = 16;
/** Of more runs than this only a sample is answered. */
const answeredWhole = 1000;
const sample = 500;
/** Between two counts of the runs that wait. */
const lookMs = 250;
/** Behind the last start, before memory is read. */
const quietMs = 10_000;
const startMs = 60_000;

interface Stage {
  readonly workerRssMb: number;
  readonly answeredPerSecond: number;
  readonly lost: number;
  readonly doubled: number;
}

/** Runs that wait for an approval, with a worker that caches few of them; it is killed and answers come to another one. */
export async function benchWaiting(args: readonly string[]): Promise<object> {
  const runs = args.length === 0 ? [50, 1000, 10_000] : args.map(Number);
  if (!runs.every((count) => Number.isInteger(count) && count > 0))
    throw new Error(`The bench "waiting" takes numbers of runs, such as 50 1000. It was given: ${args.join(' ')}.`);
  const stages: Stage[] = [];
  for (const count of runs) stages.push(await waiting(count));
  const sum = (of: (stage: Stage) => number): number => stages.reduce((total, stage) => total + of(stage), 0);
  const [lost, doubled] = [sum((stage) => stage.lost), sum((stage) => stage.doubled)];
  if (lost + doubled > 0) process.exitCode = 1;
  return {
    runs,
    workerRssMb: stages.map(({ workerRssMb }) => rounded(workerRssMb, 0)),
    answeredPerSecond: rounded(stages.at(-1)?.answeredPerSecond ?? 0, 1),
    lost,
    doubled,
  };
}

/** Each number of runs has a server, a database and workers of its own. */
async function waiting(count: number): Promise<Stage> {
  const bench = await startServer();
  const counter = await startCounter(bench.directory);
  const settings = {
    address: bench.server.address,
    taskQueue: 'waiting',
    bundles: join(bench.directory, 'bundles'),
    maxCachedRuns: cache,
  };
  const first = await startLoadWorker(bench.directory, counter.url, settings);
  const client = await connect({ server: bench.server, taskQueue: 'waiting' });
  const look = await openLook(bench);
  let second: Started | undefined;
  try {
    const before = { database: databaseOf(bench), worker: usageOf(first.pid), server: usageOf(bench.serverId) };
    const began = performance.now();
    const ids = Array.from({ length: count }, (_, position) => `waits-${position}`);
    let started = 0;
    await inParallel(startsAtOnce, ids, async (id) => {
      while (started - look.last >= underWay) await look.next();
      started++;
      await client.start('jobs', jobText({ kind: 'asks', id }), { id });
    });
    const until = performance.now() + startMs;
    while (look.last < count && performance.now() < until) await look.next();
    const parkedMs = performance.now() - began;
    await delay(quietMs);
    const worker = usageOf(first.pid);
    const server = usageOf(bench.serverId);
    await first.kill();
    second = await startLoadWorker(bench.directory, counter.url, settings);
    const chosen = count <= answeredWhole ? ids : ids.filter((_, position) => position % Math.floor(count / sample) === 0).slice(0, sample);
    const answering = performance.now();
    const ended = await inParallel(answersAtOnce, chosen, (id) => approved(client, id));
    const answeredPerSecond = (chosen.length * 1000) / (performance.now() - answering);
    const tally = tallied(await counter.counts(), chosen.flatMap(plans.asks.effects), () => false);
    await delay(2000);
    const left = await look.next();
    console.error(
      `${count} runs: wait after ${rounded(parkedMs / 1000, 1)} s; CPU a run ${rounded((worker.cpuMs - before.worker.cpuMs) / count, 1)} ms of the worker, ` +
        `${rounded((server.cpuMs - before.server.cpuMs) / count, 1)} ms of the server; worker ${rounded(before.worker.rssMb, 0)} -> ${rounded(worker.rssMb, 0)} MB, ` +
        `server ${rounded(before.server.rssMb, 0)} -> ${rounded(server.rssMb, 0)} MB, database ${rounded(databaseOf(bench) - before.database, 1)} MB; ` +
        `${chosen.length} answers to another worker: ${rounded(answeredPerSecond, 1)}/s, it has ${rounded(usageOf(second.pid).rssMb, 0)} MB; ` +
        `${left} of ${count - chosen.length} others wait`,
    );
    const wrong = ended.filter((text, position) => text !== `Done: ${chosen[position] ?? ''}.`).length;
    return {
      workerRssMb: worker.rssMb,
      answeredPerSecond,
      lost: Math.max(wrong, tally.lost.length) + Math.max(0, count - chosen.length - left),
      doubled: tally.doubled.length,
    };
  } finally {
    await look.close();
    await client.close();
    await first.kill();
    await second?.kill();
    await counter.kill();
    await bench.close();
  }
}

const databaseOf = ({ databaseFile }: BenchBed): number => databaseMb(databaseFile);

/** What a run said at its end; undefined if it did not come to one. */
async function approved(client: HoldfastClient, id: string): Promise<string | undefined> {
  const run = client.run(id);
  try {
    const [interrupt] = await run.interrupts();
    if (interrupt === undefined) return undefined;
    await run.approve(interrupt.id, { by: 'bench' });
    return String(await run.result());
  } catch (error) {
    console.error(`${id}: ${String(error)}`);
    return undefined;
  }
}

/** How many runs wait, as the server counts them. */
interface Look {
  /** At the last look. */
  readonly last: number;
  /** At a look of after this moment. All who ask meanwhile share it: a count goes over all rows of the server. */
  next(): Promise<number>;
  close(): Promise<void>;
}

async function openLook({ server }: BenchBed): Promise<Look> {
  const { connection, close } = await connectTemporal(server);
  const client = new Client({ connection, namespace: server.namespace });
  let last = 0;
  let looking: Promise<number> | undefined;
  const count = async (): Promise<number> => {
    await delay(lookMs);
    looking = undefined;
    last = (await client.workflow.count("ExecutionStatus = 'Running' AND HoldfastStatus = 'waiting'")).count;
    return last;
  };
  return {
    get last() {
      return last;
    },
    next: () => (looking ??= count()),
    close,
  };
}
