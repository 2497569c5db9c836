import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../../client/connect';
import { textOf } from '../../contract/messages/messages';
import type { DynamicConfig } from '../../test/cluster/cluster';
import { Cluster } from '../../test/cluster/cluster';
import { median, percentile, startServer } from '../setup';
import { startCounter, tallied } from './counter';
import { jobText, noteTurns, plans } from './jobs';
import type { Started } from './processes';
import { startLoadWorker } from './processes';
import { usageOf } from './usage';

export interface LoadServer {
  readonly address: string;
  readonly pids: readonly number[];
  close(): Promise<void>;
}

export async function embeddedServer(): Promise<LoadServer> {
  const { server, serverId, close } = await startServer();
  return { address: server.address, pids: [serverId], close };
}

export async function clusterWith(dynamicConfig: DynamicConfig): Promise<LoadServer> {
  const cluster = await Cluster.start(dynamicConfig);
  return { address: cluster.address, pids: cluster.pids, close: () => cluster.stop() };
}

/** Of runs of the kind `notes`: a model, and a tool that asks another process. Both are activities. */
export interface Measured {
  readonly turnsPerSecond: number;
  /** Milliseconds of CPU a turn, of all workers and of all processes of the server. */
  readonly workerCpuMs: number;
  readonly serverCpuMs: number;
  /** From one answer of the model to the next one. */
  readonly p50: number;
  readonly p95: number;
  readonly lost: number;
  readonly doubled: number;
}

export interface NotesBed {
  addWorker(): Promise<void>;
  /** So many runs at once, each with all its turns. */
  play(runs: number): Promise<Measured>;
  close(): Promise<void>;
}

/** A client, worker processes, and the process that counts, on a server that it closes with itself. */
export async function openNotesBed(server: LoadServer): Promise<NotesBed> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-notes-'));
  const taskQueue = 'notes';
  const counter = await startCounter(directory);
  const client = await connect({ server: { address: server.address, namespace: 'default' }, taskQueue });
  const workers: Started[] = [];
  const cpu = (): { readonly workers: number; readonly server: number } => ({
    workers: usageOf(...workers.map(({ pid }) => pid)).cpuMs,
    server: usageOf(...server.pids).cpuMs,
  });
  let played = 0;

  return {
    async addWorker() {
      workers.push(
        await startLoadWorker(directory, counter.url, { address: server.address, taskQueue, bundles: join(directory, 'bundles') }),
      );
    },
    async play(runs) {
      const ids = Array.from({ length: runs }, () => `notes-${played++}`);
      const before = cpu();
      const began = performance.now();
      const ended = await Promise.all(
        ids.map(async (id) => {
          const run = await client.start('jobs', jobText({ kind: 'notes', id }), { id });
          return { run, isRight: (await run.result()) === `Done: ${id}.` };
        }),
      );
      const seconds = (performance.now() - began) / 1000;
      // What the server tidies up behind the last run belongs to it.
      await delay(500);
      const after = cpu();
      const turns = runs * noteTurns;
      const turnMs: number[] = [];
      for (const { run } of ended) {
        const answers = (await run.transcript()).filter(({ role }) => role === 'assistant');
        const saidAt = answers.slice(0, noteTurns).map((message) => Number.parseInt(textOf(message), 10));
        turnMs.push(...saidAt.slice(1).map((at, position) => at - (saidAt[position] ?? at)));
      }
      const wanted = ids.flatMap(plans.notes.effects);
      const counts = await counter.counts();
      const { lost } = tallied(counts, wanted, () => false);
      const doubled = wanted.filter((label) => (counts[label]?.keys ?? 0) > 1);
      return {
        turnsPerSecond: turns / seconds,
        workerCpuMs: (after.workers - before.workers) / turns,
        serverCpuMs: (after.server - before.server) / turns,
        p50: median(turnMs),
        p95: percentile(turnMs, 0.95),
        lost: lost.length + ended.filter(({ isRight }) => !isRight).length,
        doubled: doubled.length,
      };
    },
    async close() {
      for (const worker of workers) await worker.kill();
      await client.close();
      await counter.kill();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The mean of some rounds; what was lost or doubled in any of them counts. */
export function together(rounds: readonly Measured[]): Measured {
  const sum = (of: (one: Measured) => number): number => rounds.reduce((total, one) => total + of(one), 0);
  const mean = (of: (one: Measured) => number): number => sum(of) / rounds.length;
  return {
    turnsPerSecond: mean((one) => one.turnsPerSecond),
    workerCpuMs: mean((one) => one.workerCpuMs),
    serverCpuMs: mean((one) => one.serverCpuMs),
    p50: mean((one) => one.p50),
    p95: mean((one) => one.p95),
    lost: sum((one) => one.lost),
    doubled: sum((one) => one.doubled),
  };
}
