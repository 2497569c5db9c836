import type { Command } from 'commander';
import { lasting } from './option-values';

/** What `cancel` takes. `filled` refuses a value that is blank. */
export function cancelOptions(command: Command, filled: (flag: string) => (value: string) => string): Command {
  return command
    .option('--after-model', 'stop when the model has asked for tools, before the tools run')
    .option('--after-tools', 'stop when the tools of an answer have run')
    .option('--within <time>', 'time after which the run stops at once, for example 30s', lasting('--within'))
    .option('--only-here', 'let agents below the first agent end first')
    .option('--reason <text>', 'reason, for the record', filled('--reason'))
    .option('--by <name>', 'your name', filled('--by'));
}
