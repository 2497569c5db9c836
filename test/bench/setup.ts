import { fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { defined } from '../../contract/defined';
import type { DeltaSource } from '../../contract/deltas';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import type { TemporalSettings } from '../../host/connection';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import type { WorkerOptions } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { randomWords } from './report/numbers';

export interface Place {
  readonly server: TemporalSettings;
  readonly directory: string;
}

export interface BenchServer extends Place {
  readonly pid: number;
  close(): Promise<void>;
}

/** As `npm start` does. */
export async function startServer(dynamicConfig: Record<string, string> = {}): Promise<BenchServer> {
  quietRuntime();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const { address, namespace, pid, stop } = await startEmbeddedServer({
    directory,
    dynamicConfig,
    onProgress: (text) => console.error(text),
  });
  return {
    server: { address, namespace },
    directory,
    pid,
    async close() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function shared({ server, directory }: Place, taskQueue: string) {
  return { server, taskQueue, compress: true, dataConverter: snapshotStorage(new DirectoryDriver(join(directory, 'snapshots'))) };
}

export function createWorker(place: Place, taskQueue: string, options: Partial<WorkerOptions>): Promise<HoldfastWorker> {
  return HoldfastWorker.create({
    ...shared(place, taskQueue),
    agents: join(__dirname, 'agents.js'),
    tools: benchTools(),
    bundles: join(place.directory, 'bundles'),
    ...options,
  });
}

export function connectClient(place: Place, taskQueue: string, compress = true, deltas?: DeltaSource): Promise<HoldfastClient> {
  return connect({ ...shared(place, taskQueue), compress, ...defined({ deltas }) });
}

export interface Bed {
  readonly client: HoldfastClient;
  close(): Promise<void>;
}

export async function startBed(place: Place, taskQueue: string, options: Partial<WorkerOptions>, deltas?: DeltaSource): Promise<Bed> {
  const worker = await createWorker(place, taskQueue, options);
  const client = await connectClient(place, taskQueue, options.compress, deltas);
  return {
    client,
    async close() {
      await client.close();
      await worker.shutdown();
    },
  };
}

export interface WorkerSettings extends Place {
  readonly taskQueue: string;
  readonly maxCachedRuns?: number;
  /** The last answer of the model never comes. */
  readonly holds?: boolean;
}

export interface WorkerProcess {
  readonly pid: number;
  /** Events: `held` for an endless model call, `begun` with run and key, `begun RUN`, `memory` with kilobytes. */
  readonly heard: EventEmitter;
  /** Resident kilobytes after a collection in all threads. */
  memory(): Promise<number>;
  kill(): Promise<void>;
}

export async function startWorker(settings: WorkerSettings): Promise<WorkerProcess> {
  const child = fork(join(__dirname, 'worker-process.js'), [JSON.stringify(settings)], { execArgv: ['--expose-gc'] });
  const heard = new EventEmitter().setMaxListeners(0);
  child.on('message', (words: readonly [string, ...unknown[]]) => heard.emit(...words));
  child.once('exit', (code) => heard.emit('error', new Error(`The worker ended with ${code}.`)));
  await once(heard, 'ready');
  return {
    pid: child.pid as number,
    heard,
    async memory() {
      const told = once(heard, 'memory') as Promise<[number]>;
      child.send('memory');
      const [kilobytes] = await told;
      return kilobytes;
    },
    async kill() {
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

export const toolText = randomWords(500);

export interface ToolTexts {
  readonly look?: () => string;
  readonly onRefund?: (id: string, key: string) => void;
}

export function benchTools({ look = () => toolText, onRefund }: ToolTexts = {}) {
  return {
    look: defineTool({ description: 'Looks.', effect: 'none', inputSchema: z.object({ turn: z.number() }), execute: look }),
    refund: defineTool({
      description: 'Pays money back.',
      inputSchema: z.object({ id: z.string() }),
      effect: 'idempotent',
      execute: ({ id }, { idempotencyKey }) => {
        onRefund?.(id, idempotencyKey);
        return 'paid';
      },
    }),
  };
}

export function task(id: string, turns: number, end: 'done' | 'refund' = 'done'): string {
  return `${id} ${turns} ${end}`;
}

export function benchModels(say: () => string, beforeEnd: () => Promise<void> = () => Promise.resolve()) {
  const usage = { inputTokens: 100, outputTokens: 100 };
  const generate = async ({ messages }: GenerateRequest): Promise<GenerateAnswer> => {
    const [id = '', turns, end] = messages.slice(0, 1).map(textOf).join().split(' ');
    const turn = messages.flatMap(toolCallsOf).length;
    const text = { type: 'text' as const, text: say() };
    const call = { type: 'tool-call' as const, id: `call-${turn}` };
    if (turn < Number(turns)) return { parts: [text, { ...call, name: 'look', input: { turn } }], usage };
    if (turn === Number(turns) && end === 'refund') return { parts: [text, { ...call, name: 'refund', input: { id } }], usage };
    await beforeEnd();
    return { parts: [text], usage };
  };
  return { providers: { bench: { model: () => ({ generate }) } } };
}

/** Settles when all runs wait. */
export async function park(client: HoldfastClient, ids: readonly string[], turns = 0): Promise<void> {
  await inParallel(16, ids, async (id) => {
    const run = await client.start('careful', task(id, turns, 'refund'), { id });
    const { status } = await run.outcome();
    if (status !== 'waiting') throw new Error(`${id} is ${status}.`);
  });
}

export async function inParallel<Item>(atOnce: number, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export function countOf(bench: string, given: string): number {
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`The bench "${bench}" takes a number of runs, such as 50. It was given: ${given}.`);
  return count;
}

export function named(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, position) => `${name}-${position}`);
}
