#!/usr/bin/env node
import { keepCompiledCode } from './compile-cache';

// A closed pipe, as of `| head`, is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
}

keepCompiledCode();
void runCommand();

/** Loaded after the cache is on, so that Node keeps the compiled code. */
async function runCommand(): Promise<void> {
  const { runCommandLine } = await import('./program.js');
  const { processTerminal } = await import('./terminal.js');
  process.exit(await runCommandLine(process.argv.slice(2), processTerminal()));
}
