import type { HoldfastWorker } from '../../worker/create-worker';
import { checkKeyedEnvironment } from '../../activities/models/providers/keyed';
import { waysIn } from '../../service/access/options';
import type { RunningService } from '../../service/http/start-service';
import type { Terminal } from '../terminal';
import type { BegunServer } from './begin-server';
import { defaultModel, missingModels } from './default-model';
import { messageOf } from '../../contract/errors';
import { withConnection } from '../../host/connection';
import { retryCallsOf } from '../../worker/builds/predecessors';
import { Lifetime } from './lifetime';
import { runLine } from '../../contract/shell-words';
import { openDeltas } from './open-deltas';
import { openServer, type OpenServer } from './open-server';
import { loadServiceInTurns } from './load-in-turns';
import { keepWorker, makeWorker } from './open-worker';
import { FreshProject } from './fresh-project';
import { ProjectWatch } from './watch-project';
import type { FactsOfWorker } from '../../service/project/project-facts';
import type { Project } from '../../service/project/load-project';
import { readSettings, type ProcessFlags, type ProcessSettings } from './process-settings';
import { checkPort, checkQueue, takeDeadWorkers } from './service-record';

/** The demo model is the last resort. `begun`: a server that was launched early. */
export async function dev(flags: ProcessFlags, terminal: Terminal, begun?: BegunServer): Promise<number> {
  const startedAt = Date.now();
  const loaded = new FreshProject();
  const settings = await readSettings(flags, process.env, loaded.loadModule);
  const { logger } = settings;
  checkKeyedEnvironment(process.env);
  return Lifetime.of(terminal, logger, async (lifetime) => {
    await checkPort(settings.configuration.directory, settings);
    checkQueue(settings.configuration.directory, { agentsFile: settings.project.agentsFile, taskQueue: settings.taskQueue });
    const dead = takeDeadWorkers(settings.configuration.directory);
    terminal.write(terminal.paint.dim(`Starting with ${settings.project.file} …`));
    const code = loadServiceInTurns();
    code.catch(() => undefined);
    const server = await openServer(settings, lifetime, true, begun);
    let { project } = settings;
    const opened: { worker?: HoldfastWorker } = {};
    const ofWorker: FactsOfWorker = {
      modelIdOf: (name) => opened.worker?.parts.models.idOf(name),
      useOfModels: (pattern) => opened.worker?.parts.turns?.useOfModels(pattern),
      useOfTool: (tool) => opened.worker?.parts.turns?.useOfTool(tool),
    };
    const making = makeWorker(settings, server, { demo: true });
    making.catch(() => undefined);
    const service = await code
      .then(({ openService }) => openService(settings, server, lifetime, { ofWorker, now: () => project }))
      .catch(async (error: unknown) => {
        await making.then(
          (made) => made.shutdown(),
          () => undefined,
        );
        throw error;
      });
    // Closes before the service, so that readers see how calls end.
    const worker = (opened.worker = await keepWorker(await making, settings, lifetime));
    if (flags.watch !== false) {
      const onProject = (changed: Project): Promise<void> => {
        project = changed;
        return service.applySchedules(changed);
      };
      const watch = new ProjectWatch({ config: flags.config, settings, loaded, startedAt, worker, onProject });
      await lifetime.onEnd('watch of the project', () => watch.close());
    }
    tellReady(terminal, settings, { server, service, worker });
    const { agents, config } = project;
    const { example } = config;
    const first = example ?? { agent: (agents.find(({ takesJob }) => !takesJob) ?? agents[0])?.name ?? '', input: 'What can you do?' };
    terminal.write();
    if (config.access !== undefined)
      terminal.write(`  First: ${terminal.paint.bold('export HOLDFAST_KEY=$(npx holdfast keys create your-name --roles admin)')}`);
    terminal.write(
      `  Try: ${terminal.paint.bold(runLine(first.agent, first.input, ...(process.env['HOLDFAST_DIR'] ? ['--url', service.url] : [])))}`,
    );
    // Logged after the lines that the process is ready.
    if (server.embedded) void retryCalls(dead, settings, server);
  });
}

export async function serve(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const settings = await readSettings(flags);
  return Lifetime.of(terminal, settings.logger, async (lifetime) => {
    await checkPort(settings.configuration.directory, settings);
    const { openService } = await import('./open-service.js');
    const server = await openServer(settings, lifetime, false);
    tellReady(terminal, settings, { server, service: await openService(settings, server, lifetime) });
  });
}

export async function work(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const settings = await readSettings(flags);
  checkKeyedEnvironment(process.env);
  return Lifetime.of(terminal, settings.logger, async (lifetime) => {
    const server = await openServer(settings, lifetime, false);
    const deltas = await openDeltas(settings, lifetime);
    const worker = await keepWorker(await makeWorker(settings, server, { demo: false, deltas }), settings, lifetime);
    tellReady(terminal, settings, { server, worker });
  });
}

interface ProcessParts {
  readonly server: OpenServer;
  readonly service?: RunningService;
  readonly worker?: HoldfastWorker;
}

function tellReady(terminal: Terminal, settings: ProcessSettings, { server, service, worker }: ProcessParts): void {
  const { green, dim } = terminal.paint;
  const { project, configuration, taskQueue } = settings;
  const { access } = project.config;
  const line = (name: string, text: string): void => terminal.write(`  ${dim(name.padEnd(9))} ${text}`);
  terminal.write();
  terminal.write(green('Holdfast is ready.'));
  if (service !== undefined) {
    line('console', `${settings.publicUrl ?? service.url}/`);
    line('service', service.url);
    line('access', access === undefined ? 'none: everybody on this machine is trusted, and names are claims' : waysIn(access));
  }
  if ((service === undefined || worker === undefined) && configuration.redisUrl === undefined)
    line('tokens', 'of other processes are not shown: services and workers share no HOLDFAST_REDIS_URL');
  line(
    'temporal',
    `${server.settings.address} ${dim(server.embedded ? `(embedded; its data is in ${configuration.directory})` : `(namespace ${server.settings.namespace})`)}`,
  );
  line('agents', project.agents.map(({ name }) => name).join(', '));
  if (worker === undefined) return;
  if (service === undefined) line('queue', taskQueue);
  line('model', `default → ${defaultModel(worker)}`);
  for (const missing of missingModels(worker, project.models)) line('', missing);
}

async function retryCalls(dead: readonly string[], { logger, taskQueue }: ProcessSettings, { settings }: OpenServer): Promise<void> {
  if (dead.length === 0) return;
  try {
    const { namespace } = settings;
    const retried = await withConnection(settings, (connection) => retryCallsOf(dead, { connection, namespace, taskQueue }));
    if (retried > 0) logger.info(`Made again, of a process that was killed: ${retried} call${retried === 1 ? '' : 's'}.`);
  } catch (error) {
    logger.debug(`Calls of a process that was killed wait for the server to notice: ${messageOf(error)}`);
  }
}
