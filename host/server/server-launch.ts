import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { checkPortFree, freePort, isListening } from './free-port';
import { startGuarded, type GuardedProcess } from './guarded-process';
import type { ServerBinary } from './server-binary';
import { serverArguments, type ServerFlags } from './server-flags';
import { logOf, serverFailure } from './server-log';
import { askedServer } from './server-record';

export interface LaunchOptions extends Pick<ServerFlags, 'database' | 'isDraft' | 'namespace' | 'dynamicConfig'> {
  readonly binary: ServerBinary;
  readonly directory: string;
  /** Without one a free port is taken. */
  readonly port?: number | undefined;
  /** Turns the web UI on; 0 takes a free port. */
  readonly uiPort?: number | undefined;
  readonly environment: Environment;
  /** There is a process, which does not answer yet. */
  readonly onLaunch?: (() => void) | undefined;
}

export interface LaunchedServer extends GuardedProcess {
  readonly address: string;
  readonly uiAddress: string | undefined;
  readonly clusterId: string;
}

const startPatienceMs = 30_000;
const attempts = 4;
let logs = 0;

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
      if (attempt === attempts || !/address already in use|can't (set|use)/i.test(messageOf(error))) throw error;
    }
  }
}

async function launchOnce(options: LaunchOptions, port: number, uiPort: number | undefined): Promise<LaunchedServer> {
  const address = `127.0.0.1:${port}`;
  const draftLog = join(options.directory, `server-${process.pid}-${logs++}.log`);
  const guarded = await startGuarded(options.binary.path, serverArguments({ ...options, port, uiPort }), {
    logFile: draftLog,
    environment: { ...collector, ...withoutTemporal(options.environment) },
  });
  try {
    options.onLaunch?.();
    const ended = guarded.exited.then(({ code }) => Promise.reject(new Error(`it ended with code ${code}`)));
    ended.catch(() => undefined);
    const ready = whenListening(port, ended).then(() => askedServer().prepareServer(address, options.namespace));
    const clusterId = await Promise.race([ready, ended]);
    // Only now is this the server of the directory: until then another may run there.
    renameSync(draftLog, logOf(options.directory));
    return { ...guarded, address, uiAddress: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`, clusterId };
  } catch (error) {
    await guarded.kill();
    const failure = serverFailure(`The Temporal server (${options.binary.path}) did not start: ${messageOf(error)}.`, draftLog, error);
    rmSync(draftLog, { force: true });
    throw failure;
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
