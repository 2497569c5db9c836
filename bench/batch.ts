import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ModelsOptions } from '../activities/models/models';
import type { BenchBed } from './setup';
import { rounded, startBed, startServer } from './setup';

const runs = 200;
const atOnce = 5;
const callMs = 1000;

interface Seen {
  readonly requests: number;
  readonly refused: number;
  readonly first: number;
  readonly last: number;
}

/** A batch of runs on a provider that takes five requests at a time: with that limit configured, and without. */
export async function benchBatch(): Promise<object> {
  const bench = await startServer();
  try {
    const limited = await batch(bench, 'batch-limited', { limits: { '*': { concurrent: atOnce } } });
    const unlimited = await batch(bench, 'batch-unlimited', {});
    return { runs, atOnce, callMs, limited, unlimited };
  } finally {
    await bench.close();
  }
}

async function batch(bench: BenchBed, taskQueue: string, models: ModelsOptions): Promise<object> {
  const provider = fork(join(__dirname, 'limited-provider.js'), [String(atOnce), String(callMs)]);
  const { url } = await said<{ readonly url: string }>(provider);
  const environment = { OPENAI_COMPATIBLE_API_KEY: 'sk-bench', OPENAI_COMPATIBLE_BASE_URL: url };
  const { client, close } = await startBed(bench, taskQueue, { models, environment });
  const started = await Promise.all(
    Array.from({ length: runs }, (_, n) => client.start('worker', `Work ${n}.`, { model: 'openai-compatible/any', stream: false })),
  );
  const ends = await Promise.all(started.map(async (run) => (await run.outcome()).status));
  const seen = said<Seen>(provider);
  provider.send('report');
  const { first, last, requests, refused } = await seen;
  provider.kill();
  await close();
  const necessaryMs = (runs / atOnce) * callMs;
  return {
    completed: ends.filter((status) => status === 'completed').length,
    requests,
    refused,
    tookMs: last - first,
    timesNecessary: rounded((last - first) / necessaryMs),
  };
}

async function said<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, 'message')) as [T];
  return message;
}
