import { join } from 'node:path';
import { z } from 'zod';
import type { GenerateAnswer, GenerateRequest } from '../activities/models/models';
import { defineTool } from '../activities/tools/tools';
import { toolCallsOf } from '../contract/messages/messages';
import { HoldfastWorker } from '../worker/create-worker';
import { quietRuntime } from '../worker/runtime';
import { benchTools } from './setup';

export interface ParkedSettings {
  readonly address: string;
  readonly directory: string;
  readonly taskQueue: string;
  readonly maxCachedRuns: number;
}

export type ParkedReport =
  | { readonly ready: true }
  /** The tool that the answer allowed begins. */
  | { readonly begun: string }
  | { readonly memory: ParkedMemory };

export interface ParkedMemory {
  readonly rssKb: number;
  readonly mainHeapKb: number;
  readonly threadHeapKb: number;
  /** Runs in the memory of the worker. */
  readonly cached: number;
}

const threads = process.getBuiltinModule('node:worker_threads');

/** Threads that are made from here on say how large their heap is after a collection, when somebody asks in the channel. */
const listener = `{
  const { BroadcastChannel } = require('node:worker_threads');
  const channel = new BroadcastChannel('bench-heap');
  channel.onmessage = ({ data }) => {
    if (data !== 'ask') return;
    for (let pass = 0; pass < 3; pass++) globalThis.gc();
    channel.postMessage(require('node:v8').getHeapStatistics().used_heap_size);
  };
  channel.unref();
}`;

/** The input says after how many quick turns the run asks for its refund: `ORDER TURNS`. */
function generate({ messages }: GenerateRequest): Promise<GenerateAnswer> {
  const [first] = messages[0]?.parts ?? [];
  const [orderId, turns] = (first as { text: string }).text.split(' ');
  const made = messages.flatMap(toolCallsOf).length;
  const call = made < Number(turns) ? { name: 'words', input: { n: made } } : { name: 'refund', input: { orderId, amount: 1 } };
  return Promise.resolve({
    parts: made > Number(turns) ? [{ type: 'text', text: 'Done.' }] : [{ type: 'tool-call', id: `call-${made}`, ...call }],
    usage: { inputTokens: 1, outputTokens: 1 },
  });
}

/** A worker process of the bench `parked`. */
async function main({ address, directory, taskQueue, maxCachedRuns }: ParkedSettings): Promise<void> {
  const tell = (report: ParkedReport): void => void process.send?.(report);
  quietRuntime();
  const plain = threads.Worker;
  threads.Worker = class extends plain {
    constructor(code: string | URL, options?: ConstructorParameters<typeof plain>[1]) {
      super(options?.eval === true ? `${listener}\n${String(code)}` : code, options);
    }
  };
  const refund = defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    execute: ({ orderId }) => {
      tell({ begun: orderId });
      return 'paid';
    },
  });
  const worker = await HoldfastWorker.create({
    server: { address, namespace: 'default' },
    agents: join(__dirname, 'agents.js'),
    tools: { ...benchTools, refund },
    models: { providers: { bench: { model: () => ({ generate }) } } },
    bundles: join(directory, 'bundles'),
    taskQueue,
    maxCachedRuns,
  });
  process.on('message', () => {
    void memoryOf(worker).then((memory) => tell({ memory }));
  });
  tell({ ready: true });
}

async function memoryOf(worker: HoldfastWorker): Promise<ParkedMemory> {
  const channel = new threads.BroadcastChannel('bench-heap');
  const threadHeap = await new Promise<number>((resolve) => {
    channel.onmessage = (event) => resolve((event as { readonly data: number }).data);
    channel.postMessage('ask');
  });
  channel.close();
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssKb: rss / 1024, mainHeapKb: (heapUsed + external) / 1024, threadHeapKb: threadHeap / 1024, cached: worker.cachedRuns };
}

main(JSON.parse(process.argv[2] ?? '{}') as ParkedSettings).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
