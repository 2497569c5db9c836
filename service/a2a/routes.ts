import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import { shown } from '../../contract/shown';
import type { Logger } from '../../host/logger';
import type { JsonObject } from '../../contract/messages/messages';
import type { Entered } from '../access/gate';
import type { AppParts } from '../parts';
import { askedAgent } from '../http/asked-agent';
import { current } from '../http/current';
import { dataFrame, frameStream } from '../http/event-stream';
import { packageVersion } from '../http/package-version';
import { parseBody } from '../http/parse-request';
import { publicUrl } from '../http/public-url';
import type { RouteAsked } from '../http/routes';
import { Routes, events, ok } from '../http/routes';
import type { AgentSummary } from '../project/load-project';
import type { A2aErrorKind, RpcError } from './errors';
import { A2aError, asKind, rpcErrorOf } from './errors';
import { carryOut } from './methods';
import type { PushTarget } from '../outgoing/addresses';
import type { RpcRequest } from './request';
import { rpcIdOf, rpcRequestOf } from './request';
import type { A2aFrame } from './wire';
import { a2aVersion } from './wire';

interface RpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RpcRequest['id'];
  readonly result?: A2aFrame;
  readonly error?: RpcError;
}

/** A2A 1.0 over JSON-RPC: a card for each agent. */
export function a2aRoutes(parts: AppParts): Hono {
  const { logger, closing, patienceMs } = parts;
  const pushTo = (): readonly PushTarget[] => current(parts.pushTo) ?? [];

  const answer = async ({
    agent: asked,
    context,
    client,
    isKnown,
  }: Pick<RouteAsked<'/:agent'>, 'agent' | 'context' | keyof Entered>): Promise<Response> => {
    const { name: agent, inputSchema } = askedAgent(parts, asked, undefined);
    const over = new AbortController();
    let id: RpcRequest['id'] = null;
    try {
      const body = await orKind('PARSE_ERROR', () => parseBody(context, z.unknown()));
      id = rpcIdOf(body);
      const request = await orKind('INVALID_REQUEST', () => rpcRequestOf(body));
      checkVersion(context);
      const signal = AbortSignal.any([context.req.raw.signal, closing, over.signal]);
      const carried = await carryOut(request, { client, agent, signal, patienceMs, pushTo: pushTo(), ...defined({ inputSchema }) });
      if ('frames' in carried) {
        const { frames } = carried;
        return frameStream((gone) => responses({ id, frames, over }, gone, logger), { ...parts, isKnown, frameOf: dataFrame });
      }
      over.abort();
      return context.json({ jsonrpc: '2.0', id, result: carried.result });
    } catch (error) {
      over.abort();
      return context.json({ jsonrpc: '2.0', id, error: rpcErrorOf(error, logger) });
    }
  };

  const rpc = {
    may: 'runs:read',
    ownBody: z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), id: z.union([z.string(), z.number(), z.null()]).optional() }),
    headers: { 'A2A-Version': 'The version that the client speaks. Absent: 1.0.' },
    answers: { 200: { says: 'The result or the error, or a stream of both.', name: 'RpcResponse', type: events } },
  } as const;
  return new Routes('Protocols')
    .add(
      'GET /:agent/.well-known/agent-card.json',
      { may: 'runs:read', summary: 'A2A: the card of an agent.', answers: ok('Protocol', 'The card.') },
      ({ agent, context, client }) =>
        cardOf(askedAgent(parts, agent, undefined), {
          url: cardAddress(parts, context),
          pushNotifications: pushTo().length > 0,
          takesKeys: client.caller !== undefined,
        }),
    )
    .add('POST /:agent', { summary: 'A2A: every method.', ...rpc }, answer)
    .add('POST /:agent/', { summary: 'A2A: the same with a / at the end.', ...rpc }, answer).app;
}

interface CardFacts {
  readonly url: string;
  readonly pushNotifications: boolean;
  readonly takesKeys: boolean;
}

function cardOf(
  { name, description }: Pick<AgentSummary, 'name' | 'description'>,
  { url, pushNotifications, takesKeys }: CardFacts,
): JsonObject {
  const security = {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
  return {
    name,
    description,
    version: packageVersion(),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: a2aVersion }],
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [{ id: name, name, description, tags: [name] }],
    ...(takesKeys ? security : {}),
  };
}

/** Without a public URL, also below the path at which a program serves the app. */
function cardAddress(parts: AppParts, context: Context): string {
  const { pathname } = new URL(context.req.url);
  const path = pathname.slice(0, pathname.indexOf('/.well-known/'));
  return `${publicUrl(parts, context)}${parts.publicUrl === undefined ? path : path.slice(path.lastIndexOf('/a2a/'))}`;
}

async function orKind<T>(kind: A2aErrorKind, work: () => MaybePromise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asKind(kind, error);
  }
}

function checkVersion(context: Context): void {
  const version = context.req.header('a2a-version') ?? a2aVersion;
  if (version === a2aVersion || version.startsWith(`${a2aVersion}.`)) return;
  const message = `The service speaks A2A ${a2aVersion}, and not ${shown(version)}.`;
  throw new A2aError('VERSION_NOT_SUPPORTED', 'protocol-unsupported', message);
}

interface Streaming {
  readonly id: RpcRequest['id'];
  readonly frames: AsyncGenerator<A2aFrame, void, void>;
  readonly over: AbortController;
}

async function* responses({ id, frames, over }: Streaming, signal: AbortSignal, logger: Logger): AsyncGenerator<RpcResponse, void, void> {
  signal.addEventListener('abort', () => over.abort(), { once: true });
  try {
    for await (const result of frames) yield { jsonrpc: '2.0', id, result };
    if (signal.aborted) throw new HoldfastError('service-closing', 'The service closes. The task goes on.');
  } catch (error) {
    yield { jsonrpc: '2.0', id, error: rpcErrorOf(error, logger) };
  } finally {
    over.abort();
  }
}
