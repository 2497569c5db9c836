import { defined } from '../../contract/defined';
import { join } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Project } from '../../service/project/load-project';
import { HoldfastWorker, type TakeOver } from '../../worker/create-worker';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { temporalLog } from './temporal-log';
import { reportStrayExceptions } from './stray-exceptions';

/** The worker serves at once, until `keepWorker` shuts it down. */
export function makeWorker(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  options: { readonly demo: boolean },
): Promise<HoldfastWorker> {
  const { project, logger, onProblem, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  const onLostTask = (): void => lifetime.fail(lostTask(), lostTaskMs);
  installRuntime(temporalLog(logger, onLostTask), 'DEBUG', 'WARN');
  return HoldfastWorker.create({
    server: server.settings,
    agents: project.agentsFile,
    ...ofProject(project, options.demo),
    taskQueue,
    bundles: join(configuration.directory, 'bundles'),
    onProblem,
    dataConverter,
    ...defined({ redisUrl: configuration.redisUrl, maxCachedRuns: configuration.maxCachedRuns }),
  });
}

/** The core also waits at its end for the lost task. */
const lostTaskMs = 30_000;

function lostTask(): HoldfastError {
  const text = "Temporal's core lost a task, and the run of the task waits for a new process.";
  return new HoldfastError('internal', `${text} Start the worker again, with a larger HOLDFAST_MAX_CACHED_RUNS.`);
}

export async function keepWorker(worker: HoldfastWorker, settings: ProcessSettings, lifetime: Lifetime): Promise<HoldfastWorker> {
  const { logger, onProblem } = settings;
  worker.run().catch((error: unknown) => lifetime.fail(error));
  const forgetStray = reportStrayExceptions(onProblem, (error) => lifetime.fail(error));
  await lifetime.onEnd('worker', async () => {
    await worker.shutdown().catch((error: unknown) => logger.debug(messageOf(error)));
    forgetStray();
  });
  return worker;
}

export function ofProject({ config }: Project, demo: boolean): Omit<TakeOver, 'bundle'> {
  const { tools = {}, outputs, policies, middleware, observers, models = {}, language } = config;
  // Only the service needs prices.
  const { prices: _, ...forWorker } = models;
  return { tools, models: { ...forWorker, ...(demo ? { demo } : {}) }, ...defined({ outputs, policies, middleware, observers, language }) };
}
