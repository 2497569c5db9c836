import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerateAnswer } from '../activities/models/models';
import { defineTool } from '../activities/tools/tools';
import type { Message } from '../contract/messages/messages';
import { toolCallsOf } from '../contract/messages/messages';
import type { HoldfastClient } from '../client/connect';
import { connect } from '../client/connect';
import type { TemporalSettings } from '../host/connection';
import { startEmbeddedServer } from '../host/server/embedded-server';
import { DirectoryDriver, snapshotStorage } from '../host/snapshot-storage';
import type { WorkerOptions } from '../worker/create-worker';
import { HoldfastWorker } from '../worker/create-worker';
import { quietRuntime } from '../worker/runtime';
import { z } from 'zod';
import { randomWords } from './load/words';

export { median, percentile, rounded } from './report/numbers';
export { randomWords };

export interface BenchBed {
  readonly server: TemporalSettings;
  readonly directory: string;
  /** The process of the server. */
  readonly serverId: number;
  readonly databaseFile: string;
  close(): Promise<void>;
}

/** A server of its own, set up as `npm start` does, with its database in a temporary directory. */
export async function startServer(): Promise<BenchBed> {
  quietRuntime();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const server = await startEmbeddedServer({ directory, onProgress: (text) => console.error(text) });
  return {
    server: { address: server.address, namespace: server.namespace },
    directory,
    serverId: server.pid,
    databaseFile: server.database,
    async close() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface Bed {
  readonly worker: HoldfastWorker;
  readonly client: HoldfastClient;
  close(): Promise<void>;
}

/** A worker with the bench agents, and a client, which write as those of `holdfast dev` do. */
export async function startBed({ server, directory }: BenchBed, taskQueue: string, options: Partial<WorkerOptions> = {}): Promise<Bed> {
  const dataConverter = snapshotStorage(new DirectoryDriver(join(directory, 'snapshots')));
  const worker = await HoldfastWorker.create({
    server,
    agents: join(__dirname, 'agents.js'),
    tools: benchTools,
    bundles: join(directory, 'bundles'),
    taskQueue,
    dataConverter,
    compress: true,
    ...options,
  });
  const { compress = true } = options;
  const client = await connect({ server, taskQueue, dataConverter, compress });
  return {
    worker,
    client,
    async close() {
      await client.close();
      await worker.shutdown();
    },
  };
}

export const toolText = randomWords(500);

export const benchTools = {
  look: defineTool({
    description: 'Looks something up.',
    effect: 'none',
    inputSchema: z.object({ n: z.number() }),
    execute: () => toolText,
  }),
  words: defineTool({
    description: 'New words.',
    effect: 'none',
    inputSchema: z.object({ n: z.number() }),
    execute: () => randomWords(1500),
  }),
  refund: defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    effect: 'idempotent',
    execute: ({ amount }) => ({ paid: amount }),
  }),
};

/** A model that calls a tool for a number of turns and then answers. */
export function turnModel(turns: number, tool: 'look' | 'words', say: (model: string) => string): NonNullable<WorkerOptions['models']> {
  return {
    providers: {
      bench: {
        model: (name) => ({
          generate: ({ messages }): Promise<GenerateAnswer> => {
            if (name === 'summary')
              return Promise.resolve({ parts: [{ type: 'text', text: say(name) }], usage: { inputTokens: 100, outputTokens: 100 } });
            const turn = turnsOf(messages);
            const text = { type: 'text' as const, text: say(name) };
            const call = { type: 'tool-call' as const, id: `call-${turn}`, name: tool, input: { n: turn } };
            return Promise.resolve({ parts: turn < turns ? [text, call] : [text], usage: { inputTokens: 100, outputTokens: 100 } });
          },
        }),
      },
    },
  };
}

/** Counted by the last call, as a run may have lost the earlier ones. */
function turnsOf(messages: readonly Message[]): number {
  const last = messages.flatMap(toolCallsOf).at(-1);
  return last === undefined ? 0 : Number(last.id.slice('call-'.length)) + 1;
}
