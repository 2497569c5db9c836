import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import { cacheDirectory } from '../cache-directory';
import type { Environment } from '../configuration';
import { buildServer } from './server-build';
import { downloadServer } from './server-download';

export interface ServerBinary {
  readonly path: string;
  readonly origin: 'configured' | 'path' | 'cache' | 'download' | 'build';
  readonly serverVersion: string;
}

interface BinarySearch {
  readonly environment: Environment;
  readonly onProgress: (message: string) => void;
}

/** The first version with tested worker deployments, search attribute and settings. */
const oldest = [1, 29] as const;
export const oldestServer = oldest.join('.');
const cachedName = 'temporal-3';

export function isOldServer(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

/**
 * Takes `HOLDFAST_TEMPORAL_CLI` alone, or else the PATH, the cache, the SDK's download, or a build with Go. Throws 'server-unavailable'.
 */
export async function findServerBinary(search: BinarySearch): Promise<ServerBinary> {
  const failures: string[] = [];
  const found = (await presentBinary(search.environment, failures)) ?? (await obtainBinary(search, failures));
  if (found !== undefined) return found;
  throw new HoldfastError(
    'server-unavailable',
    `There is no Temporal server to start. Install the Temporal CLI (https://docs.temporal.io/cli), or Go 1.25 or newer, or name a binary with HOLDFAST_TEMPORAL_CLI, ` +
      `or set TEMPORAL_ADDRESS to use a running server. Tried: ${failures.join('; ')}.`,
    { details: { failures } },
  );
}

export async function presentServerBinary(environment: Environment): Promise<ServerBinary | undefined> {
  return presentBinary(environment, []).catch(() => undefined);
}

async function presentBinary(environment: Environment, failures: string[]): Promise<ServerBinary | undefined> {
  const configured = environment.HOLDFAST_TEMPORAL_CLI;
  if (configured) {
    return inspect(configured, 'configured').catch((error: unknown) => {
      throw new HoldfastError('server-unavailable', `HOLDFAST_TEMPORAL_CLI names ${configured}: ${messageOf(error)}`);
    });
  }
  return (
    (await attempt('`temporal` on the PATH', failures, async () => inspect(onPath('temporal', environment), 'path'))) ??
    (await attempt('the cache', failures, () => inspect(cachedBinary(environment), 'cache')))
  );
}

async function obtainBinary({ environment, onProgress }: BinarySearch, failures: string[]): Promise<ServerBinary | undefined> {
  const cached = cachedBinary(environment);
  mkdirSync(dirname(cached), { recursive: true });
  const draft = mkdtempSync(join(dirname(cached), '.new-'));
  const keep = async (file: string, origin: ServerBinary['origin']): Promise<ServerBinary> => {
    const binary = await inspect(file, origin);
    renameSync(file, cached);
    return { ...binary, path: cached };
  };
  try {
    return (
      (await attempt("the SDK's download", failures, async () => keep(await downloadServer(draft, environment, onProgress), 'download'))) ??
      (await attempt('`go build` of the Temporal CLI', failures, async () =>
        keep(await buildServer(draft, environment, onProgress), 'build'),
      ))
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function attempt<T>(way: string, failures: string[], find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    failures.push(`${way}: ${messageOf(error)}`);
    return undefined;
  }
}

function cachedBinary(environment: Environment): string {
  return join(cacheDirectory(environment), 'bin', cachedName);
}

export function onPath(name: string, environment: Environment): string {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    if (folder !== '' && isExecutable(file)) return file;
  }
  throw new Error('not there');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

async function inspect(path: string, origin: ServerBinary['origin']): Promise<ServerBinary> {
  if (!isExecutable(path)) throw new Error('not there');
  const [, serverVersion] = /version \S+ \(Server ([^\s,)]+)/.exec(await versionText(path)) ?? [];
  if (serverVersion === undefined) throw new Error(`${path} is not the Temporal CLI`);
  if (isOldServer(serverVersion)) throw new Error(`${path} holds server ${serverVersion}; ${oldestServer} or newer is needed`);
  return { path, origin, serverVersion };
}

function versionText(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path, ['--version'], { timeout: 15_000 }, (error, stdout) => {
      if (error) reject(new Error(`${path} does not run: ${messageOf(error).split('\n')[0]}`));
      else resolve(stdout);
    });
  });
}
