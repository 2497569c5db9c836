import { defined } from '../../contract/defined';
import { join } from 'node:path';
import { messageOf } from '../../contract/errors';
import { connectTemporal } from '../../host/connection';
import type { Project } from '../../service/project/load-project';
import type { TakeOver } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { retryCallsOf } from '../../worker/predecessors';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { temporalLog } from './temporal-log';
import { reportStrayExceptions } from './stray-exceptions';

export async function openWorker(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  options: { readonly demo: boolean; readonly dead?: readonly number[] },
): Promise<HoldfastWorker> {
  const { project, logger, onProblem, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  installRuntime(temporalLog(logger), 'DEBUG', 'WARN');
  const worker = await HoldfastWorker.create({
    server: server.settings,
    agents: project.agentsFile,
    ...ofProject(project, options.demo),
    taskQueue,
    bundles: join(configuration.directory, 'bundles'),
    idleRunMs: configuration.idleSeconds * 1000,
    onProblem,
    dataConverter,
    ...defined({ redisUrl: configuration.redisUrl }),
  });
  worker.run().catch((error: unknown) => lifetime.fail(error));
  if (server.embedded) void retryCalls(options.dead ?? [], settings, server);
  const forgetStray = reportStrayExceptions(onProblem, (error) => lifetime.fail(error));
  await lifetime.onEnd('worker', async () => {
    await worker.shutdown().catch((error: unknown) => logger.debug(messageOf(error)));
    forgetStray();
  });
  return worker;
}

/** What of a project its worker works with. */
export function ofProject({ config }: Project, demo: boolean): Omit<TakeOver, 'bundle'> {
  const { tools = {}, outputs, policies, middleware, observers, models = {}, language } = config;
  // What tokens cost is for the service.
  const { prices: _, ...forWorker } = models;
  return { tools, models: { ...forWorker, ...(demo ? { demo } : {}) }, ...defined({ outputs, policies, middleware, observers, language }) };
}

/** What processes before this one had at work when they were killed. Without this it is made again as well, when the server misses their heartbeats. */
async function retryCalls(dead: readonly number[], { logger, taskQueue }: ProcessSettings, server: OpenServer): Promise<void> {
  if (dead.length === 0) return;
  try {
    const { connection, close } = await connectTemporal(server.settings);
    try {
      const retried = await retryCallsOf(dead, { connection, namespace: server.settings.namespace, taskQueue });
      if (retried > 0) logger.info(`Made again, of a process that was killed: ${retried} call${retried === 1 ? '' : 's'}.`);
    } finally {
      await close();
    }
  } catch (error) {
    logger.debug(`Calls of a process that was killed wait for the server to notice: ${messageOf(error)}`);
  }
}
