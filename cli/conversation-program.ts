import { sendModes } from '../contract/conversations';
import { anyOf } from '../contract/shown';
import type { ByFlag, EndFlags, SendFlags } from './commands/conversation-commands';
import { by, filled, json, noFollow } from './option-values';
import type { JsonFlag } from './output';
import type { ToService } from './service-command';
import type { Terminal } from './terminal';

type Conversation = readonly [id: string];
type Titled = readonly [id: string, title: readonly string[]];

export function addConversationCommands(toService: ToService, terminal: Terminal): void {
  const load = () => import('./commands/conversation-commands.js');
  toService('chat <agent> [id]', 'Talks to an agent, also in an existing conversation.', (command) => command.option(...by))(
    async (service, [agent, id]: readonly [string, string?], flags: ByFlag) =>
      (await load()).chat(service, terminal, { agent, ...flags, ...(id === undefined ? {} : { id }) }),
  );
  toService('send <conversation> <text...>', 'Sends a message to a conversation, and shows the turn.', (command) =>
    command
      .option('--agent <agent>', 'agent of a new conversation', filled('--agent'))
      .option('--mode <mode>', `when the message takes effect: ${anyOf(sendModes)} (default: after-turn)`, filled('--mode'))
      .option('--id <id>', 'id of the message; a repeated id counts once', filled('--id'))
      .option(...by)
      .option(...noFollow),
  )(async (service, [id, text]: Titled, flags: SendFlags) =>
    (await load()).send(service, terminal, id, { text: text.join(' '), ...flags }),
  );
  toService('queue <conversation>', 'Lists the messages that wait for a turn.', (command) => command.option(...json))(
    async (service, [id]: Conversation, flags: JsonFlag) => (await load()).queue(service, terminal, id, flags),
  );
  toService('withdraw <conversation> <message>', 'Withdraws a waiting message.', (command) => command.option(...by))(
    async (service, [id, message]: readonly [string, string], flags: ByFlag) =>
      (await load()).withdraw(service, terminal, id, { message, ...flags }),
  );
  for (const [name, description] of [
    ['pause', 'Pauses a conversation. Messages wait.'],
    ['unpause', 'Ends the pause of a conversation.'],
  ] as const)
    toService(`${name} <conversation>`, description, (command) => command.option(...by))(
      async (service, [id]: Conversation, flags: ByFlag) => (await load())[name](service, terminal, id, flags),
    );
  toService('rename <conversation> <title...>', 'Sets the title of a conversation.', (command) => command.option(...by))(
    async (service, [id, title]: Titled, flags: ByFlag) =>
      (await load()).rename(service, terminal, id, { title: title.join(' '), ...flags }),
  );
  toService('end <conversation>', 'Ends a conversation after the turn at work.', (command) =>
    command.option('--now', 'also stop the turn at work').option(...by),
  )(async (service, [id]: Conversation, flags: EndFlags) => (await load()).end(service, terminal, id, flags));
}
