import * as modules from 'node:module';
import { join } from 'node:path';
import { cacheDirectory } from '../host/cache-directory';

/** From Node 22.8 on. */
const { enableCompileCache } = modules as { readonly enableCompileCache?: (directory?: string) => unknown };

/**
 * Lets Node keep compiled code for the next start, in the cache of the user, where only the user can write. NODE_COMPILE_CACHE and
 * NODE_DISABLE_COMPILE_CACHE win.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>> = process.env): void {
  if (environment['NODE_COMPILE_CACHE']) return;
  enableCompileCache?.(join(cacheDirectory(environment), 'compiled'));
}
