import type { Command } from 'commander';
import { lasting } from './option-values';

/** What `cancel` takes. `filled` refuses a value that is blank. */
export function cancelOptions(command: Command, filled: (flag: string) => (value: string) => string): Command {
  return command
    .option('--after-model', 'when the model has asked for tools, before they run')
    .option('--after-tools', 'when the tools of an answer have run')
    .option('--within <time>', 'at once when no such point comes within this time, such as 30s', lasting('--within'))
    .option('--only-here', 'agents below the first one are left to end first')
    .option('--reason <text>', 'why, for its record', filled('--reason'))
    .option('--by <name>', 'who cancels it', filled('--by'));
}
