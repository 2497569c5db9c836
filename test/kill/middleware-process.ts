/** A worker for `middleware-agents.ts` that starts at a line on stdin. With `hold`, stays in every run's second turn until the kill. */
import { appendFileSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { currentCall } from '../../activities/calls/call-context';
import { runIdOf } from '../../contract/names';
import { reductionOnWorker } from '../../worker/index';
import { answerOf, heldIn } from './middleware-rows';
import { rowTools, stored, toolsWork } from './middleware-tools';
import { drainOnSigterm, runMain, say, workerWith } from './program';
import type { ProgramSettings } from './program-settings';

export interface MiddlewareWorkerSettings extends ProgramSettings {
  readonly counts: string;
  readonly folder: string;
  readonly hold?: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as MiddlewareWorkerSettings;

function count(what: string): number {
  appendFileSync(settings.counts, `${what}\n`);
  return readFileSync(settings.counts, 'utf8')
    .split('\n')
    .filter((line) => line === what).length;
}

async function hold(where: string): Promise<void> {
  say(`in ${where}`);
  if (settings.hold === true) await new Promise(() => undefined);
}

async function main(): Promise<void> {
  toolsWork({ count, folder: settings.folder, hold });
  await once(process.stdin, 'data');
  const worker = await workerWith(settings, {
    tools: rowTools,
    middleware: [reductionOnWorker({ backend: stored })],
    models: {
      providers: {
        test: {
          model: (name) => ({
            generate: async (request) => {
              const held = heldIn(name, request);
              if (held !== undefined) await hold(held);
              return answerOf(name, request, runIdOf(currentCall()?.workflowId ?? ''), count);
            },
          }),
        },
      },
    },
    modelFacts: { heartbeatMs: 5000 },
    toolDefaults: { heartbeatMs: 5000 },
  });
  drainOnSigterm(() => worker.shutdown());
  say('ready');
  await worker.run();
}

runMain(main);
