import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import type { WorkerOptions } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import type { ProgramSettings } from './program-settings';

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Short heartbeats, so that the server notices a kill soon. */
export function workerWith(
  settings: ProgramSettings,
  options: Partial<WorkerOptions> & Pick<WorkerOptions, 'tools'>,
): Promise<HoldfastWorker> {
  quietRuntime();
  return HoldfastWorker.create({
    server: { address: settings.address, namespace: 'default' },
    agents: join(__dirname, '..', 'fixtures', 'agents.js'),
    bundle: JSON.parse(readFileSync(settings.bundle, 'utf8')) as WorkflowBundle,
    bundles: settings.bundles,
    taskQueue: settings.taskQueue,
    modelFacts: { heartbeatMs: 1500 },
    toolDefaults: { heartbeatMs: 1500 },
    ...options,
  });
}

/** On SIGTERM, finishes open work, as at a deploy. */
export function drainOnSigterm(stop: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
