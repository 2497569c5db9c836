import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onPath } from '../../host/server/server-binary';
import { freePort } from '../../host/server/free-port';
import { startGuarded } from '../../host/server/guarded-process';
import { run } from './binaries';

export interface Postgres {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root. */
const user = 'postgres';
const isRoot = process.getuid?.() === 0;

/** A server on a free port with data in a new folder. Commits wait for the disk, as in production. */
export async function startPostgres(logFile: string): Promise<Postgres> {
  const bin = await binaries();
  const folder = mkdtempSync(join(enterableFolder(), 'holdfast-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) for (const owned of [folder, data]) chownSync(owned, idOf('-u'), idOf('-g'));
  await run(...asUser(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-U', user]), folder);
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "'127.0.0.1'",
    unix_socket_directories: `'${folder}'`,
    max_connections: 200,
    fsync: 'on',
    synchronous_commit: 'on',
  };
  appendFileSync(
    join(data, 'postgresql.conf'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const server = await startGuarded(...asUser(join(bin, 'postgres'), ['-D', data]), { logFile, environment: process.env });
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; spawnSync(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]).status !== 0; tries += 1) {
    if (tries === 300) {
      await stop();
      throw new Error(`PostgreSQL does not come up; its log is ${logFile}.`);
    }
    await delay(100);
  }
  return { port, pid: server.pid, stop };
}

async function binaries(): Promise<string> {
  const found = installed();
  if (found !== undefined) return found;
  console.log('apt: postgresql');
  const root = isRoot ? [] : ['sudo', '-n'];
  const apt = (...args: string[]): Promise<string> => {
    const [command = '', ...rest] = [...root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
    return run(command, rest, tmpdir());
  };
  await apt('update', '-qq');
  await apt('install', '-y', '-qq', 'postgresql-common');
  // Debian would start a server at once.
  const quiet =
    'mkdir -p /etc/postgresql-common/createcluster.d && echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.d/holdfast.conf';
  const [command = '', ...rest] = [...root, 'sh', '-c', quiet];
  await run(command, rest, tmpdir());
  await apt('install', '-y', '-qq', 'postgresql');
  const after = installed();
  if (after === undefined) throw new Error('apt has installed postgresql, and there is no initdb below /usr/lib/postgresql.');
  return after;
}

export function installed(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one)).map((version) => `/usr/lib/postgresql/${version}/bin`);
  const complete = newestFirst.find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')));
  if (complete !== undefined) return complete;
  try {
    return join(onPath('initdb', process.env), '..');
  } catch {
    return undefined;
  }
}

/** The temporary folder of a CI may be closed to other users. */
function enterableFolder(): string {
  const folders = [tmpdir(), '/tmp', '/var/tmp'];
  const open = isRoot ? folders.find((folder) => spawnSync(...asUser('test', ['-x', folder])).status === 0) : tmpdir();
  if (open === undefined) throw new Error(`The user ${user} may enter none of ${folders.join(', ')}.`);
  return open;
}

function asUser(command: string, args: readonly string[]): [string, string[]] {
  if (!isRoot) return [command, [...args]];
  return ['setpriv', ['--reuid', user, '--regid', user, '--clear-groups', command, ...args]];
}

function idOf(which: '-u' | '-g'): number {
  return Number(spawnSync('id', [which, user], { encoding: 'utf8' }).stdout.trim());
}
