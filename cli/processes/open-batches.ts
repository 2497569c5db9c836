import { batchQueueOf } from '../../contract/batches';
import { limits } from '../../contract/limits';
import type { BatchServing } from '../../service/batches/activities';
import { batchActivities } from '../../service/batches/activities';
import { serveActivities } from '../../worker/activity-queue';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { temporalLog } from './temporal-log';

/** Lets the service start the runs of batches. */
export async function openBatches(settings: ProcessSettings, server: OpenServer, lifetime: Lifetime, serving: BatchServing): Promise<void> {
  const { logger, taskQueue } = settings;
  installRuntime(temporalLog(logger), 'DEBUG', 'WARN');
  const queues = await serveActivities({
    server: server.settings,
    dataConverter: server.dataConverter,
    queues: [{ taskQueue: batchQueueOf(taskQueue), activities: batchActivities(serving), most: limits.batches }],
    heartbeatsEveryMs: 500,
  });
  queues.stopped.catch((error: unknown) => lifetime.fail(error));
  await lifetime.onEnd('batches', () => queues.shutdown());
}
