import { defined } from '../contract/defined';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { withoutCredentials } from '../contract/credentials';
import { HoldfastError, messageOf } from '../contract/errors';
import { defaultTaskQueue, defaultTenant, isTenant, tenantForm } from '../contract/names';
import { shown } from '../contract/shown';
import {
  addressProblem,
  certificateProblem,
  headerProblem,
  hostProblem,
  keyProblem,
  namespaceProblem,
  publicUrlProblem,
  pushSecretProblem,
  redisUrlProblem,
  taskQueueProblem,
  urlProblem,
  leastCachedRuns,
} from './check-settings';
import type { TemporalSettings } from './connection';
import { logFormats, logLevels, type LogFormat, type LogLevel } from './logger';

export interface ConfigurationVariable {
  readonly default?: string;
  readonly meaning: string;
}

/** Every environment variable except the keys of model providers. */
export const configurationTable = {
  HOLDFAST_DIR: {
    default: '.holdfast',
    meaning: 'Directory of the embedded server: database, log, bundles, snapshots, and the addresses of service and server.',
  },
  HOLDFAST_HOST: { default: '127.0.0.1', meaning: 'Address of the HTTP service.' },
  HOLDFAST_PORT: { default: '4747', meaning: 'Port of the HTTP service; 0 takes a free one.' },
  HOLDFAST_URL: {
    default: 'http://127.0.0.1:4747',
    meaning: 'Address at which commands find the service. By default made from HOLDFAST_HOST and HOLDFAST_PORT.',
  },
  HOLDFAST_PUBLIC_URL: {
    meaning:
      'https:// URL by which people and other services reach the HTTP service, for login, links and A2A cards. Default: the address of the request.',
  },
  HOLDFAST_TASK_QUEUE: { default: defaultTaskQueue, meaning: 'Task queue of runs and workers.' },
  HOLDFAST_TENANT: { default: defaultTenant, meaning: 'Tenant of requests without a tenant, and the first part of workflow ids.' },
  HOLDFAST_REDIS_URL: {
    meaning:
      'redis:// or rediss:// URL by which processes share limits of models and tools, the store of the service, and tokens for readers. Default: every process has its own.',
  },
  HOLDFAST_COMPRESS: {
    meaning: 'true or false: whether data of runs is written compressed. Default: true with the embedded server, otherwise false.',
  },
  HOLDFAST_MAX_CACHED_RUNS: { meaning: 'Number of runs that a worker keeps in memory. Default: 600 for each GB of heap above 200 MB.' },
  HOLDFAST_STOCK_SDK: {
    meaning:
      "1: workflow code runs in unchanged threads of Temporal's SDK, which costs a third more CPU. For new versions of the SDK with other internals.",
  },
  HOLDFAST_PUSH_SECRET: {
    meaning:
      'One to five secrets `whsec_…`, separated by spaces, that sign push notifications. Needed if notifications may leave the machine.',
  },
  HOLDFAST_KEY: { meaning: 'API key or token that commands send to the service. `holdfast keys create` makes a key.' },
  HOLDFAST_LOG_LEVEL: { default: 'info', meaning: 'trace, debug, info, warn, error or silent.' },
  HOLDFAST_LOG_FORMAT: { default: 'text', meaning: 'text for people or json for machines, on stderr.' },
  HOLDFAST_TEMPORAL_CLI: {
    meaning: 'Path of the `temporal` binary for the embedded server. Default: the PATH, the cache, a download, a build with Go.',
  },
  TEMPORAL_ADDRESS: { meaning: 'host:port of a Temporal server. Default: the address in the profile, or an embedded server.' },
  TEMPORAL_NAMESPACE: { default: 'default', meaning: 'Namespace of the runs, also with the embedded server.' },
  TEMPORAL_API_KEY: { meaning: 'API key, sent as a bearer token. Turns TLS on.' },
  TEMPORAL_TLS: { meaning: 'true or false. Any other TEMPORAL_TLS_ variable also turns TLS on.' },
  TEMPORAL_TLS_CLIENT_CERT_PATH: { meaning: 'File with the client certificate (PEM) for mutual TLS.' },
  TEMPORAL_TLS_CLIENT_CERT_DATA: { meaning: 'The client certificate (PEM).' },
  TEMPORAL_TLS_CLIENT_KEY_PATH: { meaning: 'File with the key of the client certificate (PEM).' },
  TEMPORAL_TLS_CLIENT_KEY_DATA: { meaning: 'The key of the client certificate (PEM).' },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: { meaning: 'File with the certificate authority of the server (PEM).' },
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: { meaning: 'The certificate authority of the server (PEM).' },
  TEMPORAL_TLS_SERVER_NAME: { meaning: 'Name in the certificate of the server, if the name differs from the address.' },
  TEMPORAL_CONFIG_FILE: { meaning: "TOML file with profiles. Default: Temporal's usual place." },
  TEMPORAL_PROFILE: { default: 'default', meaning: 'Name of the profile in the TOML file.' },
  XDG_CACHE_HOME: {
    default: '~/.cache',
    meaning: 'Place of the folder `holdfast`, with downloaded and built binaries, and compiled code from Node 22.8 on.',
  },
} as const satisfies Record<string, ConfigurationVariable>;

export type ConfigurationName = keyof typeof configurationTable;
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Configuration {
  /** Absolute. */
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  /** Without a final slash. */
  readonly url: string;
  /** Undefined: the address of the request. */
  readonly publicUrl: string | undefined;
  readonly taskQueue: string;
  readonly tenant: string;
  /** Undefined: every process has its own limits, store and deltas. */
  readonly redisUrl: string | undefined;
  /** Undefined: only with the embedded server. */
  readonly compress: boolean | undefined;
  /** Undefined: by the memory of Node. */
  readonly maxCachedRuns: number | undefined;
  readonly pushSecret: string | undefined;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly namespace: string;
  /** Undefined: an embedded server. */
  readonly server: TemporalSettings | undefined;
}

/**
 * Reads the environment and Temporal's profile file. Throws 'config-invalid'.
 * @example
 * const { server, taskQueue, tenant } = readConfiguration();
 * if (server === undefined) throw new Error('TEMPORAL_ADDRESS is missing.');
 * const client = await connect({ server, taskQueue, tenant });
 */
export function readConfiguration(environment: Environment = process.env): Configuration {
  const host = textOf(environment, 'HOLDFAST_HOST', hostProblem);
  const port = wholeOf(environment, 'HOLDFAST_PORT', 65_535);
  const temporal = readTemporal(environment);
  textOf(environment, 'HOLDFAST_STOCK_SDK', stockProblem);
  if (environment.HOLDFAST_KEY) unshown('HOLDFAST_KEY', environment.HOLDFAST_KEY, headerProblem);
  return {
    directory: resolve(textOf(environment, 'HOLDFAST_DIR', pathProblem)),
    host,
    port,
    url: checked('HOLDFAST_URL', environment.HOLDFAST_URL || `http://${reachable(host)}:${port}`, urlProblem).replace(/\/+$/, ''),
    publicUrl: environment.HOLDFAST_PUBLIC_URL ? textOf(environment, 'HOLDFAST_PUBLIC_URL', publicUrlProblem) : undefined,
    taskQueue: textOf(environment, 'HOLDFAST_TASK_QUEUE', taskQueueProblem),
    tenant: textOf(environment, 'HOLDFAST_TENANT', tenantProblem),
    redisUrl: environment.HOLDFAST_REDIS_URL ? textOf(environment, 'HOLDFAST_REDIS_URL', redisUrlProblem) : undefined,
    compress: environment.HOLDFAST_COMPRESS ? oneOf(environment, 'HOLDFAST_COMPRESS', ['true', 'false']) === 'true' : undefined,
    maxCachedRuns: environment.HOLDFAST_MAX_CACHED_RUNS
      ? wholeOf(environment, 'HOLDFAST_MAX_CACHED_RUNS', 1_000_000, leastCachedRuns)
      : undefined,
    pushSecret: environment.HOLDFAST_PUSH_SECRET
      ? unshown('HOLDFAST_PUSH_SECRET', environment.HOLDFAST_PUSH_SECRET, pushSecretProblem)
      : undefined,
    logLevel: oneOf(environment, 'HOLDFAST_LOG_LEVEL', logLevels),
    logFormat: oneOf(environment, 'HOLDFAST_LOG_FORMAT', logFormats),
    namespace: temporal.namespace,
    server: temporal.address === undefined ? undefined : { ...temporal, address: temporal.address },
  };
}

function readTemporal(environment: Environment): Omit<TemporalSettings, 'address'> & { readonly address: string | undefined } {
  const file = environment.TEMPORAL_CONFIG_FILE;
  if (file && !existsSync(file)) throw invalid(`TEMPORAL_CONFIG_FILE names ${file}, which does not exist.`);
  checkTemporal(environment);
  const { namespace, connectionOptions } = readProfile(environment);
  const { address, tls, apiKey, metadata } = connectionOptions;
  if (address) checked(nameOr('TEMPORAL_ADDRESS', environment, 'address'), address, addressProblem);
  if (namespace) checked(nameOr('TEMPORAL_NAMESPACE', environment, 'namespace'), namespace, namespaceProblem);
  if (apiKey) unshown(nameOr('TEMPORAL_API_KEY', environment, 'api_key'), apiKey, headerProblem);
  return {
    address: address || undefined,
    namespace: namespace || configurationTable.TEMPORAL_NAMESPACE.default,
    ...defined({ tls }),
    ...(apiKey ? { apiKey } : {}),
    ...(metadata ? { metadata: metadata as Record<string, string> } : {}),
  };
}

function readProfile(environment: Environment): ReturnType<typeof toClientOptions> {
  try {
    return toClientOptions(loadClientConfigProfile({ overrideEnvVars: withoutEmpty(environment) }));
  } catch (error) {
    // Further lines of the parser may quote a key.
    const said = messageOf(error).split('\n')[0];
    const from = ['TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE']
      .filter((name) => environment[name])
      .map((name) => `${name}=${environment[name]}`);
    throw invalid(`The Temporal configuration${from.length === 0 ? '' : ` of ${from.join(', ')}`} cannot be read: ${said}`);
  }
}

/** Finds values that Temporal's reader misunderstands, or that fail only at the connection. */
function checkTemporal(environment: Environment): void {
  for (const name of ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION']) {
    const value = environment[name];
    if (value && !['true', 'false', '1', '0'].includes(value)) throw invalid(`${name} is ${shown(value)}. It must be true or false.`);
  }
  if (environment.TEMPORAL_TLS_DISABLE_HOST_VERIFICATION === 'true' || environment.TEMPORAL_TLS_DISABLE_HOST_VERIFICATION === '1') {
    throw invalid(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION has no effect in the TypeScript SDK. Set TEMPORAL_TLS_SERVER_CA_CERT_PATH or TEMPORAL_TLS_SERVER_NAME instead.',
    );
  }
  if (
    Boolean(environment.TEMPORAL_TLS_CLIENT_CERT_PATH || environment.TEMPORAL_TLS_CLIENT_CERT_DATA) !==
    Boolean(environment.TEMPORAL_TLS_CLIENT_KEY_PATH || environment.TEMPORAL_TLS_CLIENT_KEY_DATA)
  ) {
    throw invalid(
      'The client certificate and its key belong together: TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or their _DATA).',
    );
  }
  if (environment.TEMPORAL_TLS_SERVER_NAME) textOf(environment, 'TEMPORAL_TLS_SERVER_NAME', hostProblem);
  for (const [name, problemOf] of pemVariables) {
    const file = environment[`${name}_PATH`];
    const data = environment[`${name}_DATA`];
    if (file && data) throw invalid(`${name}_PATH and ${name}_DATA say the same; set one of them.`);
    if (file) unshown(`${name}_PATH`, readable(`${name}_PATH`, file), problemOf);
    if (data) unshown(`${name}_DATA`, Buffer.from(data), problemOf);
  }
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('TEMPORAL_GRPC_META_')) continue;
    if (!/^TEMPORAL_GRPC_META_[A-Za-z0-9_-]+$/.test(name))
      throw invalid(`${shown(name)} must end in the name of a header: letters, digits, _ and -.`);
    unshown(name, value ?? '', headerProblem);
  }
}

const pemVariables = [
  ['TEMPORAL_TLS_SERVER_CA_CERT', certificateProblem],
  ['TEMPORAL_TLS_CLIENT_CERT', certificateProblem],
  ['TEMPORAL_TLS_CLIENT_KEY', keyProblem],
] as const;

function readable(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw invalid(`${name} names ${file}, which cannot be read: ${messageOf(error)}`);
  }
}

/** Checks a secret value, such as a key. */
function unshown<T>(name: string, value: T, problemOf: (value: T) => string | undefined): T {
  const problem = problemOf(value);
  if (problem !== undefined) throw invalid(`${name} cannot be used. ${problem}`);
  return value;
}

function nameOr(name: ConfigurationName, environment: Environment, field: string): string {
  return environment[name] ? name : `\`${field}\` of the Temporal profile`;
}

function checked(name: string, value: string, problemOf: (value: string) => string | undefined): string {
  const problem = problemOf(value);
  if (problem !== undefined) throw invalid(`${name} is ${shown(withoutCredentials(value))}. ${problem}`);
  return value;
}

function stockProblem(value: string): string | undefined {
  return value === '' || value === '1' ? undefined : 'It must be 1, or not be set.';
}

function pathProblem(path: string): string | undefined {
  return path.includes('\0') ? 'It must be the path of a directory.' : undefined;
}

/** In Temporal's reader an empty variable hides the profile. */
function withoutEmpty(environment: Environment): Record<string, string> {
  const set = Object.entries(environment).filter(([name, value]) => value || (value === '' && name.startsWith('TEMPORAL_GRPC_META_')));
  return Object.fromEntries(set) as Record<string, string>;
}

function valueOf(environment: Environment, name: ConfigurationName): string {
  const variable: ConfigurationVariable = configurationTable[name];
  return environment[name] || (variable.default ?? '');
}

function textOf(environment: Environment, name: ConfigurationName, problemOf: (value: string) => string | undefined): string {
  return checked(name, valueOf(environment, name), problemOf);
}

function wholeOf(environment: Environment, name: ConfigurationName, most: number, least = 0): number {
  const text = valueOf(environment, name);
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw invalid(`${name} is '${text}'. It must be a whole number from ${least} to ${most}.`);
  return value;
}

function oneOf<T extends string>(environment: Environment, name: ConfigurationName, allowed: readonly T[]): T {
  const text = valueOf(environment, name);
  const found = allowed.find((value) => value === text.toLowerCase());
  if (found === undefined) throw invalid(`${name} is '${text}'. It must be one of ${allowed.join(', ')}.`);
  return found;
}

function tenantProblem(tenant: string): string | undefined {
  return isTenant(tenant) ? undefined : `Use ${tenantForm}.`;
}

export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('config-invalid', message);
}
