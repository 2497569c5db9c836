import { randomUUID } from 'node:crypto';
import { searchAttributes } from '../../contract/names';

export interface ServerFlags {
  readonly port: number;
  readonly uiPort: number | undefined;
  readonly database: string;
  /** The server only makes a database for a later server. */
  readonly isDraft: boolean;
  readonly namespace: string;
  readonly dynamicConfig: Readonly<Record<string, unknown>>;
}

/** With the default of 20 queue reads a second an activity takes 101 ms instead of about 10. */
const quickSteps = {
  'system.enableActivityEagerExecution': true,
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'history.sendRawHistoryBetweenInternalServices': true,
} as const;

/** A test compares docs/operations/README.md. */
export const clusterFlags = { ...quickSteps, 'frontend.namespaceRPS.visibility': 200 } as const;

export const httpNames = 'frontend.httpAllowedHosts';

const dynamicConfig = {
  ...quickSteps,
  // `dev` makes a build of every change, and the server forgets builds only after minutes.
  'matching.maxVersionsInDeployment': 1000,
  // By default the server keeps 128,000 executions in memory for an hour.
  'history.hostLevelCacheMaxSize': 1000,
  // The HTTP API has no switch and takes requests of any web page, so the API gets a secret name.
  [httpNames]: [randomUUID()],
};

/** WAL with NORMAL survives a killed process; a power cut may lose the last commits. EXCLUSIVE locks the file until the server ends. */
const sqlitePragmas = { journal_mode: 'WAL', synchronous: 'NORMAL', locking_mode: 'EXCLUSIVE' };
const draftPragmas = { journal_mode: 'DELETE' };

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
    ...pairs('--dynamic-config-value', { ...dynamicConfig, ...flags.dynamicConfig }, JSON.stringify),
  ];
}

function pairs(flag: string, values: Readonly<Record<string, unknown>>, textOf: (value: unknown) => string = String): string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${textOf(value)}`]);
}
