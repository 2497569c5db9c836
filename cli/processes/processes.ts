import type { HoldfastWorker } from '../../worker/create-worker';
import { checkKeyedEnvironment, keyVariables } from '../../activities/models/providers/keyed';
import { codeOf, messageOf } from '../../contract/errors';
import type { RunningService } from '../../service/http/start-service';
import type { Terminal } from '../terminal';
import { Lifetime } from './lifetime';
import { runLine } from '../shell-words';
import type { OpenServer } from './open-server';
import { openServer } from './open-server';
import { checkPort, checkQueue, openService } from './open-service';
import { openWorker } from './open-worker';
import { FreshProject } from './fresh-project';
import { ProjectWatch } from './watch-project';
import type { Project } from '../../service/project/load-project';
import type { ProcessFlags, ProcessSettings } from './process-settings';
import { readSettings } from './process-settings';
import { takeDeadWorkers } from './service-record';

/** Server, worker and service in one process, with the demo model where no other has a key. */
export async function dev(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const startedAt = Date.now();
  const loaded = new FreshProject();
  const settings = await readSettings(flags, process.env, loaded.loadModule);
  const { logger } = settings;
  checkKeyedEnvironment(process.env);
  return Lifetime.of(terminal, logger, async (lifetime) => {
    await checkPort(settings);
    checkQueue(settings);
    const dead = takeDeadWorkers(settings.configuration.directory);
    terminal.write(terminal.paint.dim(`Starting with ${settings.project.file} …`));
    const server = await openServer(settings, lifetime, terminal, true);
    let { project } = settings;
    const service = await openService(settings, server, lifetime, { hasWorker: true, now: () => project });
    const worker = await openWorker(settings, server, lifetime, { demo: true, dead });
    if (flags.watch !== false) {
      const onProject = (changed: Project): void => void (project = changed);
      const watch = new ProjectWatch({ config: flags.config, settings, loaded, startedAt, worker, onProject });
      await lifetime.onEnd('watch of the project', () => watch.close());
    }
    tellReady(terminal, settings, { server, service, worker });
    const { agents, config } = project;
    const { example } = config;
    const first = example ?? { agent: (agents.find(({ takesJob }) => !takesJob) ?? agents[0])?.name ?? '', input: 'What can you do?' };
    terminal.write();
    terminal.write(
      `  Try: ${terminal.paint.bold(runLine(first.agent, first.input, ...(process.env['HOLDFAST_DIR'] ? ['--url', service.url] : [])))}`,
    );
  });
}

/** The service alone. Workers run elsewhere. */
export async function serve(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const settings = await readSettings(flags);
  return Lifetime.of(terminal, settings.logger, async (lifetime) => {
    await checkPort(settings);
    const server = await openServer(settings, lifetime, terminal, false);
    tellReady(terminal, settings, { server, service: await openService(settings, server, lifetime) });
  });
}

/** A worker alone. */
export async function work(flags: ProcessFlags, terminal: Terminal): Promise<number> {
  const settings = await readSettings(flags);
  checkKeyedEnvironment(process.env);
  return Lifetime.of(terminal, settings.logger, async (lifetime) => {
    const server = await openServer(settings, lifetime, terminal, false);
    tellReady(terminal, settings, { server, worker: await openWorker(settings, server, lifetime, { demo: false }) });
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
  const line = (name: string, text: string): void => terminal.write(`  ${dim(name.padEnd(9))} ${text}`);
  terminal.write();
  terminal.write(green('Holdfast is ready.'));
  if (service !== undefined) line('service', service.url);
  line(
    'temporal',
    `${server.settings.address} ${dim(server.embedded ? `(embedded; its data is in ${configuration.directory})` : `(namespace ${server.settings.namespace})`)}`,
  );
  line('agents', project.agents.map(({ name }) => name).join(', '));
  if (worker === undefined) return;
  if (service === undefined) line('queue', taskQueue);
  line('model', `default → ${defaultModel(worker)}`);
}

function defaultModel(worker: HoldfastWorker): string {
  try {
    const id = worker.parts.models.idOf('default');
    return id.startsWith('demo/') ? `${id} (a few rules, no AI; set ${keyVariables})` : id;
  } catch (error) {
    return `none (${codeOf(error) ?? 'error'}: ${messageOf(error)})`;
  }
}
