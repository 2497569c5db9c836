import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { agentsIn, askedAgent, refuseUntakenTools } from '../http/asked-agent';
import type { HoldfastClient } from '../../client/index';
import type { Entered } from '../access/gate';
import type { AppParts } from '../parts';
import { frameStream } from '../http/event-stream';
import { parse } from '../http/parse-request';
import type { Operation } from '../http/routes';
import { keptTimeout } from '../kept-timeout';
import { Routes, events, ok } from '../http/routes';
import { unless } from '../projection/answers';
import { threadOf } from '../projection/thread';
import { carryOut } from './carry-out';
import { openAiError } from './error-form';
import { isNumberBefore } from './frame-numbers';
import { inputItemsOf } from './input-items';
import type { ResponseReading } from './read-response';
import { endedResponse, isAtWork, logOfResponse, responseNow, streamResponse } from './read-response';
import { CreateBody, StreamQuery, toolsIn } from './request';
import { refOf, responseIdOf, unknownResponse } from './response-id';
import { ResponseSegment } from './segment';
import type { ResponseEvent } from './types';

/** Clients without `previous_response_id` send all messages. */
const bodyLimit = 8 * 1024 * 1024;
const stopMs = 10_000;

const KeyHeader = z.string().min(1).max(255).optional();

interface Found {
  readonly reading: ResponseReading;
  readonly view: RunView;
}

/** The Responses API of OpenAI: a model is an agent, a response is a piece of a conversation. */
export function responseRoutes(parts: AppParts): Hono {
  const { logger, closing } = parts;

  const stream = (isKnown: Entered['isKnown'], reading: Omit<ResponseReading, 'signal'>): Response =>
    frameStream((signal) => streamResponse({ ...reading, signal }), { ...parts, isKnown, frameOf });

  const find = async (client: HoldfastClient, id: string): Promise<Found> => {
    const ref = refOf(id);
    const view = await client
      .run(ref.conversation)
      .view()
      .catch((error: unknown) => {
        throw codeOf(error) === 'run-unknown' ? unknownResponse(id) : error;
      });
    if (view.conversation === undefined) throw unknownResponse(id);
    const thread = threadOf(client, view.agent, ref.conversation);
    return { view, reading: { thread, ref, model: view.agent, signal: closing } };
  };

  const create: Operation<CreateBody, unknown, 'Protocol'> = {
    may: 'runs:read',
    summary: 'OpenAI: says something, or answers, and begins a response.',
    body: CreateBody,
    bodyLimit,
    headers: { 'Idempotency-Key': 'The same request under the same key is one response.' },
    answers: orEvents('A response, or its events with `stream`.'),
  };
  const read: Operation<unknown, z.infer<typeof StreamQuery>, 'Protocol'> = {
    may: 'runs:read',
    summary: 'OpenAI: reads a response, or follows it with `stream`.',
    query: StreamQuery,
    answers: orEvents('A response, or its events.'),
  };
  const told = (summary: string, says: string) => ({ may: 'runs:read', summary, anyQuery: true, answers: ok('Protocol', says) }) as const;

  const routes = new Routes('Protocols');
  routes.app.onError((error, context) => openAiError(error, context, logger));
  return routes
    .add('GET /models', told('OpenAI: the agents as models.', 'A list.'), () => ({ object: 'list', data: agentsIn(parts).map(modelOf) }))
    .add('GET /models/:model', told('OpenAI: an agent as a model.', 'A model.'), ({ model }) =>
      modelOf(askedAgent(parts, model, undefined)),
    )
    .add('POST /responses', create, async ({ body, context, client, isKnown }) => {
      client.author(defined({ by: body.by, roles: body.roles }));
      const agent = askedAgent(parts, body.model, undefined);
      const { name: model } = agent;
      refuseUntakenTools(agent, toolsIn(body));
      const key =
        parse(KeyHeader, context.req.header('idempotency-key'), 'The header Idempotency-Key') ?? (body.metadata?.['run_id'] || undefined);
      const reading = { ...(await carryOut(client, body, key, closing)), model };
      if (body.stream === true) return stream(isKnown, reading);
      if (body.background === true) return new ResponseSegment(reading.ref, model, reading.facts).response;
      return endedResponse({ ...reading, signal: AbortSignal.any([closing, context.req.raw.signal]) });
    })
    .add('GET /responses/:id', read, async ({ id, query, client, isKnown }) => {
      const { stream: isStream, starting_after: after } = query;
      const { reading, view } = await find(client, id);
      if (after !== undefined && !isNumberBefore(after, view.nextOffset))
        throw new HoldfastError('request-invalid', `\`starting_after\` is ${after}, which no event of this response has.`);
      const now = await responseNow(reading, view);
      if (isStream !== 'true') return now;
      const facts = { metadata: now.metadata, createdAt: now.created_at, ...defined({ previous: now.previous_response_id ?? undefined }) };
      return stream(isKnown, { ...reading, facts, ...defined({ after }) });
    })
    .add('GET /responses/:id/input_items', told('OpenAI: what a response answers to.', 'A list of items.'), async ({ id, client }) => {
      const { reading, view } = await find(client, id);
      const data = inputItemsOf(reading.ref, await logOfResponse(reading, view));
      const [first_id, last_id] = [data[0], data.at(-1)].map((item) => (item as { id?: string } | undefined)?.id ?? null);
      return { object: 'list', data, first_id, last_id, has_more: false };
    })
    .add(
      'POST /responses/:id/cancel',
      { ...told('OpenAI: stops a response.', 'The response.'), may: 'runs:control' },
      async ({ id, context, client }) => {
        refusePages(context);
        const { reading, view } = await find(client, id);
        const { status } = await responseNow(reading, view);
        // A turn may have taken the message, or ended by itself.
        if (status === 'queued') await reading.thread.withdraw(reading.ref.message).catch(unless('message-unknown'));
        if (await isAtWork(reading)) {
          await reading.thread.stop().catch(unless('turn-unknown'));
          await endedResponse({ ...reading, signal: AbortSignal.any([closing, keptTimeout(stopMs)]) }).catch(() => undefined);
        }
        return responseNow(reading);
      },
    )
    .add('DELETE /responses/:id', { may: 'runs:control', summary: 'OpenAI: is refused.', answers: {} }, ({ id: asked }) => {
      const id = responseIdOf(refOf(asked));
      throw new HoldfastError('request-unsupported', `"${id}" cannot be deleted alone: it is a part of the log of its conversation.`);
    }).app;
}

function orEvents(says: string): Operation<unknown, unknown, 'Protocol'>['answers'] {
  return { 200: { says, name: 'Protocol', type: events } };
}

/** A page of another site can send other types, or no body, without a preflight request. */
function refusePages(context: Context): void {
  const contentType = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (contentType === 'application/json' || (contentType === undefined && context.req.header('origin') === undefined)) return;
  throw new HoldfastError('request-invalid', 'A page must cancel with the content type application/json.');
}

function modelOf({ name }: { readonly name: string }): object {
  return { id: name, object: 'model', created: 0, owned_by: 'holdfast' };
}

function frameOf(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
