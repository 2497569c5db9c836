import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';
import { fileState } from '../file-state';
import { keepIfPossible } from '../private-files';

export interface ServerBinary {
  readonly path: string;
  readonly origin: 'configured' | 'path' | 'cache' | 'download' | 'build';
  readonly cliVersion: string;
  /** It decides which database file the binary may open. */
  readonly serverVersion: string;
}

/** Worker deployments, their search attribute and all settings of the embedded server are verified from here on. */
const oldest = [1, 29] as const;
export const oldestServer = oldest.join('.');

/** Also a version that cannot be read. */
export function isOldServer(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

/** The first executable file of that name on the PATH of the environment. */
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

/** What the binary says it is. Throws when it is not there, does not run, is something else or too old. */
export async function inspectServerBinary(path: string, origin: ServerBinary['origin']): Promise<ServerBinary> {
  if (!isExecutable(path)) throw new Error('not there');
  return binaryOf(path, origin, await versionText(path));
}

/**
 * The same of the binary in the cache, which is asked once: while its file stays as it was, it says the same again. Others are always asked. They may be
 * programs that choose a version by where they are called.
 */
export async function inspectKnownBinary(path: string): Promise<ServerBinary> {
  if (!isExecutable(path)) throw new Error('not there');
  const memory = `${path}.version.json`;
  const state = fileState(path, Date.now());
  const known = readKnown(memory);
  if (state !== undefined && known?.state === state) return binaryOf(path, 'cache', known.said);
  const said = await versionText(path);
  const binary = binaryOf(path, 'cache', said);
  if (state !== undefined) keepIfPossible(memory, JSON.stringify({ state, said } satisfies KnownBinary));
  return binary;
}

interface KnownBinary {
  /** Of its file, when it was asked. */
  readonly state: string;
  readonly said: string;
}

function readKnown(memory: string): KnownBinary | undefined {
  try {
    const { state, said } = JSON.parse(readFileSync(memory, 'utf8')) as Partial<KnownBinary>;
    return typeof state === 'string' && typeof said === 'string' ? { state, said } : undefined;
  } catch {
    return undefined;
  }
}

function binaryOf(path: string, origin: ServerBinary['origin'], text: string): ServerBinary {
  const [, cliVersion, serverVersion] = /version (\S+) \(Server ([^\s,)]+)/.exec(text) ?? [];
  if (cliVersion === undefined || serverVersion === undefined) throw new Error(`${path} is not the Temporal CLI`);
  if (isOldServer(serverVersion)) throw new Error(`${path} holds server ${serverVersion}; ${oldestServer} or newer is needed`);
  return { path, origin, cliVersion, serverVersion };
}

function versionText(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path, ['--version'], { timeout: 15_000 }, (error, stdout) => {
      if (error) reject(new Error(`${path} does not run: ${messageOf(error).split('\n')[0]}`));
      else resolve(stdout);
    });
  });
}
