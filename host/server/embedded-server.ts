import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { isOurs, makePrivate } from '../private-files';
import { findServerBinary, type ServerBinary } from './server-binary';
import { launchServer, type LaunchedServer } from './server-launch';
import { logOf, serverFailure } from './server-log';
import {
  askedServer,
  databasesIn,
  findLiveServer,
  removeServerRecord,
  watchServer,
  writeServerRecord,
  type ServerRecord,
} from './server-record';

export interface EmbeddedServerOptions {
  /** Holds database, log and record of one server, which a second start reuses. */
  readonly directory: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Turns the web UI on; 0 takes a free port. */
  readonly uiPort?: number;
  readonly namespace?: string;
  /** Adds to the default settings. A reused server keeps its settings. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
  readonly onProgress?: (message: string) => void;
  /** The process of a new server exists, but does not answer yet. */
  readonly onLaunch?: () => void;
  /** The own server ended without `stop`: 'server-failed' or 'disk-full'. */
  readonly onExit?: (error: HoldfastError) => void;
  /** A reused server is gone, mostly with its owner. Called within two seconds. */
  readonly onLost?: () => void;
  readonly environment?: Environment;
}

export interface EmbeddedServer {
  readonly address: string;
  /** The address of the web UI as `http://host:port`. */
  readonly uiAddress: string | undefined;
  readonly namespace: string;
  readonly pid: number;
  /** Another process owns the server, and `stop` leaves the server running. */
  readonly reused: boolean;
  readonly version: string;
  /** Path of the database file. */
  readonly database: string;
  stop(): Promise<void>;
}

const lockPatienceMs = 120_000;

/**
 * Starts a Temporal server on loopback that ends with this process, or reuses the directory's server. Throws 'server-unavailable' (no
 * binary), 'server-locked' (another process has the database open), 'port-in-use' or 'server-failed'.
 * @example
 * const server = await startEmbeddedServer({ directory: '.holdfast/temporal' });
 * const client = await connect({ address: server.address });
 * console.log(await client.list());
 * await client.close();
 * await server.stop();
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const setup = resolveSetup(options);
  const deadline = Date.now() + lockPatienceMs;
  for (let told = false; ; told = true) {
    const live = await findLiveServer(setup.directory);
    if (live !== undefined) return reuse(live, setup);
    const binary = await findServerBinary(setup);
    const file = join(setup.directory, `runs-${binary.serverVersion}.db`);
    try {
      if (!existsSync(file)) await createDatabase(file, setup, binary);
      const launched = await launchServer({ ...setup, binary, database: file, isDraft: false });
      return handleOf(launched, setup, binary, file);
    } catch (error) {
      if (!/database is locked|SQLITE_BUSY/.test(messageOf(error))) throw error;
      if (Date.now() > deadline) throw lockedFile(file, error);
    }
    if (!told) setup.onProgress(`Another process has ${file} open, and starts or ends its Temporal server; waiting for it.`);
    await sleep(100);
  }
}

type Setup = ReturnType<typeof resolveSetup>;

function resolveSetup(options: EmbeddedServerOptions) {
  makePrivate(options.directory, isOurs);
  return {
    ...options,
    directory: realpathSync(options.directory),
    namespace: options.namespace ?? 'default',
    dynamicConfig: options.dynamicConfig ?? {},
    environment: options.environment ?? process.env,
    onProgress: options.onProgress ?? (() => undefined),
  };
}

/**
 * Makes the database of this server version: a first server writes a draft and is killed. So a file with the final name is complete, and
 * the next server knows its namespace's retention.
 */
async function createDatabase(file: string, setup: Setup, binary: ServerBinary): Promise<void> {
  const others = databasesIn(setup.directory).join(', ');
  if (others !== '')
    setup.onProgress(
      `The Temporal server is now version ${binary.serverVersion}: a new database begins. Earlier runs stay in ${others} and show again with that version.`,
    );
  const draft = `${file}.new-${randomUUID()}`;
  const journal = `${draft}-journal`;
  try {
    do {
      for (const part of [draft, journal]) rmSync(part, { force: true });
      const server = await launchServer({ ...setup, binary, port: undefined, uiPort: undefined, database: draft, isDraft: true });
      await server.kill();
      // A killed transaction left a journal, so the file is incomplete.
    } while (existsSync(journal));
    linkSync(draft, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    for (const part of [draft, journal]) rmSync(part, { force: true });
  }
}

async function reuse(record: ServerRecord, setup: Setup): Promise<EmbeddedServer> {
  await askedServer()
    .prepareServer(record.address, setup.namespace)
    .catch((error: unknown) => {
      if (codeOf(error) === 'server-unreachable') throw error;
      const what = `The Temporal server of process ${record.ownerPid} at ${record.address} cannot be used: ${messageOf(error)}`;
      throw serverFailure(what, logOf(setup.directory), error);
    });
  const unwatch = watchServer(record, () => setup.onLost?.());
  setup.onProgress(`Using the Temporal server of process ${record.ownerPid} at ${record.address}.`);
  const { address, uiAddress, pid, version } = record;
  const database = join(setup.directory, record.database);
  return { address, uiAddress, namespace: setup.namespace, pid, reused: true, version, database, stop: async () => unwatch() };
}

function handleOf(launched: LaunchedServer, setup: Setup, { serverVersion: version }: ServerBinary, database: string): EmbeddedServer {
  const { address, uiAddress, pid, clusterId } = launched;
  const { directory, namespace } = setup;
  for (const name of readdirSync(directory)) if (name.includes('.db.new-')) rmSync(join(directory, name), { force: true });
  writeServerRecord({ address, uiAddress, clusterId, pid, ownerPid: process.pid, version, database: basename(database), directory });
  let stopping: Promise<void> | undefined;
  void launched.exited.then((code) => {
    if (stopping !== undefined) return;
    removeServerRecord(directory, pid);
    setup.onExit?.(serverFailure(`The embedded Temporal server stopped with code ${code}.`, logOf(directory)));
  });
  const stop = async (): Promise<void> => {
    removeServerRecord(directory, pid);
    await launched.stop();
  };
  return { address, uiAddress, namespace, pid, reused: false, version, database, stop: () => (stopping ??= stop()) };
}

function lockedFile(file: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'server-locked',
    `Another process has ${file} open, and no Temporal server answers for it. End that process (\`fuser ${file}\` or \`lsof ${file}\` names it), or use another directory.`,
    { cause, details: { path: file } },
  );
}
