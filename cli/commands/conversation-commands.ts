import { randomBytes } from 'node:crypto';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import { attend } from '../attend-run';
import { contentOf } from '../event-line';
import { reportFailure } from '../report-error';
import type { SendMode } from '../../contract/conversations';
import type { FoundService } from '../found-service';
import { commandLine } from '../../contract/shell-words';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import { oneLine, type Terminal } from '../terminal';

export interface ByFlag {
  readonly by?: string;
}
export type EndFlags = ByFlag & { readonly now?: boolean };
export type SendFlags = ByFlag & { readonly agent?: string; readonly mode?: SendMode; readonly id?: string; readonly follow: boolean };

const shownBefore = 10;
const longestMessage = 80;

const sayAgain: readonly unknown[] = ['conversation-full', 'input-invalid', 'input-too-large'];

export async function chat(service: FoundService, terminal: Terminal, asked: ByFlag & { agent: string; id?: string }): Promise<number> {
  const { agent, id = `chat-${randomBytes(4).toString('hex')}`, by } = asked;
  if (!terminal.interactive)
    throw new HoldfastError(
      'command-invalid',
      `\`chat\` asks at a terminal, and there is none. Use: ${commandLine('send', id, 'your message', '--agent', agent, ...service.flags)}`,
    );
  const who = by === undefined ? [] : ['--by', by];
  let from = asked.id === undefined ? 0 : await showBefore(service, terminal, id);
  terminal.write(terminal.paint.dim(`Ctrl-C leaves. The conversation stays: ${commandLine('chat', agent, id, ...who, ...service.flags)}`));
  for (;;) {
    const text = await terminal.ask('> ');
    if (typeof text !== 'string') return exitCodes.done;
    if (text.trim() === '') continue;
    try {
      const said = await service.send(id, { agent, message: text, ...defined({ by }) });
      if (said.turn === undefined) return stored(terminal);
      const {
        exitCode,
        status,
        from: next,
      } = await attend(service, terminal, { id, from, turn: said.turn, said: said.id, ...defined({ by }) });
      from = next;
      if (isEnded(status) || exitCode === exitCodes.waiting) return exitCode;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !sayAgain.includes(code)) throw error;
      reportFailure({ code, message: messageOf(error) }, terminal);
    }
  }
}

async function showBefore(service: FoundService, terminal: Terminal, id: string): Promise<number> {
  const from = await nextOffset(service, id, true);
  if (from === 0) return 0;
  const { messages, before } = await service.messages(id, { limit: shownBefore });
  if (before !== undefined) terminal.write(terminal.paint.dim('…'));
  for (const { message, by: who } of messages) {
    if (message.role === 'tool') continue;
    const text = message.role === 'user' ? textOf(message) : contentOf(message);
    const mark = message.role === 'user' ? `${terminal.paint.dim('>')} ${who === undefined ? '' : `${oneLine(who)}: `}` : '';
    terminal.writeText(`${mark}${text}`);
  }
  return from;
}

/** Returns 0 for a conversation that may begin now. */
async function nextOffset(service: FoundService, id: string, mayBegin: boolean): Promise<number> {
  try {
    return (await service.conversation(id)).nextOffset;
  } catch (error) {
    if (mayBegin && codeOf(error) === 'run-unknown') return 0;
    throw error;
  }
}

export async function send(
  service: FoundService,
  terminal: Terminal,
  id: string,
  { text, agent, mode, id: messageId, by, follow }: SendFlags & { readonly text: string },
): Promise<number> {
  const from = await nextOffset(service, id, agent !== undefined).catch((error: unknown) => {
    if (codeOf(error) !== 'run-unknown') throw error;
    const begin = commandLine('send', id, text, '--agent', 'NAME', ...service.flags);
    throw new HoldfastError('run-unknown', `There is no conversation "${id}". To begin it, name its agent: ${begin}`, { cause: error });
  });
  const said = await service.send(id, { message: text, ...defined({ agent, mode, id: messageId, by }) });
  if (said.turn === undefined) return stored(terminal);
  terminal.write(terminal.paint.dim(`for turn ${said.turn} of ${id}`));
  if (!follow) return exitCodes.done;
  return (await attend(service, terminal, { id, from, turn: said.turn, said: said.id, ...defined({ by }) })).exitCode;
}

function stored(terminal: Terminal): number {
  terminal.write('The message is stored. A turn takes it as soon as a worker can.');
  return exitCodes.waiting;
}

export async function queue(service: FoundService, terminal: Terminal, id: string, { json }: JsonFlag): Promise<number> {
  const conversation = await service.conversation(id);
  if (json === true) return writeJson(terminal, { messages: conversation.queue });
  const rows = conversation.queue.map(({ id: messageId, by: who, mode, message }) => [
    messageId,
    who ?? '-',
    mode,
    oneLine(contentOf(message), longestMessage),
  ]);
  if (rows.length === 0) return told(terminal, 'No message waits for a turn.');
  writeTable(terminal, rows, ['MESSAGE', 'BY', 'MODE', 'TEXT']);
  return exitCodes.done;
}

type Change<Flags = ByFlag> = (service: FoundService, terminal: Terminal, id: string, flags: Flags) => Promise<number>;

export const withdraw: Change<ByFlag & { readonly message: string }> = async (service, terminal, id, { message, by }) => {
  await service.withdraw(id, message, by);
  return told(terminal, `The message ${message} is taken back.`);
};

export const pause: Change = async (service, terminal, id, { by }) => {
  await service.pause(id, by);
  return told(terminal, `The conversation ${id} is paused.`);
};

export const unpause: Change = async (service, terminal, id, { by }) => {
  await service.unpause(id, by);
  return told(terminal, `The conversation ${id} goes on.`);
};

export const rename: Change<ByFlag & { readonly title: string }> = async (service, terminal, id, { title, by }) => {
  await service.rename(id, title, by);
  return told(terminal, `The conversation ${id} has another title.`);
};

export const end: Change<EndFlags> = async (service, terminal, id, { now, by }) => {
  await service.end(id, { ...(now === true ? { mode: 'now' } : {}), ...defined({ by }) });
  return told(terminal, `The conversation ${id} takes no message any more.`);
};
