import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { checkPortFree, freePort, isListening } from './free-port';
import { startGuarded, type GuardedProcess } from './guarded-process';
import type { ServerBinary } from './server-binary';
import { serverArguments } from './server-flags';
import { askedServer } from './server-reuse';
import { endOfLog, serverFailure } from './server-log';

export interface LaunchOptions {
  readonly binary: ServerBinary;
  readonly port?: number;
  readonly uiPort?: number;
  readonly databaseFile: string | undefined;
  /**
   * The database is new and its namespace has the server's own retention of 24 hours. A run that ended while the server still goes by that would
   * vanish a day later, so the change is waited for. In memory nothing lives that long, and nobody waits.
   */
  readonly firstStart: boolean;
  readonly namespace: string;
  readonly dynamicConfig: Readonly<Record<string, unknown>>;
  readonly logFile: string;
  readonly environment: Environment;
  /** As soon as there is a process, before it answers. */
  readonly onSpawn: (pid: number, addresses: { readonly address: string; readonly uiAddress: string | undefined }) => void;
}

export interface LaunchedServer {
  readonly pid: number;
  readonly address: string;
  readonly uiAddress: string | undefined;
  readonly logFile: string;
  readonly process: GuardedProcess;
}

const startPatienceMs = 30_000;
const attempts = 4;
const namespaceCacheMs = 400;

/**
 * Starts the binary and returns when it answers with its namespace set up. Between the choice of a free port and its use another process may take it,
 * and the server's own choice of inner ports has the same gap: then it is tried again, unless the port was asked for.
 */
export async function launchServer(options: LaunchOptions): Promise<LaunchedServer> {
  for (let attempt = 1; ; attempt++) {
    // Looked at first: a stranger that listens there would be taken for our server.
    for (const port of [options.port, options.uiPort]) if (port) await checkPortFree(port);
    const port = options.port || (await freePort());
    const uiPort = options.uiPort === 0 ? await freePort() : options.uiPort;
    try {
      return await launchOnce(options, port, uiPort);
    } catch (error) {
      const portTaken = /address already in use|can't (set|use)/i.test(endOfLog(options.logFile));
      if (!portTaken || attempt === attempts) throw error;
    }
  }
}

async function launchOnce(options: LaunchOptions, port: number, uiPort: number | undefined): Promise<LaunchedServer> {
  const address = `127.0.0.1:${port}`;
  const uiAddress = uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`;
  const dynamicConfig = options.firstStart
    ? { 'system.namespaceCacheRefreshInterval': `${namespaceCacheMs}ms`, ...options.dynamicConfig }
    : options.dynamicConfig;
  const guarded = await startGuarded(options.binary.path, serverArguments({ ...options, port, uiPort, dynamicConfig }), {
    logFile: options.logFile,
    environment: { ...collector, ...withoutTemporal(options.environment) },
    // Its data is safe, and its own end takes it a second, for which the next start would wait.
    orphaned: 'KILL',
  });
  try {
    options.onSpawn(guarded.pid, { address, uiAddress });
    const ended = guarded.exited.then(({ code }) => Promise.reject(new Error(`it ended with code ${code}`)));
    ended.catch(() => undefined);
    const ready = whenListening(port, ended).then(() => askedServer().prepareServer(address, options.namespace));
    await Promise.race([ready, ended]);
    if (options.firstStart) await sleep(2 * namespaceCacheMs);
    return { pid: guarded.pid, address, uiAddress, logFile: options.logFile, process: guarded };
  } catch (error) {
    await guarded.kill();
    throw serverFailure(`The Temporal server (${options.binary.path}) did not start: ${messageOf(error)}.`, options.logFile, error);
  }
}

/** A plain connect first: a gRPC channel that is refused once waits a second before it tries again. */
async function whenListening(port: number, ended: Promise<never>): Promise<void> {
  const deadline = Date.now() + startPatienceMs;
  while (!(await Promise.race([isListening(port), ended]))) {
    if (Date.now() > deadline) throw new Error(`it did not listen within ${startPatienceMs / 1000} s`);
    await sleep(20);
  }
}

/** Of Go: the server lets its small heap grow before it collects, which takes a sixth less time. Who sets these variables is asked first. */
const collector = { GOGC: '400', GOMEMLIMIT: '1GiB' };

/** The settings of a client are none of the server's business. */
function withoutTemporal(environment: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
