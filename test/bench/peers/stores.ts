import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedServer } from '../../../host/server/embedded-server';
import type { TemporalSettings } from '../../../host/connection';
import { Cluster, dynamicConfigs } from '../../cluster/cluster';
import type { Postgres } from '../../cluster/postgres';
import { installed, startPostgres } from '../../cluster/postgres';
import { usageOf } from '../usage';
import { nodeOfPeers } from './install';

const execute = promisify(execFile);

/** Bytes that PostgreSQL has written to its log. */
const logBytes = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn";

export interface Store {
  settings(): Promise<{ readonly postgres?: string; readonly temporal?: TemporalSettings }>;
  /** Store and workers share a host, as in `holdfast dev`. */
  readonly embedded: boolean;
  /** CPU milliseconds. Undefined for a foreign server. */
  cpuMs(): number | undefined;
  /** Rows and indexes, without deleted rows. */
  keptBytes(): Promise<number>;
  /** PostgreSQL's log, or a process's writes. */
  writtenBytes(): Promise<number>;
  stop(): Promise<void>;
}

export type StoreName = 'postgres' | 'embedded' | 'cluster';

export function openStore(name: StoreName): Promise<Store> {
  if (name === 'embedded') return embedded();
  return name === 'cluster' ? cluster() : postgres();
}

/** PostgreSQL at PGHOST, or a temporary server. */
async function postgres(): Promise<Store> {
  const own = process.env['PGHOST'] === undefined ? await ownPostgres() : undefined;
  const environment = own === undefined ? process.env : { ...process.env, ...loopback(own.port) };
  let database = 'postgres';
  const sql = (text: string): Promise<string> => psql(environment, database, text);
  return {
    embedded: false,
    async settings() {
      database = 'postgres';
      const name = `holdfast_peers_${process.pid}_${Date.now()}`;
      await sql(`CREATE DATABASE ${name}`);
      database = name;
      return { postgres: urlOf(environment, name) };
    },
    cpuMs: () => (own === undefined ? undefined : usageOf(own.pid).cpuMs),
    keptBytes: () => sizeAfterVacuum(environment, [database]),
    writtenBytes: async () => Number(await sql(logBytes)),
    stop: async () => own?.stop(),
  };
}

async function ownPostgres(): Promise<Postgres> {
  checkInstalled();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-peers-postgres-'));
  const server = await startPostgres(join(folder, 'postgres.log'));
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function checkInstalled(): void {
  if (installed() === undefined)
    throw new Error('PostgreSQL is not installed. Install it (apt-get install postgresql), or set PGHOST, PGPORT, PGUSER and PGPASSWORD.');
}

async function cluster(): Promise<Store> {
  checkInstalled();
  const server = await Cluster.start(dynamicConfigs.tuned);
  const environment = { ...process.env, ...loopback(server.postgresPort) };
  return {
    embedded: false,
    settings: () => Promise.resolve({ temporal: { address: server.address, namespace: 'default' } }),
    cpuMs: () => usageOf(...server.pids).cpuMs,
    keptBytes: () => sizeAfterVacuum(environment, ['temporal', 'temporal_visibility']),
    writtenBytes: async () => Number(await psql(environment, 'temporal', logBytes)),
    stop: () => server.stop(),
  };
}

async function embedded(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-peers-server-'));
  const server = await startEmbeddedServer({ directory, onProgress: (text) => console.error(text) });
  return {
    embedded: true,
    settings: () => Promise.resolve({ temporal: { address: server.address, namespace: server.namespace } }),
    cpuMs: () => usageOf(server.pid).cpuMs,
    keptBytes: () => sqliteSize(server.database ?? ''),
    writtenBytes: () => Promise.resolve(bytesWrittenBy(server.pid)),
    async stop() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function loopback(port: number): Record<string, string> {
  return { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' };
}

function urlOf(environment: NodeJS.ProcessEnv, database: string): string {
  const { PGHOST = '127.0.0.1', PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD } = environment;
  const password = PGPASSWORD === undefined ? '' : `:${encodeURIComponent(PGPASSWORD)}`;
  return `postgresql://${encodeURIComponent(PGUSER)}${password}@${PGHOST}:${PGPORT}/${database}`;
}

async function psql(environment: NodeJS.ProcessEnv, database: string, text: string): Promise<string> {
  const { stdout } = await execute('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', '-d', database, '-c', text], { env: environment });
  return stdout.trim();
}

async function sizeAfterVacuum(environment: NodeJS.ProcessEnv, databases: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const database of databases) {
    await psql(environment, database, 'VACUUM FULL');
    bytes += Number(await psql(environment, database, `SELECT pg_database_size('${database}')`));
  }
  return bytes;
}

async function sqliteSize(file: string): Promise<number> {
  const script = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    const pragma = (name) => Object.values(database.prepare('PRAGMA ' + name).get())[0];
    console.log((pragma('page_count') - pragma('freelist_count')) * pragma('page_size'));`;
  const { stdout } = await execute(nodeOfPeers, ['--no-warnings', '-e', script, file]);
  return Number(stdout.trim());
}

function bytesWrittenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? Number.NaN);
}
