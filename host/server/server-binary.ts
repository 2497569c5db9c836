import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';

export interface ServerBinary {
  readonly path: string;
  readonly origin: 'configured' | 'path' | 'cache' | 'download' | 'build';
  readonly cliVersion: string;
  /** It decides which database file the binary may open. */
  readonly serverVersion: string;
}

/** Worker deployments, their search attribute and all settings of the embedded server are verified from here on. */
const oldestServer = [1, 29] as const;

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
  const text = await versionText(path);
  const [, cliVersion, serverVersion] = /version (\S+) \(Server ([^\s,)]+)/.exec(text) ?? [];
  if (cliVersion === undefined || serverVersion === undefined) throw new Error(`${path} is not the Temporal CLI`);
  const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
  if (major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1])) {
    throw new Error(`${path} holds server ${serverVersion}; ${oldestServer.join('.')} or newer is needed`);
  }
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
