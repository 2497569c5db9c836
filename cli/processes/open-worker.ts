import { join } from 'node:path';
import type { ModelsOptions } from '../../activities/models';
import { messageOf, errorTable } from '../../contract/plain/errors';
import { HoldfastWorker } from '../../worker/create-worker';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';

export async function openWorker(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  options: { readonly demo: boolean },
): Promise<HoldfastWorker> {
  const { project, logger, taskQueue, configuration } = settings;
  const { tools = {}, outputs, middleware, models, language } = project.config;
  const { dataConverter } = server;
  const debugging = configuration.logLevel === 'debug' || configuration.logLevel === 'trace';
  installRuntime((level, message, meta) => logger.log(level, message, { ...meta }), debugging ? 'INFO' : 'WARN');
  const worker = await HoldfastWorker.create({
    server: server.settings,
    agents: project.agentsFile,
    tools,
    models: { ...models, ...(options.demo ? { demo: true } : {}) } satisfies ModelsOptions,
    taskQueue,
    bundles: join(configuration.directory, 'bundles'),
    onProblem: (problem) => logger.error(problem.message, { code: problem.code, fix: errorTable[problem.code].fix }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(middleware === undefined ? {} : { middleware }),
    ...(language === undefined ? {} : { language }),
    ...(dataConverter === undefined ? {} : { dataConverter }),
  });
  worker.run().catch((error: unknown) => lifetime.fail(error));
  await lifetime.onEnd('worker', () => worker.shutdown().catch((error: unknown) => logger.debug(messageOf(error))));
  return worker;
}
