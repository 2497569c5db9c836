import type { Hono } from 'hono';
import type { z } from 'zod';
import type { Conversation, ConversationOptions, HoldfastClient, Part, Run } from '../../client/index';
import { notOne, unknownConversation } from '../../client/conversations/conversation';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { ShownConversation } from '../../contract/service';
import type { AppParts } from '../parts';
import { askedAgent, refuseUntakenTools } from './asked-agent';
import type { Operation, RouteAsked } from './routes';
import { Routes, done, ok } from './routes';
import { ByWhom, ChangeBody, EndBody, MessageBody, PageQuery, TitleBody } from './schemas';

/** Shorter than the deadline of requests, as a turn can work for hours before the next turn takes a message. */
const wait = '20s';

/** Conversations also have the routes of runs. */
export function conversationRoutes(parts: AppParts): Hono {
  const open = ({ client, id }: Pick<RouteAsked<'/:id'>, 'client' | 'id'>): Conversation => client.conversation(undefined, id);

  const say: Operation<z.infer<typeof MessageBody>, unknown, 'Receipt'> = {
    may: 'runs:start',
    summary: 'Says something. With an agent it begins the conversation.',
    body: MessageBody,
    answers: { ...ok('Receipt', 'The turn in which it takes effect.'), 202: { says: 'It waits for its turn.', name: 'Receipt' } },
  };
  return new Routes('Conversations')
    .add('POST /:id/messages', say, async ({ id: conversationId, body, context, client }) => {
      const { agent, message, id, mode, by, tools, ...start } = body;
      if (agent !== undefined && tools !== undefined) refuseUntakenTools(askedAgent(parts, agent, undefined), tools.map(defined));
      const conversation = begin({ parts, client }, conversationId, agent, defined(start));
      const receipt = await conversation.send(message as string | readonly Part[], {
        wait,
        ...defined({ id, mode, by, tools: tools?.map(defined) }),
      });
      return context.json(receipt, receipt.turn === undefined ? 202 : 200);
    })
    .add(
      'GET /:id',
      { may: 'runs:read', summary: 'Shows how a conversation stands.', answers: ok('Conversation', 'How it stands.') },
      ({ id, client }) => shownConversation(client.run(id)),
    )
    .add(
      'GET /:id/transcript',
      {
        may: 'runs:read',
        summary: 'Reads a page of messages, the last page first.',
        query: PageQuery,
        answers: ok('TranscriptPage', 'A page.'),
      },
      ({ query, ...asked }) => open(asked).transcript(defined(query)),
    )
    .add(
      'GET /:id/queue',
      { may: 'runs:read', summary: 'Lists the messages that wait for a turn.', answers: ok('Queue', 'The queue.') },
      async (asked) => ({
        messages: await open(asked).queue(),
      }),
    )
    .add(
      'PATCH /:id/queue/:message',
      { may: 'runs:start', summary: 'Changes a message that waits.', body: ChangeBody, answers: done },
      async ({ message, body, ...asked }) => {
        await open(asked).change(message, body.message as string | readonly Part[], defined({ by: body.by }));
        return { id: message };
      },
    )
    .add(
      'DELETE /:id/queue/:message',
      { may: 'runs:start', summary: 'Takes back a message that waits.', query: ByWhom, answers: done },
      async ({ message, query, ...asked }) => {
        await open(asked).withdraw(message, defined(query));
        return { id: message };
      },
    )
    .change('title', { may: 'runs:start', summary: 'Sets the title.', body: TitleBody }, ({ body: { title, by }, ...asked }) =>
      open(asked).rename(title, defined({ by })),
    )
    .change('pause', { may: 'runs:control', summary: 'Lets no turn begin.', body: ByWhom }, ({ body, ...asked }) =>
      open(asked).pause(defined(body)),
    )
    .change('unpause', { may: 'runs:control', summary: 'Lets turns begin again.', body: ByWhom }, ({ body, ...asked }) =>
      open(asked).unpause(defined(body)),
    )
    .change('stop', { may: 'runs:control', summary: 'Stops the turn at work.', body: ByWhom }, ({ body, ...asked }) =>
      open(asked).stop(defined(body)),
    )
    .change('end', { may: 'runs:control', summary: 'Ends a conversation.', body: EndBody }, ({ body, ...asked }) =>
      open(asked).end(defined(body)),
    ).app;
}

/** Only a message that names an agent begins a conversation. */
function begin(
  { parts, client }: { readonly parts: AppParts; readonly client: HoldfastClient },
  id: string,
  agent: string | undefined,
  start: object,
): Conversation {
  const [option] = Object.keys(start);
  if (agent !== undefined) {
    askedAgent(parts, agent, (start as ConversationOptions).options);
    return client.conversation(agent, id, start);
  }
  if (option === undefined) return client.conversation(undefined, id);
  throw new HoldfastError('request-invalid', `"${option}" says how a conversation begins. Name its agent as well.`);
}

async function shownConversation(run: Run): Promise<ShownConversation> {
  const { id, agent, nextOffset, usage, interrupts, conversation } = await run.view().catch((error: unknown) => {
    throw unknownConversation(run.id, error);
  });
  if (conversation === undefined) throw notOne(id);
  return { id, agent, ...conversation, interrupts, usage, nextOffset };
}
