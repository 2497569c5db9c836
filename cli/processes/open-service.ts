import { HoldfastError, codeOf } from '../../contract/errors';
import { checkPortFree } from '../../host/server/free-port';
import { connect } from '../../client/connect';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { Project } from '../../service/project/load-project';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { otherAgentsOn, processAt, recordService } from './service-record';

/** Before a server is started for it in vain: whether the service can listen. */
export async function checkPort({ host, port, configuration: { directory } }: ProcessSettings): Promise<void> {
  try {
    await checkPortFree(port, host);
  } catch (error) {
    const own = codeOf(error) === 'port-in-use' ? processAt(directory, port) : undefined;
    if (own === undefined) throw error;
    throw new HoldfastError('port-in-use', `The port ${port} is taken by the process ${own}: the service of ${directory} already runs.`);
  }
}

/** Two workers with different agents on one queue take each other's runs. */
export function checkQueue({ configuration, project: { agentsFile }, taskQueue }: ProcessSettings): void {
  const other = otherAgentsOn(configuration.directory, { agentsFile, taskQueue });
  if (other === undefined) return;
  throw new HoldfastError(
    'queue-in-use',
    `The process ${other.pid} serves ${other.agentsFile} on the task queue "${taskQueue}" of ${configuration.directory}, and this one would take its runs.`,
  );
}

export async function openService(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  /** `now`: the project, where it may change while the service runs. */
  { hasWorker = false, now = () => settings.project }: { readonly hasWorker?: boolean; readonly now?: () => Project } = {},
): Promise<RunningService> {
  const { project, logger, host, port, hosts, origins, tenant, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  const client = await connect({ server: server.settings, tenant, taskQueue, dataConverter });
  await lifetime.onEnd('client', () => client.close());
  const service = await startService({
    client,
    agents: () => now().agents,
    logger,
    host,
    port,
    hosts,
    origins,
    prices: () => now().config.models?.prices,
    agui: () => now().config.agui,
    policies: () => now().config.policies,
  });
  const worker = hasWorker ? { agentsFile: project.agentsFile, taskQueue } : undefined;
  const forget = recordService(configuration.directory, service.url, worker);
  await lifetime.onEnd('service', async () => {
    forget();
    await service.close();
  });
  return service;
}
