import type { Command } from 'commander';
import type { ApplyFlags } from './commands/policy-commands';
import { filled } from './option-values';
import type { FoundService } from './found-service';
import type { Terminal } from './terminal';

type ToService = (
  usage: string,
  description: string,
  options: (command: Command) => Command,
) => <Flags>(prepare: (args: readonly unknown[], flags: Flags) => Promise<(service: FoundService) => Promise<number>>) => void;

/** `policy apply`. */
export function addPolicyCommands(toService: ToService, startFilters: (command: Command) => Command, terminal: Terminal): void {
  toService('apply <policy>', 'Asks again about waiting calls for which a changed policy asks more.', (command) =>
    startFilters(command.requiredOption('--to <runs>', 'waiting: runs that wait because of the policy', filled('--to')))
      .option('--by <name>', 'your name', filled('--by'))
      .option('--dry-run', 'only print what would happen')
      .option('--json', 'print JSON'),
  )(async ([policy], { url: _url, ...flags }: ApplyFlags & { url?: string }) => {
    const { applyPolicy } = await import('./commands/policy-commands.js');
    return (service) => applyPolicy(service, terminal, policy as string, flags);
  });
}
