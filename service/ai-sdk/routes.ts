import type { Hono } from 'hono';
import type { HoldfastClient } from '../../client/index';
import type { ConversationOptions } from '../../client/conversations/conversation-options';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { isRunId } from '../../contract/names';
import type { Answerer } from '../../contract/who-may-answer';
import type { AppParts } from '../parts';
import type { RouteAsked } from '../http/routes';
import { Routes, events, ok } from '../http/routes';
import { ChatQuery, ReaderQuery } from '../http/schemas';
import { current } from '../http/current';
import { dataFrame, frameStream } from '../http/event-stream';
import { askedAgent } from '../http/asked-agent';
import type { Thread } from '../projection/thread';
import { threadOf } from '../projection/thread';
import { logBetween } from '../projection/thread-log';
import { carryOut } from './carry-out';
import { uiMessages } from './messages';
import type { UiPart, Shows } from './parts';
import { ChatBody } from './request';
import { showsTo } from './parts';
import type { ShownTurn } from './turn-stream';
import { turnStream } from './turn-stream';

/** Pages post all messages of a chat each time. */
const historyLimit = 8 * 1024 * 1024;

/** `useChat` with `api: '/aisdk/AGENT'`. A chat is a conversation, a message of the assistant is a turn. */
export function aiSdkRoutes(parts: AppParts): Hono {
  const { aiSdk, closing } = parts;
  const find = (client: HoldfastClient, agent: string, id: string, start: ConversationOptions = {}): Thread => {
    askedAgent(parts, agent, undefined);
    if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id for a chat.`);
    return threadOf(client, agent, id, start);
  };
  const showsIn = ({ client, context }: Pick<RouteAsked<'/'>, 'client' | 'context'>, chat: Thread, claimed: Answerer): Shows => {
    const { by, roles } = client.author(claimed);
    return showsTo(current(aiSdk) ?? {}, { agent: context.req.param('agent') ?? '', chat: chat.id, ...defined({ by, roles }) });
  };
  const stream = (
    { isKnown }: Pick<RouteAsked<'/'>, 'isKnown'>,
    chat: Thread,
    shown: ShownTurn,
    shows: Shows,
    until: ChatBody['until'],
  ): Response =>
    frameStream((signal) => partsFor(shows, turnStream(chat, shown, signal, until)), {
      ...parts,
      isKnown,
      frameOf: dataFrame,
      last: 'data: [DONE]\n\n',
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    });
  const streamed = { says: 'The message stream of AI SDK UI.', type: events };
  const again = {
    may: 'runs:read',
    summary: 'AI SDK UI: the turn at work again, or what came since.',
    query: ChatQuery,
    answers: { 200: streamed, 204: { says: 'No turn is at work, and nothing came since.' } },
  } as const;
  const say = {
    may: 'runs:read',
    summary: 'AI SDK UI: what a page says or answers.',
    body: ChatBody,
    bodyLimit: historyLimit,
    answers: { 200: streamed },
  } as const;
  return new Routes('Protocols')
    .add('POST /:agent', say, async ({ agent, body, ...asked }) => {
      const { values, tags, idle, deadline, by, roles } = body;
      const chat = find(asked.client, agent, body.id, defined({ values, tags, idle, deadline }));
      const shows = showsIn(asked, chat, defined({ by, roles }));
      return stream(asked, chat, await carryOut(chat, body, closing), shows, body.until);
    })
    .add('GET /:agent/:chat/stream', again, async ({ agent, chat: id, query, ...asked }) => {
      const { from = 0, until, by, role: roles } = query;
      const chat = find(asked.client, agent, id);
      const { conversation, nextOffset = 0 } = (await chat.view()) ?? {};
      const { turn, status, queue: [first] = [] } = conversation ?? { turn: 0 };
      const isNews = status === 'working' || (from > 0 && from < nextOffset);
      const begins = isNews ? await chat.turnOffset(turn) : undefined;
      const shows = showsIn(asked, chat, defined({ by, roles }));
      if (begins !== undefined)
        return stream(asked, chat, { turn, begins, ...(from > begins ? { from: Math.min(from, nextOffset) } : {}) }, shows, until);
      // The first turn has not begun.
      if (isNews && first !== undefined) return stream(asked, chat, { message: first.id, begins: 0 }, shows, until);
      return asked.context.body(null, 204);
    })
    .add(
      'GET /:agent/:chat/messages',
      {
        may: 'runs:read',
        summary: 'AI SDK UI: the messages of a chat.',
        query: ReaderQuery,
        answers: ok('ChatMessages', 'Messages of AI SDK UI.'),
      },
      async ({ agent, chat: id, query: { by, role: roles }, ...asked }) => {
        const chat = find(asked.client, agent, id);
        const log = await logBetween(chat, 0, (await chat.view())?.nextOffset ?? 0, closing);
        return { messages: uiMessages(id, log, showsIn(asked, chat, defined({ by, roles }))) };
      },
    ).app;
}

async function* partsFor(shows: Shows, parts: AsyncGenerator<UiPart, void, void>): AsyncGenerator<UiPart, void, void> {
  for await (const part of parts) {
    const shown = shows(part);
    if (shown !== undefined) yield shown;
  }
}
