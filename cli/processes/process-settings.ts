import { HoldfastError } from '../../contract/errors';
import type { Configuration, Environment } from '../../host/configuration';
import { readConfiguration } from '../../host/configuration';
import type { Logger } from '../../host/logger';
import { createLogger } from '../../host/logger';
import type { Project } from '../../service/project/load-project';
import type { ProjectConfig } from '../../service/project/project-config';
import { loadProject } from '../../service/project/load-project';
import { unknownVariables } from './unknown-variables';

export interface ProcessFlags {
  readonly config?: string;
  readonly port?: string;
}

/** What dev, serve and worker need to know. A flag wins over the environment, and that over the project's configuration. */
export interface ProcessSettings {
  readonly configuration: Configuration;
  readonly project: Project;
  readonly logger: Logger;
  readonly host: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly taskQueue: string;
  readonly tenant: string;
  /** Undefined: with the embedded server only. */
  readonly compress: boolean | undefined;
}

export async function readSettings(flags: ProcessFlags, environment: Environment = process.env): Promise<ProcessSettings> {
  const configuration = readConfiguration(environment);
  const logger = createLogger({ level: configuration.logLevel, format: configuration.logFormat });
  for (const unknown of unknownVariables(environment)) logger.warn(unknown);
  const project = await loadProject(flags.config);
  const { http = {}, taskQueue, tenant, compress } = project.config;
  const inEnvironment = (name: string): boolean => Boolean(environment[name]);
  return {
    configuration,
    project,
    logger,
    ...listensAt(flags, configuration, http, environment),
    hosts: http.hosts ?? [],
    taskQueue: inEnvironment('HOLDFAST_TASK_QUEUE') ? configuration.taskQueue : (taskQueue ?? configuration.taskQueue),
    tenant: inEnvironment('HOLDFAST_TENANT') ? configuration.tenant : (tenant ?? configuration.tenant),
    compress: configuration.compress ?? compress,
  };
}

/** Where the service listens. */
export function listensAt(
  flags: ProcessFlags,
  configuration: Configuration,
  http: ProjectConfig['http'] = {},
  environment: Environment = process.env,
): Pick<ProcessSettings, 'host' | 'port'> {
  const host = environment.HOLDFAST_HOST ? configuration.host : (http.host ?? configuration.host);
  if (flags.port !== undefined) return { host, port: portOf(flags.port) };
  return { host, port: environment.HOLDFAST_PORT ? configuration.port : (http.port ?? configuration.port) };
}

export function portOf(text: string, flag = '--port'): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new HoldfastError('command-invalid', `${flag} is '${text}'. It must be a whole number from 0 to 65535.`);
  return port;
}
