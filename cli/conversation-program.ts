import type { Command } from 'commander';
import { sendModes } from '../contract/conversations';
import { anyOf } from '../contract/shown';
import type { ToService } from './answer-program';
import type { ByFlag, ChatFlags, EndFlags, QueueFlags, SendFlags } from './commands/conversation-commands';
import { filled } from './option-values';
import type { Terminal } from './terminal';

const modes = anyOf(sendModes);

/** The commands with which people talk. */
export function addConversationCommands(toService: ToService, terminal: Terminal): void {
  const by = (command: Command, what: string): Command => command.option('--by <name>', what, filled('--by'));
  toService('chat <agent> [id]', 'Talks to an agent: type, and see the answer. The id of a conversation goes on with it.', (command) =>
    by(command, 'who says it, and decides'),
  )(async ([agent, id], flags: ChatFlags) => {
    const { chat } = await import('./commands/conversation-commands.js');
    return (service) => chat(service, terminal, { agent: agent as string, ...flags, ...(id === undefined ? {} : { id: id as string }) });
  });
  toService('send <conversation> <text...>', 'Says something in a conversation, and shows the turn that takes it.', (command) =>
    by(
      command
        .option('--agent <agent>', 'the agent, for a conversation that this may begin', filled('--agent'))
        .option('--mode <mode>', `where it takes effect: ${modes} (default: after-turn)`, filled('--mode'))
        .option('--id <id>', 'id of the message; sent again under the same id, it counts once', filled('--id')),
      'who says it, and decides',
    ).option('--no-follow', 'do not follow the run'),
  )(async ([id, text], flags: SendFlags) => {
    const { send } = await import('./commands/conversation-commands.js');
    return (service) => send(service, terminal, id as string, (text as string[]).join(' '), flags);
  });
  toService('queue <conversation>', 'Lists the messages that wait for a turn.', (command) =>
    command.option('--json', 'print what the service answers'),
  )(async ([id], flags: QueueFlags) => {
    const { queue } = await import('./commands/conversation-commands.js');
    return (service) => queue(service, terminal, id as string, flags);
  });
  toService('withdraw <conversation> <message>', 'Takes back a message that waits.', (command) => by(command, 'who asks'))(
    async ([id, message], flags: ByFlag) => {
      const { withdraw } = await import('./commands/conversation-commands.js');
      return (service) => withdraw(service, terminal, id as string, message as string, flags);
    },
  );
  for (const [name, description] of [
    ['pause', 'Lets no turn of a conversation begin. Messages wait.'],
    ['unpause', 'Lets turns of a conversation begin again.'],
  ] as const)
    toService(`${name} <conversation>`, description, (command) => by(command, 'who asks'))(async ([id], flags: ByFlag) => {
      const { change } = await import('./commands/conversation-commands.js');
      return (service) => change(service, terminal, id as string, name, flags);
    });
  toService('rename <conversation> <title...>', 'Sets the title of a conversation.', (command) => by(command, 'who asks'))(
    async ([id, title], flags: ByFlag) => {
      const { rename } = await import('./commands/conversation-commands.js');
      return (service) => rename(service, terminal, id as string, (title as string[]).join(' '), flags);
    },
  );
  toService('end <conversation>', 'Ends a conversation after the turn at work.', (command) =>
    by(command.option('--now', 'and stops that turn'), 'who asks'),
  )(async ([id], flags: EndFlags) => {
    const { end } = await import('./commands/conversation-commands.js');
    return (service) => end(service, terminal, id as string, flags);
  });
}
