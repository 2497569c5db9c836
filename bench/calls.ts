import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../client/connect';
import { startCounter } from './load/counter';
import type { JobKind } from './load/jobs';
import { jobText, plans, ponderMs } from './load/jobs';
import { embeddedServer } from './load/notes-bed';
import { startLoadWorker } from './load/processes';
import { usageOf } from './load/usage';
import { median, rounded } from './setup';

const rounds = 3;
const calls = plans.ponders.turns('').length + 1;

/** What each second costs that a call of a model takes: the same runs with a model that takes its time, and with one that answers at once. */
export async function benchCalls([given = '40']: readonly string[]): Promise<object> {
  const runs = Number(given);
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`The bench "calls" takes a number of runs at once. It was given: ${given}.`);
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-calls-'));
  const server = await embeddedServer();
  const taskQueue = 'calls';
  const counter = await startCounter(directory);
  const client = await connect({ server: { address: server.address, namespace: 'default' }, taskQueue });
  const worker = await startLoadWorker(directory, counter.url, { address: server.address, taskQueue, bundles: join(directory, 'bundles') });
  let played = 0;
  const play = async (kind: JobKind): Promise<{ readonly worker: number; readonly server: number }> => {
    const cpu = (): readonly number[] => [usageOf(worker.pid).cpuMs, usageOf(...server.pids).cpuMs];
    const before = cpu();
    const ids = Array.from({ length: runs }, () => `${kind}-${played++}`);
    await Promise.all(ids.map(async (id) => (await client.start('jobs', jobText({ kind, id }), { id })).result()));
    await delay(500);
    const [ofWorker = 0, ofServer = 0] = cpu().map((ms, position) => ms - (before[position] ?? 0));
    return { worker: ofWorker, server: ofServer };
  };
  try {
    await play('looks');
    const seconds = (runs * calls * ponderMs) / 1000;
    const measured: { readonly worker: number; readonly server: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const [slow, quick] = [await play('ponders'), await play('looks')];
      measured.push({ worker: (slow.worker - quick.worker) / seconds, server: (slow.server - quick.server) / seconds });
    }
    const middle = (of: (one: { readonly worker: number; readonly server: number }) => number): number =>
      rounded(median(measured.map(of)), 2);
    return {
      runs,
      secondsACall: ponderMs / 1000,
      workerCpuMsASecond: middle((one) => one.worker),
      serverCpuMsASecond: middle((one) => one.server),
    };
  } finally {
    await worker.kill();
    await client.close();
    await counter.kill();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
