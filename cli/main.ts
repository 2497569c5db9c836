#!/usr/bin/env node
import { runCommandLine } from './program';
import { processTerminal } from './terminal';

// A reader that goes away, as with `| head`, is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
}

void runCommandLine(process.argv.slice(2), processTerminal()).then((code) => process.exit(code));
