import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { defined } from '../contract/defined';
import type { TemporalSettings } from '../host/connection';
import { connectNative } from '../host/connection';

export interface ActivityQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** How many of them work at a time. */
  readonly most: number;
}

export interface ActivityQueuesOptions {
  readonly server: TemporalSettings;
  readonly dataConverter?: DataConverter | undefined;
  readonly queues: readonly ActivityQueue[];
  /** What works is given up after it, and made again elsewhere. */
  readonly graceMs?: number;
}

export interface ActivityQueues {
  /** Rejects when one has stopped that nobody stopped. */
  readonly stopped: Promise<void>;
  shutdown(): Promise<void>;
}

/** Serves task queues that have activities only: no code of agents is loaded for them. */
export async function serveActivities({ server, dataConverter, queues, graceMs = 1000 }: ActivityQueuesOptions): Promise<ActivityQueues> {
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
          ...defined({ dataConverter }),
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
