import type { Hono } from 'hono';
import type { z } from 'zod';
import type { Conversation, ConversationOptions, Part, Run } from '../../client/index';
import { notOne, unknownConversation } from '../../client/conversations/conversation';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { ShownConversation } from '../../contract/service';
import type { ServiceParts } from '../parts';
import { askedAgent, refuseUntakenTools } from './asked-agent';
import type { Operation } from './routes';
import { Routes, done, ok } from './routes';
import { ByWhom, ChangeBody, EndBody, MessageBody, PageQuery, TitleBody } from './schemas';

/** Shorter than the deadline of requests, as a turn can work for hours before the next turn takes a message. */
const wait = '20s';

/** Conversations also have the routes of runs. */
export function conversationRoutes(parts: ServiceParts): Hono {
  const { client } = parts;
  const open = (id: string): Conversation => client.conversation(undefined, id);

  const say: Operation<z.infer<typeof MessageBody>, unknown, 'Receipt'> = {
    summary: 'Says something. With an agent it begins the conversation.',
    body: MessageBody,
    answers: { ...ok('Receipt', 'The turn in which it takes effect.'), 202: { says: 'It waits for its turn.', name: 'Receipt' } },
  };
  return new Routes('Conversations')
    .add('POST /:id/messages', say, async ({ id: conversationId, body, context }) => {
      const { agent, message, id, mode, by, tools, ...start } = body;
      if (agent !== undefined && tools !== undefined) refuseUntakenTools(askedAgent(parts, agent, undefined), tools.map(defined));
      const conversation = begin(parts, conversationId, agent, defined(start));
      const receipt = await conversation.send(message as string | readonly Part[], {
        wait,
        ...defined({ id, mode, by, tools: tools?.map(defined) }),
      });
      return context.json(receipt, receipt.turn === undefined ? 202 : 200);
    })
    .add('GET /:id', { summary: 'Shows how a conversation stands.', answers: ok('Conversation', 'How it stands.') }, ({ id }) =>
      shownConversation(client.run(id)),
    )
    .add(
      'GET /:id/transcript',
      { summary: 'Reads a page of messages, the last page first.', query: PageQuery, answers: ok('TranscriptPage', 'A page.') },
      ({ id, query }) => open(id).transcript(defined(query)),
    )
    .add('GET /:id/queue', { summary: 'Lists the messages that wait for a turn.', answers: ok('Queue', 'The queue.') }, async ({ id }) => ({
      messages: await open(id).queue(),
    }))
    .add(
      'PATCH /:id/queue/:message',
      { summary: 'Changes a message that waits.', body: ChangeBody, answers: done },
      async ({ id, message, body }) => {
        await open(id).change(message, body.message as string | readonly Part[], defined({ by: body.by }));
        return { id: message };
      },
    )
    .add(
      'DELETE /:id/queue/:message',
      { summary: 'Takes back a message that waits.', query: ByWhom, answers: done },
      async ({ id, message, query }) => {
        await open(id).withdraw(message, defined(query));
        return { id: message };
      },
    )
    .change('title', 'Sets the title.', TitleBody, (id, { title, by }) => open(id).rename(title, defined({ by })))
    .change('pause', 'Lets no turn begin.', ByWhom, (id, body) => open(id).pause(defined(body)))
    .change('unpause', 'Lets turns begin again.', ByWhom, (id, body) => open(id).unpause(defined(body)))
    .change('stop', 'Stops the turn at work.', ByWhom, (id, body) => open(id).stop(defined(body)))
    .change('end', 'Ends a conversation.', EndBody, (id, body) => open(id).end(defined(body))).app;
}

/** Only a message that names an agent begins a conversation. */
function begin(parts: ServiceParts, id: string, agent: string | undefined, start: object): Conversation {
  const [option] = Object.keys(start);
  if (agent !== undefined) {
    askedAgent(parts, agent, (start as ConversationOptions).options);
    return parts.client.conversation(agent, id, start);
  }
  if (option === undefined) return parts.client.conversation(undefined, id);
  throw new HoldfastError('request-invalid', `"${option}" says how a conversation begins. Name its agent as well.`);
}

async function shownConversation(run: Run): Promise<ShownConversation> {
  const { id, agent, nextOffset, usage, interrupts, conversation } = await run.view().catch((error: unknown) => {
    throw unknownConversation(run.id, error);
  });
  if (conversation === undefined) throw notOne(id);
  return { id, agent, ...conversation, interrupts, usage, nextOffset };
}
