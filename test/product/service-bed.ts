import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { TemporalSettings } from '../../host/connection';
import { createLogger } from '../../host/logger';
import type { RunningService, ServiceOptions } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { Project } from '../../service/project/load-project';
import { loadProject } from '../../service/project/load-project';
import { HoldfastWorker } from '../../worker/create-worker';
import { isOurs, madeBundle } from '../support/made-bundle';
import { testServer } from '../support/test-bed';
import { quietRuntime } from '../../worker/runtime';

export const exampleConfig = resolve(__dirname, '..', '..', 'examples', 'support', 'holdfast.config.ts');
export const quietLogger = createLogger({ level: 'silent' });

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Body = any;

export interface Answered {
  readonly status: number;
  readonly body: Body;
}

export interface ServiceBed {
  readonly url: string;
  readonly client: HoldfastClient;
  readonly project: Project;
  readonly service: RunningService;
  readonly settings: TemporalSettings;
  /** Own tenant, because lists, counts and usage show a tenant's runs. */
  readonly tenant: string;
  /** Own task queue, because builds belong to a task queue. */
  readonly taskQueue: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  another(options?: Partial<ServiceOptions>): Promise<RunningService>;
  deploy(agents: string): Promise<HoldfastWorker>;
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export async function startServiceBed(): Promise<ServiceBed> {
  quietRuntime();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-service-'));
  const project = await loadProject(exampleConfig);
  const settings = testServer();
  const tenant = `tenant-${randomUUID()}`;
  const taskQueue = `queue-${randomUUID()}`;
  const workers: HoldfastWorker[] = [];
  const deploy = async (agents: string): Promise<HoldfastWorker> => {
    const worker = await HoldfastWorker.create({
      server: settings,
      agents,
      ...(isOurs(agents) ? { bundle: await madeBundle(agents) } : {}),
      tools: project.config.tools ?? {},
      models: { demo: true },
      bundles: join(directory, 'bundles'),
      taskQueue,
      environment: {},
      shutdownGraceMs: 1000,
    });
    workers.push(worker);
    return worker;
  };
  await deploy(project.agentsFile);
  const client = await connect({ server: settings, tenant, taskQueue });
  const another = (options: Partial<ServiceOptions> = {}): Promise<RunningService> =>
    startService({ client, agents: project.agents, logger: quietLogger, host: '127.0.0.1', port: 0, ...options });
  const service = await another();
  const ask = async (path: string, request: RequestInit): Promise<Answered> => {
    const response = await fetch(`${service.url}${path}`, request);
    return { status: response.status, body: await response.json() };
  };
  const stopWorkers = async (): Promise<void> => void (await Promise.all(workers.map((worker) => worker.shutdown())));
  return {
    url: service.url,
    client,
    project,
    service,
    settings,
    tenant,
    taskQueue,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = { 'content-type': 'application/json' }) =>
      ask(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    another,
    deploy,
    stopWorkers,
    async close() {
      await service.close();
      await client.close();
      await stopWorkers();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
