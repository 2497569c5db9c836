import { defined } from '../../contract/defined';
import { HoldfastError, errorTable } from '../../contract/errors';
import { stackOf } from '../../contract/news';
import { readConfiguration, type Configuration, type Environment } from '../../host/configuration';
import { createLogger, logFormats, type LogLevel, type Logger } from '../../host/logger';
import { loadProject, type ModuleLoader, type Project } from '../../service/project/load-project';
import type { ProjectConfig } from '../../service/project/project-config';
import { reportStrayRejections } from '../../worker/stray-rejections';
import { ownFrames } from './temporal-log';
import { unknownVariables } from './unknown-variables';

export interface ProcessFlags {
  readonly config?: string;
  readonly port?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly log?: string;
  readonly watch?: boolean;
}

/** Order: flags, environment, configuration of the project. */
export interface ProcessSettings {
  readonly configuration: Configuration;
  readonly project: Project;
  readonly logger: Logger;
  readonly onProblem: (problem: HoldfastError) => void;
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly taskQueue: string;
  readonly tenant: string;
  readonly compress: boolean | undefined;
}

export async function readSettings(
  flags: ProcessFlags,
  environment: Environment = process.env,
  loadModule?: ModuleLoader,
): Promise<ProcessSettings> {
  const configuration = withLogFlags(readConfiguration(environment), flags);
  const logger = createLogger({ level: configuration.logLevel, format: configuration.logFormat });
  for (const unknown of unknownVariables(environment)) logger.warn(unknown);
  const onProblem = problemsTo(logger);
  // A module's stray rejection must not end the process.
  reportStrayRejections(onProblem);
  const project = await loadProject(flags.config, process.cwd(), loadModule);
  const { http = {}, taskQueue, tenant, compress } = project.config;
  const inEnvironment = (name: string): boolean => Boolean(environment[name]);
  return {
    configuration,
    project,
    logger,
    onProblem,
    ...listensAt(flags, configuration, http, environment),
    taskQueue: inEnvironment('HOLDFAST_TASK_QUEUE') ? configuration.taskQueue : (taskQueue ?? configuration.taskQueue),
    tenant: inEnvironment('HOLDFAST_TENANT') ? configuration.tenant : (tenant ?? configuration.tenant),
    compress: configuration.compress ?? compress,
  };
}

function problemsTo(logger: Logger): (problem: HoldfastError) => void {
  return (problem) => {
    const stack = ownFrames(stackOf(problem.cause) ?? '');
    logger.error(problem.message, { code: problem.code, fix: errorTable[problem.code].fix, ...(stack === '' ? {} : { stack }) });
  };
}

function withLogFlags(configuration: Configuration, { quiet, verbose, log }: ProcessFlags): Configuration {
  if (quiet === true && verbose === true)
    throw new HoldfastError('command-invalid', '--quiet and --verbose are both given. Give one of them.');
  const format = logFormats.find((known) => known === log);
  if (log !== undefined && format === undefined)
    throw new HoldfastError('command-invalid', `--log is '${log}'. It must be ${logFormats.join(' or ')}.`);
  const level: LogLevel | undefined = quiet === true ? 'warn' : verbose === true ? 'debug' : undefined;
  return { ...configuration, ...defined({ logLevel: level, logFormat: format }) };
}

export function listensAt(
  flags: ProcessFlags,
  configuration: Configuration,
  http: ProjectConfig['http'] = {},
  environment: Environment = process.env,
): Pick<ProcessSettings, 'host' | 'port' | 'publicUrl'> {
  const host = environment.HOLDFAST_HOST ? configuration.host : (http.host ?? configuration.host);
  const publicUrl = configuration.publicUrl ?? http.publicUrl;
  if (flags.port !== undefined) return { host, port: portOf(flags.port), publicUrl };
  return { host, port: environment.HOLDFAST_PORT ? configuration.port : (http.port ?? configuration.port), publicUrl };
}

export function portOf(text: string, flag = '--port'): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new HoldfastError('command-invalid', `${flag} is '${text}'. It must be a whole number from 0 to 65535.`);
  return port;
}
