import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { LanguageModel } from '../../activities/models/language-model';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import type { WorkerOptions } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import type { ChaosSettings } from './chaos-bed';

/** Works on the task queue of each line `serve QUEUE PLACE` on stdin, and prints `ready QUEUE` when polling. */
export function serveOnRequest(serve: (settings: ChaosSettings, taskQueue: string, place: string) => Promise<HoldfastWorker>): void {
  const settings = JSON.parse(process.argv[2] ?? '{}') as ChaosSettings;
  quietRuntime();
  let serving: Promise<HoldfastWorker | undefined> = Promise.resolve(undefined);
  createInterface(process.stdin).on('line', (line) => {
    const [, queue = '', place = ''] = line.split(' ');
    serving = serving.then(async (before) => {
      await before?.shutdown();
      const worker = await serve(settings, queue, place);
      void worker.run().catch(fail);
      process.stdout.write(`ready ${queue}\n`);
      return worker;
    });
    serving.catch(fail);
  });
}

export function chaosWorker(
  settings: ChaosSettings,
  taskQueue: string,
  tools: WorkerOptions['tools'],
  generate: LanguageModel['generate'],
): Promise<HoldfastWorker> {
  return HoldfastWorker.create({
    server: settings.server,
    agents: settings.agents,
    bundle: JSON.parse(readFileSync(settings.bundle, 'utf8')) as WorkflowBundle,
    tools,
    models: { names: { default: ['test/model'] }, providers: { test: { model: () => ({ generate }) } } },
    bundles: settings.bundles,
    taskQueue,
    modelFacts: { heartbeatMs: 1500 },
    toolDefaults: { heartbeatMs: 1500 },
    shutdownGraceMs: 0,
  });
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
