import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'holdfast');
}
