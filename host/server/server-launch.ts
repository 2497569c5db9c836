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

interface LaunchOptions extends Pick<ServerFlags, 'database' | 'isDraft' | 'namespace' | 'dynamicConfig'> {
  readonly binary: ServerBinary;
  readonly directory: string;
  readonly port?: number | undefined;
  readonly uiPort?: number | undefined;
  readonly environment: Environment;
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
 * Returns when the server answers. Another process may take a free port first; then the start repeats, unless the caller named the port.
 */
export async function launchServer(options: LaunchOptions): Promise<LaunchedServer> {
  for (let attempt = 1; ; attempt++) {
    // Otherwise a foreign server on the port would be taken for this server.
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
    const ended = guarded.exited.then((code) => Promise.reject(new Error(`it ended with code ${code}`)));
    ended.catch(() => undefined);
    const ready = whenListening(port, ended).then(() => askedServer().prepareServer(address, options.namespace));
    const clusterId = await Promise.race([ready, ended]);
    // Until now another server may have owned the log.
    renameSync(draftLog, logOf(options.directory));
    return { ...guarded, address, uiAddress: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`, clusterId };
  } catch (error) {
    await guarded.kill();
    const failure = serverFailure(`The Temporal server (${options.binary.path}) did not start: ${messageOf(error)}.`, draftLog, error);
    rmSync(draftLog, { force: true });
    throw failure;
  }
}

/** A refused gRPC channel waits a second, a plain connection does not. */
async function whenListening(port: number, ended: Promise<never>): Promise<void> {
  const deadline = Date.now() + startPatienceMs;
  while (!(await Promise.race([isListening(port), ended]))) {
    if (Date.now() > deadline) throw new Error(`it did not listen within ${startPatienceMs / 1000} s`);
    await sleep(20);
  }
}

/** A rarer garbage collection saves a sixth of the time. The user's variables win. */
const collector = { GOGC: '400', GOMEMLIMIT: '1GiB' };

/** A client's settings are not for the server. */
function withoutTemporal(environment: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
