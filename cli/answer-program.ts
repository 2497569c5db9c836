import type { Command } from 'commander';
import type { ApprovalFlags, DecisionFlags, DelegationFlags, RejectionFlags } from './commands/answer-commands';
import { by, filled, noFollow, role, several } from './option-values';
import type { ToService } from './service-command';
import type { Terminal } from './terminal';

type Asked = readonly [id: string, interruptId?: string];

export function addAnswerCommands(toService: ToService, terminal: Terminal): void {
  const load = () => import('./commands/answer-commands.js');
  const who = (command: Command): Command =>
    command
      .option(...by)
      .option(...role)
      .option(...noFollow);
  const comment = (command: Command): Command => who(command.option('--comment <text>', 'reason, for the log', filled('--comment')));
  toService('approve <run> [interrupt]', 'Approves a tool call.', (command) =>
    comment(
      command
        .option('--edit <json>', 'changed arguments')
        .option('--set <name=value>', 'one changed argument, for example amount=40; repeatable', several())
        .option('--for-rest', 'also approve all calls of the tool in the rest of the run')
        .option('--up-to <amount>', 'also approve all calls of the tool up to the amount, if the policy has amounts', filled('--up-to')),
    ),
  )(async (service, [id, interruptId]: Asked, flags: ApprovalFlags) =>
    (await load()).approve({ service, terminal, id, interruptId }, flags),
  );
  toService('reject <run> [interrupt]', 'Rejects a tool call.', (command) =>
    comment(command.option('--feedback <text>', 'feedback for the agent')),
  )(async (service, [id, interruptId]: Asked, flags: RejectionFlags) =>
    (await load()).reject({ service, terminal, id, interruptId }, flags),
  );
  toService('delegate <run> [interrupt]', 'Hands the decision about a tool call to another person.', (command) =>
    comment(command.requiredOption('--to <name>', 'name of the person who decides from now on', filled('--to'))),
  )(async (service, [id, interruptId]: Asked, flags: DelegationFlags) =>
    (await load()).delegate({ service, terminal, id, interruptId }, flags),
  );
  toService(
    'answer <run> <interrupt> <json>',
    'Answers a question of a run.',
    who,
  )(async (service, [id, interruptId, text]: readonly [string, string, string], flags: DecisionFlags) =>
    (await load()).answer({ service, terminal, id, interruptId }, text, flags),
  );
}
