import { Hono } from 'hono';
import { HoldfastError } from '../../contract/errors';
import { isRunId } from '../../contract/names';
import type { ServiceParts } from '../http/app';
import { parseBody, parseQuery } from '../http/parse-request';
import { NoQuery } from '../http/schemas';
import { dataFrame, frameStream } from '../http/event-stream';
import { askedAgent } from '../http/asked-agent';
import type { Thread } from '../projection/thread';
import { threadOf } from '../projection/thread';
import { carryOut } from './carry-out';
import { ChatBody } from './request';
import type { ShownTurn } from './turn-stream';
import { turnStream } from './turn-stream';

/** Pages post all that was said. Only the last message is read. */
const historyLimit = 8 * 1024 * 1024;

/** The message stream of AI SDK UI: `useChat` with `api: '/aisdk/AGENT'`. A chat is a conversation, and a message of the assistant is a turn. */
export function aiSdkRoutes(parts: ServiceParts): Hono {
  const { client, logger, closing = new AbortController().signal, heartbeatMs = 15_000 } = parts;
  const find = (agent: string, id: string): Thread => {
    askedAgent(parts, agent, undefined);
    if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id for a chat.`);
    return threadOf(client, agent, id);
  };
  const stream = (chat: Thread, shown: ShownTurn): Response =>
    frameStream((signal) => turnStream(chat, shown, signal), {
      heartbeatMs,
      closing,
      logger,
      frameOf: dataFrame,
      last: 'data: [DONE]\n\n',
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    });
  return new Hono()
    .post('/:agent', async (context) => {
      const body = await parseBody(context, ChatBody, historyLimit);
      const chat = find(context.req.param('agent'), body.id);
      return stream(chat, await carryOut(chat, body));
    })
    .get('/:agent/:chat/stream', async (context) => {
      parseQuery(context, NoQuery);
      const { agent, chat: id } = context.req.param();
      const chat = find(agent, id);
      const view = await chat.view();
      const turn = view?.conversation?.turn ?? 0;
      if (view?.conversation?.status !== 'working') return context.body(null, 204);
      const begins = await chat.turnOffset(turn);
      return begins === undefined ? context.body(null, 204) : stream(chat, { turn, begins });
    });
}
