import { unsubscribe, subscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { callsAtWork } from '../../activities/health/calls-at-work';
import type { LogFormat, LogLevel } from '../../host/logger';

/** What the thread is started with. */
export interface StuckWatchSettings {
  /** Counted up by the process as long as its loop comes round. */
  readonly ticks: SharedArrayBuffer;
  readonly pid: number;
  readonly level: LogLevel;
  readonly format: LogFormat;
}

const tickMs = 500;

/**
 * Sees from a thread of its own that the loop of this process does not come round any more: code that never waits lets nothing else run, neither the
 * handlers of signals nor what else would tell of it. Returns what ends the watch.
 */
export function watchForStuck(settings: Pick<StuckWatchSettings, 'level' | 'format'>): () => Promise<void> {
  const ticks = new SharedArrayBuffer(4);
  const counter = new Int32Array(ticks);
  const thread = new Worker(join(__dirname, 'stuck-thread.js'), {
    workerData: { ...settings, ticks, pid: process.pid } satisfies StuckWatchSettings,
  });
  // Without it all is as before.
  thread.on('error', () => undefined);
  thread.unref();
  const tick = setInterval(() => Atomics.add(counter, 0, 1), tickMs);
  tick.unref();
  const tell = (call: unknown): void => thread.postMessage(call);
  subscribe(callsAtWork.name, tell);
  return async () => {
    unsubscribe(callsAtWork.name, tell);
    clearInterval(tick);
    await thread.terminate();
  };
}
