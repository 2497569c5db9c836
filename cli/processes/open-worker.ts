import { defined } from '../../contract/defined';
import { join } from 'node:path';
import type { DeltaSink } from '../../contract/deltas';
import { messageOf } from '../../contract/errors';
import type { Project } from '../../service/project/load-project';
import { HoldfastWorker, type TakeOver } from '../../worker/create-worker';
import { installRuntime } from '../../worker/runtime';
import { longestTool } from '../../worker/worker-parts';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { temporalLog } from './temporal-log';
import { reportStrayExceptions } from './stray-exceptions';

/** The worker serves at once, until `keepWorker` shuts it down. */
export function makeWorker(
  settings: ProcessSettings,
  server: OpenServer,
  options: { readonly demo: boolean; readonly deltas?: DeltaSink | undefined },
): Promise<HoldfastWorker> {
  const { project, logger, onProblem, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  installRuntime(temporalLog(logger), 'DEBUG', 'WARN');
  return HoldfastWorker.create({
    server: server.settings,
    agents: project.agentsFile,
    ...ofProject(project, options.demo),
    taskQueue,
    bundles: join(configuration.directory, 'bundles'),
    onProblem,
    dataConverter,
    ...defined({ redisUrl: configuration.redisUrl, maxCachedRuns: configuration.maxCachedRuns, deltas: options.deltas }),
  });
}

export async function keepWorker(worker: HoldfastWorker, settings: ProcessSettings, lifetime: Lifetime): Promise<HoldfastWorker> {
  const { logger, onProblem } = settings;
  // A failed worker may never drain, for example after a lost task: the limit ends the process.
  worker.run().catch((error: unknown) => lifetime.fail(error, longestTool(worker.parts) + 10_000));
  const forgetStray = reportStrayExceptions(onProblem, (error) => lifetime.fail(error));
  await lifetime.onEnd('worker', async () => {
    await worker.shutdown().catch((error: unknown) => logger.debug(messageOf(error)));
    forgetStray();
  });
  return worker;
}

export function ofProject({ config }: Project, demo: boolean): Omit<TakeOver, 'bundle'> {
  const { tools = {}, mcp, outputs, policies, middleware, observers, models = {}, language } = config;
  const { prices: _, ...forWorker } = models;
  return {
    tools,
    models: { ...forWorker, ...(demo ? { demo } : {}) },
    ...defined({ mcp, outputs, policies, middleware, observers, language }),
  };
}
