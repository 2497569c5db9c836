import * as modules from 'node:module';
import { join } from 'node:path';
import { cacheDirectory } from '../host/cache-directory';

/** From Node 22.8 on. */
const { enableCompileCache } = modules as { readonly enableCompileCache?: (directory?: string) => unknown };

/**
 * Lets Node keep what it has compiled, so that the next start need not do it again. It lies in the cache of this user: whoever can write there has a say
 * in what runs. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE win.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>> = process.env): void {
  if (environment['NODE_COMPILE_CACHE']) return;
  enableCompileCache?.(join(cacheDirectory(environment), 'compiled'));
}
