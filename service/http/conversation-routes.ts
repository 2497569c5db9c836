import { Hono } from 'hono';
import type { Conversation, ConversationOptions, Part } from '../../client/index';
import { notOne, unknownConversation } from '../../client/conversation';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { ServiceParts } from './app';
import { askedAgent, refuseUntakenTools } from './asked-agent';
import { parseBody, parseQuery } from './parse-request';
import { ByBody, ByQuery, ChangeBody, EndBody, MessageBody, NoQuery, PageQuery, TitleBody } from './schemas';

/** Shorter than any request may take: a turn at work can go on for hours before it takes a message. */
const wait = '20s';

/** Writing to runs that stay open between turns, and reading them by page. As runs they have the routes of runs, too. */
export function conversationRoutes(parts: ServiceParts): Hono {
  const { client } = parts;
  const routes = new Hono();
  const open = (id: string): Conversation => client.conversation(undefined, id);

  /** One that nobody has started only a message with an agent starts. */
  const begin = (id: string, agent: string | undefined, start: object): Conversation => {
    const [option] = Object.keys(start);
    if (agent !== undefined) {
      askedAgent(parts, agent, (start as ConversationOptions).options);
      return client.conversation(agent, id, start);
    }
    if (option === undefined) return open(id);
    throw new HoldfastError('request-invalid', `"${option}" says how a conversation begins. Name its agent as well.`);
  };

  routes.post('/:id/messages', async (context) => {
    const { agent, message, id, mode, by, tools, ...start } = await parseBody(context, MessageBody);
    if (agent !== undefined && tools !== undefined) refuseUntakenTools(askedAgent(parts, agent, undefined), tools.map(defined));
    const conversation = begin(context.req.param('id'), agent, defined(start));
    const receipt = await conversation.send(message as string | readonly Part[], {
      wait,
      ...defined({ id, mode, by, tools: tools?.map(defined) }),
    });
    return context.json(receipt, receipt.turn === undefined ? 202 : 200);
  });

  routes.get('/:id', async (context) => {
    parseQuery(context, NoQuery);
    const run = client.run(context.req.param('id'));
    const { id, agent, nextOffset, usage, interrupts, conversation } = await run.view().catch((error: unknown) => {
      throw unknownConversation(run.id, error);
    });
    if (conversation === undefined) throw notOne(id);
    return context.json({ id, agent, ...conversation, interrupts, usage, nextOffset });
  });

  routes.get('/:id/transcript', async (context) => {
    const page = parseQuery(context, PageQuery);
    return context.json(await open(context.req.param('id')).transcript(defined(page)));
  });

  routes.get('/:id/queue', async (context) => {
    parseQuery(context, NoQuery);
    return context.json({ messages: await open(context.req.param('id')).queue() });
  });

  routes.patch('/:id/queue/:message', async (context) => {
    const { message, by } = await parseBody(context, ChangeBody);
    const { id, message: messageId } = context.req.param();
    await open(id).change(messageId, message as string | readonly Part[], defined({ by }));
    return context.json({ id: messageId });
  });

  routes.delete('/:id/queue/:message', async (context) => {
    const { id, message } = context.req.param();
    await open(id).withdraw(message, defined(parseQuery(context, ByQuery)));
    return context.json({ id: message });
  });

  routes.post('/:id/title', async (context) => {
    const { title, by } = await parseBody(context, TitleBody);
    const conversation = open(context.req.param('id'));
    await conversation.rename(title, defined({ by }));
    return context.json({ id: conversation.id });
  });

  routes.post('/:id/pause', async (context) => {
    const conversation = open(context.req.param('id'));
    await conversation.pause(defined(await parseBody(context, ByBody)));
    return context.json({ id: conversation.id });
  });

  routes.post('/:id/unpause', async (context) => {
    const conversation = open(context.req.param('id'));
    await conversation.unpause(defined(await parseBody(context, ByBody)));
    return context.json({ id: conversation.id });
  });

  routes.post('/:id/stop', async (context) => {
    const conversation = open(context.req.param('id'));
    await conversation.stop(defined(await parseBody(context, ByBody)));
    return context.json({ id: conversation.id });
  });

  routes.post('/:id/end', async (context) => {
    const conversation = open(context.req.param('id'));
    await conversation.end(defined(await parseBody(context, EndBody)));
    return context.json({ id: conversation.id });
  });
  return routes;
}
