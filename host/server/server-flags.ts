import { randomUUID } from 'node:crypto';
import { searchAttributes } from '../../contract/names';

export interface ServerFlags {
  readonly port: number;
  readonly uiPort: number | undefined;
  readonly database: string;
  /** The server makes a database, which is used after the end of the server. */
  readonly isDraft: boolean;
  readonly namespace: string;
  readonly dynamicConfig: Readonly<Record<string, unknown>>;
}

/**
 * With the default of 20 queue reads a second an activity step takes 101 ms instead of about 10. Worker deployments, updates and
 * TemporalWorkerDeploymentVersion need no setting from server 1.29 on.
 */
const quickSteps = {
  'system.enableActivityEagerExecution': true,
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'history.sendRawHistoryBetweenInternalServices': true,
} as const;

/** The settings that docs/operations/README.md recommends for a cluster. A test compares both. */
export const clusterFlags = { ...quickSteps, 'frontend.namespaceRPS.visibility': 200 } as const;

/** The host names to which the HTTP API of a server answers. */
export const httpNames = 'frontend.httpAllowedHosts';

const dynamicConfig = {
  ...quickSteps,
  // `dev` makes a build of every change, and the server forgets an unserved build only after minutes.
  'matching.maxVersionsInDeployment': 1000,
  // By default the server keeps 128,000 executions in memory, also ended executions, for an hour.
  'history.hostLevelCacheMaxSize': 1000,
  // The HTTP API cannot be turned off, and takes requests of any page. So the API answers only to a secret name.
  [httpNames]: [randomUUID()],
};

/**
 * WAL with NORMAL survives the death of a process; a power cut may lose the last commits. EXCLUSIVE locks the file until the server ends in any way.
 */
const sqlitePragmas = { journal_mode: 'WAL', synchronous: 'NORMAL', locking_mode: 'EXCLUSIVE' };
/** Without a journal the file is the whole database. */
const draftPragmas = { journal_mode: 'DELETE' };

/** Arguments of `temporal`. The server itself chooses ports for HTTP, metrics and inner services. */
export function serverArguments(flags: ServerFlags): string[] {
  const ui = flags.uiPort === undefined ? ['--headless'] : ['--ui-port', String(flags.uiPort)];
  const namespace = flags.namespace === 'default' ? [] : ['--namespace', flags.namespace];
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(flags.port), '--log-level', 'error', '--color', 'never'],
    ...ui,
    ...['--db-filename', flags.database],
    ...pairs('--sqlite-pragma', flags.isDraft ? draftPragmas : sqlitePragmas),
    ...namespace,
    ...pairs('--search-attribute', searchAttributes),
    ...pairs('--dynamic-config-value', jsonValues({ ...dynamicConfig, ...flags.dynamicConfig })),
  ];
}

function pairs(flag: string, values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
}

function jsonValues(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
}
