import type { Command } from 'commander';
import type { ApprovalFlags, DecisionFlags, DelegationFlags, RejectionFlags } from './commands/answer-commands';
import { filled, several } from './option-values';
import type { FoundService } from './found-service';
import type { Terminal } from './terminal';

type Act = (service: FoundService) => Promise<number>;
export type ToService = (
  usage: string,
  description: string,
  options: (command: Command) => Command,
) => <Flags>(prepare: (args: readonly unknown[], flags: Flags) => Promise<Act>) => void;

/** The commands with which people answer. */
export function addAnswerCommands(toService: ToService, terminal: Terminal): void {
  const comment = (command: Command): Command =>
    who(command.option('--comment <text>', 'reason, for the log', filled('--comment')), 'your name');
  toService('approve <run> [interrupt]', 'Approves a tool call.', (command) =>
    comment(
      command
        .option('--edit <json>', 'changed arguments')
        .option(
          '--set <name=value>',
          'one changed argument, for example amount=40; repeatable',
          several((change) => change),
        )
        .option('--for-rest', 'also approve all calls of the tool in the rest of the run')
        .option('--up-to <amount>', 'also approve all calls of the tool up to the amount, if the policy has amounts', filled('--up-to')),
    ),
  )(async ([run, interrupt], flags: ApprovalFlags) => {
    const { approve } = await import('./commands/answer-commands.js');
    return (service) => approve(service, terminal, run as string, interrupt as string | undefined, flags);
  });
  toService('reject <run> [interrupt]', 'Rejects a tool call.', (command) =>
    comment(command.option('--feedback <text>', 'feedback for the agent')),
  )(async ([run, interrupt], flags: RejectionFlags) => {
    const { reject } = await import('./commands/answer-commands.js');
    return (service) => reject(service, terminal, run as string, interrupt as string | undefined, flags);
  });
  toService('delegate <run> [interrupt]', 'Hands the decision about a tool call to another person.', (command) =>
    comment(command.requiredOption('--to <name>', 'name of the person who decides from now on', filled('--to'))),
  )(async ([run, interrupt], flags: DelegationFlags) => {
    const { delegate } = await import('./commands/answer-commands.js');
    return (service) => delegate(service, terminal, run as string, interrupt as string | undefined, flags);
  });
  toService('answer <run> <interrupt> <json>', 'Answers a question of a run.', (command) => who(command, 'your name'))(
    async ([run, interrupt, text], flags: DecisionFlags) => {
      const { answer } = await import('./commands/answer-commands.js');
      return (service) => answer(service, terminal, run as string, interrupt as string, text as string, flags);
    },
  );
}

function who(command: Command, what: string): Command {
  return command
    .option('--by <name>', what, filled('--by'))
    .option('--role <role>', 'a role of the name; repeatable', several(filled('--role')))
    .option('--no-follow', 'do not follow the run');
}
