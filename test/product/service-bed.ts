import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunEvent } from '../../contract/events';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { TemporalSettings } from '../../host/connection';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { createLogger } from '../../host/logger';
import type { RunningService, ServiceOptions } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { Project } from '../../service/project/load-project';
import { loadProject } from '../../service/project/load-project';
import { HoldfastWorker } from '../../worker/create-worker';
import { isOurs, madeBundle } from '../support/made-bundle';
import { quietRuntime } from '../../worker/runtime';

export const exampleConfig = resolve(__dirname, '..', '..', 'examples', 'support', 'holdfast.config.ts');
export const quietLogger = createLogger({ level: 'silent' });

export interface ServiceBed {
  readonly url: string;
  readonly client: HoldfastClient;
  readonly project: Project;
  readonly service: RunningService;
  /** Where its Temporal server is. */
  readonly settings: TemporalSettings;
  /** Another service beside the first, on the same runs. */
  another(options?: Partial<ServiceOptions>): Promise<RunningService>;
  /** A worker with another agents module beside the first, and so a newer build. */
  deploy(agents: string): Promise<HoldfastWorker>;
  /** Stops all of them. */
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

/** A server of its own, the example project with the demo model, and its service on a free port. */
export async function startServiceBed(): Promise<ServiceBed> {
  quietRuntime();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-service-'));
  const [server, project] = await Promise.all([startEmbeddedServer({ directory }), loadProject(exampleConfig)]);
  const settings: TemporalSettings = { address: server.address, namespace: server.namespace };
  const workers: HoldfastWorker[] = [];
  const deploy = async (agents: string): Promise<HoldfastWorker> => {
    const worker = await HoldfastWorker.create({
      server: settings,
      agents,
      ...(isOurs(agents) ? { bundle: await madeBundle(agents) } : {}),
      tools: project.config.tools ?? {},
      models: { demo: true },
      bundles: join(directory, 'bundles'),
      environment: {},
      shutdownGraceMs: 1000,
    });
    workers.push(worker);
    return worker;
  };
  await deploy(project.agentsFile);
  const client = await connect({ server: settings });
  const another = (options: Partial<ServiceOptions> = {}): Promise<RunningService> =>
    startService({ client, agents: project.agents, logger: quietLogger, host: '127.0.0.1', port: 0, ...options });
  const service = await another();
  const stopWorkers = async (): Promise<void> => void (await Promise.all(workers.map((worker) => worker.shutdown())));
  return {
    url: service.url,
    client,
    project,
    service,
    settings,
    another,
    deploy,
    stopWorkers,
    async close() {
      await service.close();
      await client.close();
      await stopWorkers();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Asks again until the answer is there: the lists of the server come a moment after what they list. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export interface StreamedEvents {
  readonly ids: readonly string[];
  readonly types: readonly string[];
  readonly events: readonly RunEvent[];
}

export function asStreamed(
  frames: readonly { readonly id?: string | undefined; readonly event?: string | undefined; readonly data: string }[],
): StreamedEvents {
  return {
    ids: frames.map(({ id }) => id ?? ''),
    types: frames.map(({ event }) => event ?? ''),
    events: frames.map(({ data }) => JSON.parse(data) as RunEvent),
  };
}
