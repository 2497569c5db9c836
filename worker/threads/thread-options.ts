import type { WorkerOptions } from 'node:worker_threads';

/** Without flags and NODE_OPTIONS, thus without preloaded modules; Yarn's Plug'n'Play is one that finds the SDK. */
export function optionsOfThread(): WorkerOptions {
  return process.versions['pnp'] === undefined ? { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } } : {};
}
