import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { defined } from '../contract/defined';
import type { TemporalSettings } from '../host/connection';
import { connectNative } from '../host/connection';

interface ActivityQueuesOptions {
  readonly server: TemporalSettings;
  readonly dataConverter?: DataConverter | undefined;
  /** At most `most` activities of a queue run at a time. */
  readonly queues: readonly { readonly taskQueue: string; readonly activities: object; readonly most: number }[];
  readonly graceMs?: number;
  /** The server tells with a heartbeat that an activity is cancelled. Default: after 80 % of the timeout. */
  readonly heartbeatsEveryMs?: number;
}

export interface ActivityQueues {
  /** Rejects if a worker stops without a shutdown. */
  readonly stopped: Promise<void>;
  shutdown(): Promise<void>;
}

export async function serveActivities({
  server,
  dataConverter,
  queues,
  graceMs = 1000,
  heartbeatsEveryMs,
}: ActivityQueuesOptions): Promise<ActivityQueues> {
  const connection = await connectNative(server, NativeConnection);
  try {
    const workers = await Promise.all(
      queues.map(({ taskQueue, activities, most }) =>
        Worker.create({
          connection,
          namespace: server.namespace,
          taskQueue,
          activities,
          maxConcurrentActivityTaskExecutions: most,
          shutdownGraceTime: graceMs,
          shutdownForceTime: graceMs * 5,
          ...defined({ dataConverter, maxHeartbeatThrottleInterval: heartbeatsEveryMs }),
        }),
      ),
    );
    const stopped = Promise.all(workers.map((worker) => worker.run()))
      .then(() => undefined)
      .finally(() => connection.close());
    stopped.catch(() => undefined);
    return {
      stopped,
      async shutdown() {
        for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
        await stopped;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
