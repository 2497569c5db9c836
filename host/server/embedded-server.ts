import { existsSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { acquireFileLock } from './file-lock';
import { findServerBinary } from './find-server-binary';
import { endProcess, freeDatabase } from './orphans';
import { isOurs, makePrivate, privateFile } from '../private-files';
import { launchServer, type LaunchedServer } from './server-launch';
import { endOfLog, serverFailure } from './server-log';
import {
  databasesIn,
  recordedServerRuns,
  refuseEarlierData,
  refreshServerRecord,
  removeServerRecord,
  writeServerRecord,
  type ServerRecord,
} from './server-record';
import { askedServer, awaitRemains, findLiveServer, watchServer } from './server-reuse';

export interface EmbeddedServerOptions {
  /** Holds database, log, record and lock. Made when missing. */
  readonly directory: string;
  /** A free one by default. */
  readonly port?: number;
  /** Turns the web UI on; 0 takes a free port. */
  readonly uiPort?: number;
  /** Default: 'file'. One in memory is for short tests: a query that its caller gives up can take it away. */
  readonly database?: 'file' | 'memory';
  readonly namespace?: string;
  /** Added to what every embedded server gets; a server that is reused keeps its own. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
  /**
   * Shareable: one server in the directory, and whoever starts a second one gets the first. Not shareable: a server of one's own, also beside
   * others in the same directory, only in memory. By default a server with a file is shareable and one in memory is not.
   */
  readonly shareable?: boolean;
  readonly onProgress?: (message: string) => void;
  /** There is a process, which does not answer yet. Not called where a server is reused. */
  readonly onLaunch?: () => void;
  /** The server ended although nobody stopped it. Called for the owner, not for those who reuse it. */
  readonly onExit?: (exit: ServerExit) => void;
  /** The server of another is gone, mostly with its owner. Called for those who reuse it, within a second or two. */
  readonly onLost?: () => void;
  readonly environment?: Environment;
}

export interface ServerExit {
  readonly code: number;
  /** The end of the server's log. */
  readonly log: string;
  /** 'server-failed' or 'disk-full', with the end of the log. */
  readonly error: HoldfastError;
}

export interface EmbeddedServer {
  readonly address: string;
  /** http://host:port of the web UI, when it is on. */
  readonly uiAddress: string | undefined;
  readonly namespace: string;
  readonly pid: number;
  /** Another one started it; it lives and dies with that one, and `stop` leaves it alone. */
  readonly reused: boolean;
  readonly version: string;
  /** Path of the database file; undefined in memory. */
  readonly database: string | undefined;
  stop(): Promise<void>;
}

const lockPatienceMs = 60_000;

/**
 * Starts a Temporal server on loopback that dies with this process, or finds the one that runs in the directory already. Throws
 * 'data-outdated', 'server-unavailable' (no binary), 'server-locked' (another process is at it for a minute), 'port-in-use' or 'server-failed'.
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const setup = resolveSetup(options);
  if (!setup.shareable) return startOwn(setup);
  if (setup.database === 'file') refuseEarlierData(setup.directory);
  const live = await findLiveServer(setup.directory, setup.database);
  if (live !== undefined) return reuse(live, setup);
  // Before the lock: to build a binary takes minutes, to start a server a second.
  const binary = await findServerBinary(setup);
  const lock = await lockDirectory(setup);
  try {
    const other = await findLiveServer(setup.directory, setup.database);
    if (other !== undefined) return await reuse(other, setup);
    await awaitRemains(setup.directory, setup.onProgress);
    const database = setup.database === 'memory' ? undefined : chooseDatabase(setup, binary.serverVersion);
    if (database !== undefined) await freeDatabase(join(setup.directory, database), setup.onProgress);
    const mark = database && firstStartMark(setup.directory, database);
    const launched = await launchServer({
      ...setup,
      binary,
      databaseFile: database && join(setup.directory, database),
      firstStart: mark !== undefined && existsSync(mark),
      logFile: join(setup.directory, 'server.log'),
      onSpawn: (pid, addresses) => {
        writeServerRecord(recordOf(pid, addresses, false));
        setup.onLaunch?.();
      },
    });
    if (mark) rmSync(mark, { force: true });
    writeServerRecord(recordOf(launched.pid, launched, true));
    return handleOf(launched, setup, binary.serverVersion, database);

    function recordOf(pid: number, addresses: Pick<ServerRecord, 'address' | 'uiAddress'>, ready: boolean): ServerRecord {
      const { address, uiAddress } = addresses;
      return {
        pid,
        ownerPid: process.pid,
        address,
        uiAddress,
        version: binary.serverVersion,
        database: database ?? 'memory',
        directory: setup.directory,
        ready,
        host: hostname(),
      };
    }
  } finally {
    lock.release();
  }
}

type Setup = ReturnType<typeof resolveSetup>;

function resolveSetup(options: EmbeddedServerOptions) {
  const database = options.database ?? 'file';
  const shareable = options.shareable ?? database === 'file';
  if (database === 'file' && !shareable)
    throw new HoldfastError('config-invalid', 'A server with a database file is always shareable: two servers cannot open one file.');
  makePrivate(options.directory, isOurs);
  return {
    ...options,
    directory: realpathSync(options.directory),
    database,
    shareable,
    namespace: options.namespace ?? 'default',
    dynamicConfig: options.dynamicConfig ?? {},
    environment: options.environment ?? process.env,
    onProgress: options.onProgress ?? (() => undefined),
  };
}

async function startOwn(setup: Setup): Promise<EmbeddedServer> {
  const binary = await findServerBinary(setup);
  const logFile = join(setup.directory, `server-${process.pid}-${Date.now().toString(36)}-${ownLogs++}.log`);
  const launched = await launchServer({ ...setup, binary, databaseFile: undefined, firstStart: false, logFile, onSpawn: () => undefined });
  return handleOf(launched, setup, binary.serverVersion, undefined);
}
let ownLogs = 0;

async function reuse(record: ServerRecord, setup: Setup): Promise<EmbeddedServer> {
  await askedServer()
    .prepareServer(record.address, setup.namespace)
    .catch((error: unknown) => {
      if (codeOf(error) === 'server-unreachable') throw error;
      const what = `The Temporal server of process ${record.ownerPid} at ${record.address} cannot be used: ${messageOf(error)}`;
      throw serverFailure(what, join(setup.directory, 'server.log'), error);
    });
  const unwatch = watchServer(record, () => setup.onLost?.());
  setup.onProgress(`Using the Temporal server of process ${record.ownerPid} at ${record.address}.`);
  return {
    address: record.address,
    uiAddress: record.uiAddress,
    namespace: setup.namespace,
    pid: record.pid,
    reused: true,
    version: record.version,
    database: record.database === 'memory' ? undefined : join(setup.directory, record.database),
    stop: async () => unwatch(),
  };
}

function handleOf(launched: LaunchedServer, setup: Setup, version: string, database: string | undefined): EmbeddedServer {
  let stopping: Promise<void> | undefined;
  const { logFile } = launched;
  const forget = setup.shareable ? refreshServerRecord(setup.directory) : () => undefined;
  // The guard may have ended without its server.
  const end = (): Promise<void> => endProcess(launched.pid, () => recordedServerRuns(launched));
  const gone = launched.process.exited.then(async (exit) => {
    if (stopping !== undefined) return;
    forget();
    await end();
    removeServerRecord(setup.directory, launched.pid);
    const error = serverFailure(`The embedded Temporal server stopped with code ${exit.code}.`, logFile);
    setup.onExit?.({ code: exit.code, log: endOfLog(logFile), error });
  });
  gone.catch(() => undefined);

  const stop = async (): Promise<void> => {
    // Held until the process is gone, so that nobody opens the database beside it.
    const lock = setup.shareable ? await lockDirectory(setup).catch(() => undefined) : undefined;
    try {
      forget();
      await (setup.database === 'memory' ? launched.process.kill() : launched.process.stop());
      await end();
      if (setup.shareable) removeServerRecord(setup.directory, launched.pid);
      else rmSync(logFile, { force: true });
    } finally {
      lock?.release();
    }
  };
  return {
    address: launched.address,
    uiAddress: launched.uiAddress,
    namespace: setup.namespace,
    pid: launched.pid,
    reused: false,
    version,
    database: database && join(setup.directory, database),
    stop: () => (stopping ??= stop()),
  };
}

function lockDirectory(setup: Setup) {
  return acquireFileLock(join(setup.directory, 'server.lock'), {
    waitMs: lockPatienceMs,
    onWait: (pid) => setup.onProgress(`Process ${pid} starts or stops the Temporal server of ${setup.directory}; waiting for it.`),
  });
}

/**
 * One file per server version: SQLite files are not guaranteed to fit another version. A file whose first start was never
 * finished has half a schema, which the server would take for a whole one; nobody can have used it, so it is begun anew.
 */
function chooseDatabase(setup: Setup, version: string): string {
  const database = `runs-${version}.db`;
  const file = join(setup.directory, database);
  const mark = firstStartMark(setup.directory, database);
  if (existsSync(mark)) for (const part of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(part, { force: true });
  if (existsSync(file)) return database;
  const others = databasesIn(setup.directory);
  if (others.length > 0) {
    setup.onProgress(
      `The Temporal server is now version ${version}: a new database begins. Earlier runs stay in ${others.join(', ')} and show again with that version.`,
    );
  }
  writeFileSync(mark, '', { mode: privateFile });
  return database;
}

function firstStartMark(directory: string, database: string): string {
  return join(directory, `${database}.first-start`);
}
