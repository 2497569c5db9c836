import { defined } from '../../contract/defined';
import { join } from 'node:path';
import type { ModelsOptions } from '../../activities/models/models';
import type { HoldfastError } from '../../contract/errors';
import { messageOf, errorTable } from '../../contract/errors';
import { connectTemporal } from '../../host/connection';
import { HoldfastWorker } from '../../worker/create-worker';
import { retryCallsOf } from '../../worker/predecessors';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { reportStrayExceptions } from './stray-exceptions';

export async function openWorker(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  options: { readonly demo: boolean; readonly dead?: readonly number[] },
): Promise<HoldfastWorker> {
  const { project, logger, taskQueue, configuration } = settings;
  const { tools = {}, outputs, middleware, observers, models = {}, language } = project.config;
  // What tokens cost is for the service.
  const { prices: _, ...forWorker } = models;
  const { dataConverter } = server;
  const debugging = configuration.logLevel === 'debug' || configuration.logLevel === 'trace';
  installRuntime((level, message, meta) => logger.log(level, message, { ...meta }), debugging ? 'INFO' : 'WARN');
  const onProblem = (problem: HoldfastError): void =>
    logger.error(problem.message, { code: problem.code, fix: errorTable[problem.code].fix });
  const worker = await HoldfastWorker.create({
    server: server.settings,
    agents: project.agentsFile,
    tools,
    models: { ...forWorker, ...(options.demo ? { demo: true } : {}) } satisfies ModelsOptions,
    taskQueue,
    bundles: join(configuration.directory, 'bundles'),
    onProblem,
    dataConverter,
    ...defined({ outputs, middleware, observers, language, redisUrl: configuration.redisUrl }),
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

/** What processes before this one had at work when they were killed. Without this it is made again as well, when the server misses their heartbeats. */
async function retryCalls(dead: readonly number[], { logger, taskQueue }: ProcessSettings, server: OpenServer): Promise<void> {
  if (dead.length === 0) return;
  try {
    const { connection, close } = await connectTemporal(server.settings);
    try {
      const retried = await retryCallsOf(dead, { connection, namespace: server.settings.namespace, taskQueue });
      if (retried > 0) logger.info(`${retried} calls of a process that was killed are made again.`);
    } finally {
      await close();
    }
  } catch (error) {
    logger.debug(`Calls of a process that was killed wait for the server to notice: ${messageOf(error)}`);
  }
}
