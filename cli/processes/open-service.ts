import { connect } from '../../client/connect';
import type { HoldfastClient } from '../../client/connect';
import { startService, type RunningService } from '../../service/http/start-service';
import type { Project } from '../../service/project/load-project';
import type { ServiceHosting } from '../../service/parts';
import { openStore } from '../../service/store/open-store';
import { withFactsOfWorker, type FactsOfWorker } from '../../service/project/project-facts';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import { openBatches } from './open-batches';
import { openDeltas } from './open-deltas';
import { openPush } from './open-push';
import type { ProcessSettings } from './process-settings';
import { recordService } from './service-record';

interface OpenedService extends RunningService {
  readonly applySchedules: (project: Project) => Promise<void>;
}

export async function openService(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  { ofWorker, now = () => settings.project }: { readonly ofWorker?: FactsOfWorker; readonly now?: () => Project } = {},
): Promise<OpenedService> {
  const { project, logger, host, port, publicUrl, tenant, taskQueue, configuration } = settings;
  const { dataConverter } = server;
  // In `dev`, all calls are made in this process.
  const deltas = ofWorker === undefined ? await openDeltas(settings, lifetime) : undefined;
  const client = await connect({ server: server.settings, tenant, taskQueue, dataConverter, ...defined({ deltas }) });
  await lifetime.onEnd('client', () => client.close());
  const applySchedules = (of: Project): Promise<void> => apply(client, of, logger);
  await applySchedules(project);
  const { store, close } = openStore(project.config.store, configuration);
  await lifetime.onEnd('store', close);
  const agents = (): Project['agents'] => now().agents;
  await openBatches(settings, server, lifetime, { client, store, agents, schedules: () => now().config.schedules ?? {} });
  const pushTo = await openPush(settings, server, lifetime, { client, isDev: ofWorker !== undefined, now });
  const service = await startService({
    client,
    agents,
    logger,
    host,
    port,
    store,
    ...defined({
      hosts: project.config.http?.hosts,
      origins: project.config.http?.origins,
      publicUrl,
      access: project.config.access,
      feed: project.config.feed,
      notify: project.config.notify,
    }),
    prices: () => now().config.models?.prices,
    agui: () => now().config.agui,
    aiSdk: () => now().config.aiSdk,
    pushTo,
    triggers: () => now().config.triggers,
    policies: () => now().config.policies,
    hosting: hostingOf(settings, server, now, ofWorker),
  });
  const worker = ofWorker !== undefined ? { agentsFile: project.agentsFile, taskQueue } : undefined;
  const forget = recordService(configuration.directory, service.url, worker);
  await lifetime.onEnd('service', async () => {
    forget();
    await service.close();
  });
  return { ...service, applySchedules };
}

/** Other schedules of the configuration were in the file before. */
async function apply(client: HoldfastClient, { config: { schedules = {} } }: Project, logger: Logger): Promise<void> {
  const acts = await client.schedules.apply(schedules).catch((error: unknown) => {
    if (Object.keys(schedules).length > 0) throw error;
    logger.warn(`No schedule was paused that the configuration had before: ${messageOf(error)}`);
    return {};
  });
  for (const [name, act] of Object.entries(acts))
    if (act === 'taken') logger.warn(`The schedule ${name} is not applied: a client or another task queue has a schedule of this name.`);
    else if (act !== 'same') logger.info(`The schedule ${name} is ${act}.`);
}

function hostingOf(settings: ProcessSettings, server: OpenServer, now: () => Project, ofWorker: FactsOfWorker | undefined): ServiceHosting {
  const facts = (): ReturnType<typeof withFactsOfWorker> =>
    ofWorker === undefined ? { facts: now().facts, problems: [] } : withFactsOfWorker(now().facts, ofWorker);
  const ofServer = server.webUi === undefined ? undefined : `${server.webUi}/namespaces/{namespace}/workflows/{workflowId}`;
  return {
    server: server.embedded ? 'embedded' : 'configured',
    hasWorker: ofWorker !== undefined,
    ...defined({ temporalUi: settings.project.config.http?.temporalUi ?? ofServer }),
    project: () => facts().facts,
    problems: () => facts().problems,
  };
}
