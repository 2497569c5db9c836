#!/usr/bin/env node
import * as modules from 'node:module';
import { join } from 'node:path';
import { cacheDirectory } from '../host/cache-directory';

const { enableCompileCache } = modules as { readonly enableCompileCache?: (directory?: string) => unknown };

// A closed pipe, as of `| head`, is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
}

// Node keeps compiled code where only the user can write. NODE_DISABLE_COMPILE_CACHE wins.
if (!process.env['NODE_COMPILE_CACHE']) enableCompileCache?.(join(cacheDirectory(process.env), 'compiled'));
void runCommand();

/** Imported after the cache is on, so that Node keeps the compiled code. */
async function runCommand(): Promise<void> {
  const { runCommandLine } = await import('./program.js');
  const { processTerminal } = await import('./terminal.js');
  process.exit(await runCommandLine(process.argv.slice(2), processTerminal()));
}
