import { randomUUID } from 'node:crypto';
import { searchAttributes } from '../../contract/names';

export interface ServerFlags {
  readonly port: number;
  /** Without one the web UI stays off. */
  readonly uiPort: number | undefined;
  readonly database: string;
  /** The database is made, and begins to be that of the directory when this server has ended. */
  readonly isDraft: boolean;
  readonly namespace: string;
  readonly dynamicConfig: Readonly<Record<string, unknown>>;
}

/**
 * The limits of polls are lifted: with the default of 20 queue reads a second an activity step takes 101 ms instead of about 10. Server 1.29 and newer have
 * worker deployments, updates and TemporalWorkerDeploymentVersion on.
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

/** The names by which programs may call the HTTP API of a server. */
export const httpNames = 'frontend.httpAllowedHosts';

const dynamicConfig = {
  ...quickSteps,
  // `dev` makes a build of each change of the agents, and the server forgets one that nobody serves after some minutes only.
  'matching.maxVersionsInDeployment': 1000,
  // By itself the server keeps 128,000 executions in memory, each for an hour, also those that have ended.
  'history.hostLevelCacheMaxSize': 1000,
  // The HTTP API cannot be turned off. It takes any request that a page of any site can send, so it answers only to a name that nobody knows.
  [httpNames]: [randomUUID()],
};

/**
 * WAL with NORMAL is safe against the death of a process; a power cut may take the last commits. EXCLUSIVE: a second server cannot open the file, and
 * the operating system unlocks it however the first one ends.
 */
const sqlitePragmas = { journal_mode: 'WAL', synchronous: 'NORMAL', locking_mode: 'EXCLUSIVE' };
/** All of the database is in its one file, unless a journal is beside it. */
const draftPragmas = { journal_mode: 'DELETE' };

/** Arguments of `temporal`. Ports that are not named here (HTTP, metrics, the inner services) the server finds itself. */
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
