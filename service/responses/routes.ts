import type { Context } from 'hono';
import { Hono } from 'hono';
import { z } from 'zod';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { agentsIn, askedAgent, refuseUntakenTools } from '../http/asked-agent';
import type { ServiceParts } from '../http/app';
import { frameStream } from '../http/event-stream';
import { parse, parseBody } from '../http/parse-request';
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

/** Clients without `previous_response_id` send all that was said. */
const bodyLimit = 8 * 1024 * 1024;
/** How long a turn that was told to stop may take until its response is shown as it is. */
const stopMs = 10_000;

const KeyHeader = z.string().min(1).max(255).optional();

interface Found {
  readonly reading: ResponseReading;
  readonly view: RunView;
}

/** The Responses API of OpenAI: a model is an agent, and a response a piece of a conversation with it. */
export function responseRoutes(parts: ServiceParts): Hono {
  const { client, logger, closing = new AbortController().signal, heartbeatMs = 15_000 } = parts;

  const stream = (reading: Omit<ResponseReading, 'signal'>): Response =>
    frameStream((signal) => streamResponse({ ...reading, signal }), { heartbeatMs, closing, logger, frameOf });

  const find = async (context: Context): Promise<Found> => {
    const id = context.req.param('id') ?? '';
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

  const routes = new Hono();
  routes.onError((error, context) => openAiError(error, context, logger));

  routes.get('/models', (context) => context.json({ object: 'list', data: agentsIn(parts).map(modelOf) }));
  routes.get('/models/:model', (context) => context.json(modelOf(askedAgent(parts, context.req.param('model'), undefined))));

  routes.post('/responses', async (context) => {
    const body = await parseBody(context, CreateBody, bodyLimit);
    const agent = askedAgent(parts, body.model, undefined);
    const { name: model } = agent;
    refuseUntakenTools(agent, toolsIn(body));
    const key =
      parse(KeyHeader, context.req.header('idempotency-key'), 'The header Idempotency-Key') ?? (body.metadata?.['run_id'] || undefined);
    const reading = { ...(await carryOut(client, body, key, closing)), model };
    if (body.stream === true) return stream(reading);
    if (body.background === true) return context.json(new ResponseSegment(reading.ref, model, reading.facts).response);
    return context.json(await endedResponse({ ...reading, signal: AbortSignal.any([closing, context.req.raw.signal]) }));
  });

  routes.get('/responses/:id', async (context) => {
    const { stream: isStream, starting_after: after } = parse(StreamQuery, context.req.query(), 'The query');
    const { reading, view } = await find(context);
    if (after !== undefined && !isNumberBefore(after, view.nextOffset))
      throw new HoldfastError('request-invalid', `\`starting_after\` is ${after}, which no event of this response has.`);
    const now = await responseNow(reading, view);
    if (isStream !== 'true') return context.json(now);
    const facts = { metadata: now.metadata, createdAt: now.created_at, ...defined({ previous: now.previous_response_id ?? undefined }) };
    return stream({ ...reading, facts, ...defined({ after }) });
  });

  routes.get('/responses/:id/input_items', async (context) => {
    const { reading, view } = await find(context);
    const data = inputItemsOf(reading.ref, await logOfResponse(reading, view));
    const [first_id, last_id] = [data[0], data.at(-1)].map((item) => (item as { id?: string } | undefined)?.id ?? null);
    return context.json({ object: 'list', data, first_id, last_id, has_more: false });
  });

  routes.post('/responses/:id/cancel', async (context) => {
    refusePages(context);
    const { reading, view } = await find(context);
    const { status } = await responseNow(reading, view);
    if (status === 'queued') await client.conversation(undefined, reading.thread.id).withdraw(reading.ref.message).catch(unlessTaken);
    if (await isAtWork(reading)) {
      await reading.thread.stop().catch(unlessOver);
      await endedResponse({ ...reading, signal: AbortSignal.any([closing, AbortSignal.timeout(stopMs)]) }).catch(() => undefined);
    }
    return context.json(await responseNow(reading));
  });

  routes.delete('/responses/:id', (context) => {
    const id = responseIdOf(refOf(context.req.param('id')));
    throw new HoldfastError('request-unsupported', `"${id}" cannot be deleted alone: it is a part of the log of its conversation.`);
  });
  return routes;
}

/** A page of another site can send other types, or no body, without being asked first. Its browser says from where it comes. */
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

/** The turn has ended by itself. */
function unlessOver(error: unknown): void {
  if (codeOf(error) !== 'turn-unknown') throw error;
}

/** A turn has taken the message meanwhile. */
function unlessTaken(error: unknown): void {
  if (codeOf(error) !== 'message-unknown') throw error;
}
