import { homedir } from 'node:os';
import { join } from 'node:path';

/** The server's binary and compiled code: files of this user that can be made again. */
export function cacheDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'holdfast');
}
