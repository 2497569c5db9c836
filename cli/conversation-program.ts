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
  toService('chat <agent> [id]', 'Talks to an agent, also in an existing conversation.', (command) => by(command, 'your name'))(
    async ([agent, id], flags: ChatFlags) => {
      const { chat } = await import('./commands/conversation-commands.js');
      return (service) => chat(service, terminal, { agent: agent as string, ...flags, ...(id === undefined ? {} : { id: id as string }) });
    },
  );
  toService('send <conversation> <text...>', 'Sends a message to a conversation, and shows the turn.', (command) =>
    by(
      command
        .option('--agent <agent>', 'agent of a new conversation', filled('--agent'))
        .option('--mode <mode>', `when the message takes effect: ${modes} (default: after-turn)`, filled('--mode'))
        .option('--id <id>', 'id of the message; a repeated id counts once', filled('--id')),
      'your name',
    ).option('--no-follow', 'do not follow the run'),
  )(async ([id, text], flags: SendFlags) => {
    const { send } = await import('./commands/conversation-commands.js');
    return (service) => send(service, terminal, id as string, (text as string[]).join(' '), flags);
  });
  toService('queue <conversation>', 'Lists the messages that wait for a turn.', (command) => command.option('--json', 'print JSON'))(
    async ([id], flags: QueueFlags) => {
      const { queue } = await import('./commands/conversation-commands.js');
      return (service) => queue(service, terminal, id as string, flags);
    },
  );
  toService('withdraw <conversation> <message>', 'Withdraws a waiting message.', (command) => by(command, 'your name'))(
    async ([id, message], flags: ByFlag) => {
      const { withdraw } = await import('./commands/conversation-commands.js');
      return (service) => withdraw(service, terminal, id as string, message as string, flags);
    },
  );
  for (const [name, description] of [
    ['pause', 'Pauses a conversation. Messages wait.'],
    ['unpause', 'Ends the pause of a conversation.'],
  ] as const)
    toService(`${name} <conversation>`, description, (command) => by(command, 'your name'))(async ([id], flags: ByFlag) => {
      const { change } = await import('./commands/conversation-commands.js');
      return (service) => change(service, terminal, id as string, name, flags);
    });
  toService('rename <conversation> <title...>', 'Sets the title of a conversation.', (command) => by(command, 'your name'))(
    async ([id, title], flags: ByFlag) => {
      const { rename } = await import('./commands/conversation-commands.js');
      return (service) => rename(service, terminal, id as string, (title as string[]).join(' '), flags);
    },
  );
  toService('end <conversation>', 'Ends a conversation after the turn at work.', (command) =>
    by(command.option('--now', 'also stop the turn at work'), 'your name'),
  )(async ([id], flags: EndFlags) => {
    const { end } = await import('./commands/conversation-commands.js');
    return (service) => end(service, terminal, id as string, flags);
  });
}
