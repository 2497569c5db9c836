import { runCommandLine } from '../../cli/program';
import { writersTo } from '../../cli/terminal';
import { recordedTerminal } from '../support/recorded-terminal';
import type { Running, Start } from './command';
import { environmentOf, heard } from './command';

let atWork = 0;
let ofTests = process.env;

/** Runs commands in the test process. Parallel commands share the last environment. */
export function commandLinesIn(directory: string): Start<Running> {
  return (args, variables = {}) =>
    heard(async ({ out, error }) => {
      const terminal = {
        ...recordedTerminal({ live: false }),
        ...writersTo(out, error),
      };
      if (atWork++ === 0) ofTests = process.env;
      process.env = environmentOf(directory, variables);
      try {
        return await runCommandLine(args, terminal);
      } finally {
        if (--atWork === 0) process.env = ofTests;
      }
    });
}
