import { HoldfastError } from '../../contract/plain/errors';
import { isPortFree } from '../../host/free-port';
import { connect } from '../../client/connect';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { recordService } from './service-record';

/** Before a server is started for it in vain: whether the service's port is free. */
export async function checkPort({ host, port }: ProcessSettings): Promise<void> {
  if (port !== 0 && !(await isPortFree(port, host)))
    throw new HoldfastError('port-in-use', `The port ${port} of ${host} is taken by another process.`);
}

export async function openService(settings: ProcessSettings, server: OpenServer, lifetime: Lifetime): Promise<RunningService> {
  const { project, logger, host, port, hosts, tenant, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  const client = await connect({ server: server.settings, tenant, taskQueue, ...(dataConverter === undefined ? {} : { dataConverter }) });
  await lifetime.onEnd('client', () => client.close());
  const service = await startService({ client, agents: project.agents, logger, host, port, hosts });
  const forget = recordService(configuration.directory, service.url);
  await lifetime.onEnd('service', async () => {
    forget();
    await service.close();
  });
  return service;
}
