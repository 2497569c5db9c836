import { homedir } from 'node:os';
import { join } from 'node:path';

/** What Holdfast keeps for this user, and can make again: the server's binary, and code that Node has compiled. */
export function cacheDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'holdfast');
}
