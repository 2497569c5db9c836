import { runCommandLine } from '../../cli/program';
import { writersTo } from '../../cli/terminal';
import { recordedTerminal } from '../support/recorded-terminal';
import type { Running, Start } from './command';
import { environmentOf, heard } from './command';

let atWork = 0;
let ofTests = process.env;

/**
 * Runs command lines in this process, as `commandsIn` does in processes of their own. For commands that ask a service and end. Commands that are at work
 * at the same time have the environment of the last one.
 */
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
