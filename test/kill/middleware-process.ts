/** A worker that serves the agents of `middleware-agents.ts`. With `hold` it stays in the second turn of each run until it is killed. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentCall } from '../../activities/call-context';
import { runIdOf } from '../../contract/plain/names';
import type { WorkflowBundle } from '../../worker/bundle';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { drainOnSigterm } from './drain';
import { answerOf, heldTurn, rowOf, turnOf } from './middleware-rows';
import { countWith, rowTools } from './middleware-tools';

export interface MiddlewareWorkerSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundles: string;
  readonly bundle: string;
  /** The file in which it is counted what has been done. */
  readonly counts: string;
  readonly hold?: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as MiddlewareWorkerSettings;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function count(what: string): number {
  appendFileSync(settings.counts, `${what}\n`);
  return readFileSync(settings.counts, 'utf8')
    .split('\n')
    .filter((line) => line === what).length;
}

async function main(): Promise<void> {
  quietRuntime();
  countWith(count);
  const worker = await HoldfastWorker.create({
    server: { address: settings.address, namespace: 'default' },
    agents: join(__dirname, 'middleware-agents.js'),
    bundle: existsSync(settings.bundle) ? (JSON.parse(readFileSync(settings.bundle, 'utf8')) as WorkflowBundle) : undefined,
    tools: rowTools,
    models: {
      providers: {
        test: {
          model: (name) => ({
            generate: async (request) => {
              const run = runIdOf(currentCall()?.workflowId ?? '');
              if (turnOf(request) === heldTurn && rowOf(name).other === undefined) {
                say(`in ${rowOf(name).row}`);
                if (settings.hold === true) await new Promise(() => undefined);
              }
              return answerOf(name, request, run, count);
            },
          }),
        },
      },
    },
    bundles: settings.bundles,
    taskQueue: settings.taskQueue,
    modelFacts: { heartbeatMs: 1500 },
    toolDefaults: { heartbeatMs: 1500 },
  });
  drainOnSigterm(() => worker.shutdown());
  say('ready');
  await worker.run();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
