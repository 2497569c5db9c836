import { setTimeout as delay } from 'node:timers/promises';
import { quietRuntime } from '../../worker/runtime';
import { randomWords } from './report/numbers';
import type { WorkerSettings } from './setup';
import { benchModels, benchTools, createWorker } from './setup';

const threads = process.getBuiltinModule('node:worker_threads');

/** Threads made from now on collect garbage when the channel asks. */
const collects = `{
  const channel = new (require('node:worker_threads').BroadcastChannel)('bench-gc');
  channel.onmessage = () => { for (let pass = 0; pass < 3; pass++) globalThis.gc(); };
  channel.unref();
}`;

async function main({ taskQueue, maxCachedRuns, holds = false, ...place }: WorkerSettings): Promise<void> {
  const tell = (...words: readonly [string, ...unknown[]]): void => void process.send?.(words);
  quietRuntime();
  const plain = threads.Worker;
  threads.Worker = class extends plain {
    constructor(code: string | URL, options?: ConstructorParameters<typeof plain>[1]) {
      super(options?.eval === true ? `${collects}\n${String(code)}` : code, options);
    }
  };
  const hold = (): Promise<void> => {
    tell('held');
    return new Promise(() => undefined);
  };
  await createWorker(place, taskQueue, {
    tools: benchTools({
      look: () => randomWords(500),
      onRefund: (id, key) => {
        tell('begun', id, key);
        tell(`begun ${id}`);
      },
    }),
    models: benchModels(() => 'Well.', holds ? hold : undefined),
    ...(maxCachedRuns === undefined ? {} : { maxCachedRuns }),
  });
  process.on('message', () => void memory().then((kilobytes) => tell('memory', kilobytes)));
  tell('ready');
}

async function memory(): Promise<number> {
  const channel = new threads.BroadcastChannel('bench-gc');
  channel.postMessage('collect');
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  await delay(1000);
  channel.close();
  return process.memoryUsage().rss / 1024;
}

main(JSON.parse(process.argv[2] ?? '{}') as WorkerSettings).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
