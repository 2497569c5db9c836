import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { batchQueueOf } from '../../contract/batches';
import type { ConfiguredSchedule } from '../../contract/schedules';
import { createLogger } from '../../host/logger';
import { ServiceClient } from '../../client/http/index';
import { batchActivities } from '../../service/batches/activities';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { ServiceStore } from '../../service/store/store';
import type { ActivityQueues } from '../../worker/activity-queue';
import { serveActivities } from '../../worker/activity-queue';
import { memoryStore } from './memory-store';
import type { Answerer } from './test-bed';
import { startTestBed, testServer } from './test-bed';

export interface BatchBed {
  readonly service: ServiceClient;
  readonly client: HoldfastClient;
  readonly store: ServiceStore;
  readonly taskQueue: string;
  /** The schedules of the configuration. */
  readonly schedules: Record<string, ConfiguredSchedule>;
  /** Serves the queue of batches, as another service would. */
  serve(): Promise<ActivityQueues>;
  /** The address of a service that takes the tenant of ada from the header x-tenant. */
  withAccess(): Promise<string>;
  close(): Promise<void>;
}

const named = (name: string) => ({ name, description: 'Under test.', takesJob: false });

/** A worker, a service over HTTP and its store. */
export async function startBatchBed(answer: Answerer): Promise<BatchBed> {
  const bed = await startTestBed(answer);
  const server = testServer();
  const store = memoryStore();
  const logger = createLogger({ level: 'silent' });
  const client = await connect({ server, taskQueue: bed.taskQueue });
  const agents = ['plain', 'guarded'].map(named);
  const parts = { client, agents, logger, store, host: '127.0.0.1', port: 0 };
  const service = await startService(parts);
  const others: RunningService[] = [];
  const schedules: Record<string, ConfiguredSchedule> = {};
  return {
    service: new ServiceClient(service.url),
    client,
    store,
    taskQueue: bed.taskQueue,
    schedules,
    serve: () =>
      serveActivities({
        server,
        queues: [
          {
            taskQueue: batchQueueOf(bed.taskQueue),
            activities: batchActivities({ client, store, agents, schedules: () => schedules }),
            most: 5,
          },
        ],
        graceMs: 100,
        heartbeatsEveryMs: 500,
      }),
    async withAccess() {
      const identify = ({ headers }: Request) => ({ tenant: headers.get('x-tenant') ?? 'acme', user: 'ada', roles: ['operator'] });
      const other = await startService({ ...parts, access: { identify } });
      others.push(other);
      return other.url;
    },
    async close() {
      for (const one of [service, ...others]) await one.close();
      await client.close();
      await bed.close();
    },
  };
}
