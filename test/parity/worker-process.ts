/** A worker for the scripts' agents. Reports calls to the process with the plays. */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../contract/defined';
import type { TemporalSettings } from '../../host/connection';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { agentsPath, workerParts } from './bed';
import { tellElsewhere } from './plays';
import type { Heard, WorkerProcessSettings } from './killed-worker';
import { Random } from './random';
import type { Said } from './script';

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerProcessSettings & { server: TemporalSettings };
const { server, bundle, bundles, taskQueue, maxCachedRuns, paceMs = 0 } = settings;
const waiting = new Map<number, { resolve(said: Said | undefined): void; reject(error: Error): void }>();
let asked = 0;

tellElsewhere(async (call, line) => {
  const pace = new Random(`${call.workflowId} ${call.activityId}`);
  if (paceMs > 0) await setTimeout(pace.below(paceMs));
  const said = await new Promise<Said | undefined>((resolve, reject) => {
    const id = asked++;
    waiting.set(id, { resolve, reject });
    process.send?.({ id, call, line });
  });
  if (paceMs > 0) await setTimeout(pace.below(paceMs));
  return said;
});

process.on('message', ({ id, said, problem }: Heard) => {
  const one = waiting.get(id);
  waiting.delete(id);
  if (problem === undefined) one?.resolve(said);
  else one?.reject(Object.assign(new Error(problem), { isRetryable: false }));
});
process.on('disconnect', () => process.exit(0));

async function main(): Promise<void> {
  quietRuntime();
  const worker = await HoldfastWorker.create({
    ...workerParts,
    ...defined({ maxCachedRuns }),
    server,
    agents: agentsPath,
    bundle: JSON.parse(readFileSync(bundle, 'utf8')) as WorkflowBundle,
    bundles,
    taskQueue,
    // A lost worker's task moves to the next worker soon.
    stickyTimeoutMs: 3000,
    modelFacts: { heartbeatMs: 3000 },
    toolDefaults: { heartbeatMs: 3000 },
  });
  process.send?.('ready');
  await worker.run();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
