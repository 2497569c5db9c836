import type { Hono } from 'hono';
import { z } from 'zod';
import type { Issuer } from '../access/parts';
import type { AppParts } from '../parts';
import { parseBody } from '../http/parse-request';
import type { RouteAsked } from '../http/routes';
import { keptTimeout } from '../kept-timeout';
import { Routes, events, ok } from '../http/routes';
import { storedSecret } from '../store/stored-secret';
import { loadSdk } from './sdk';
import { answerMcp } from './server';

const longestMs = 50_000;
/** The SDK checks the rest. */
const Message = z.looseObject({ jsonrpc: z.literal('2.0') });

/** The Model Context Protocol: agents are tools, and runs are tasks. `issuers`: of the tokens that the service takes. */
export function mcpRoutes(parts: AppParts, issuers: readonly Issuer[]): Hono {
  const { store, closing } = parts;
  const answer = async ({ context, client }: Pick<RouteAsked<'/mcp'>, 'context' | 'client'>, body?: unknown): Promise<Response> => {
    const request = context.req.raw;
    let secret: Promise<Buffer> | undefined;
    return answerMcp(request, body, {
      sdk: await loadSdk(),
      parts,
      client,
      signal: AbortSignal.any([request.signal, closing, keptTimeout(longestMs)]),
      secret: () => (secret ??= storedSecret(store, 'mcp/secret')),
    });
  };
  const rpc = {
    may: 'runs:read',
    summary: 'MCP: every method.',
    ownBody: z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), id: z.union([z.string(), z.number()]).optional() }),
    headers: { 'MCP-Protocol-Version': 'The version that the client speaks.' },
    answers: { 200: { says: 'The result or the error, or a stream of both.', name: 'RpcResponse', type: events } },
  } as const;
  const refused = { may: 'runs:read', summary: 'MCP: is refused, because no request has a session.', anyQuery: true, answers: {} } as const;
  const routes = new Routes('Protocols');
  addMetadata(routes, parts, issuers);
  return routes
    .add('POST /mcp', rpc, async (asked) => answer(asked, await parseBody(asked.context, Message)))
    .add('GET /mcp', refused, (asked) => answer(asked))
    .add('DELETE /mcp', refused, (asked) => answer(asked)).app;
}

function addMetadata(routes: Routes, { publicUrl }: Pick<AppParts, 'publicUrl'>, issuers: readonly Issuer[]): void {
  const servers = issuers.filter(({ audience }) => audience !== undefined).map(({ issuer }) => issuer);
  if (publicUrl === undefined || servers.length === 0) return;
  const base = publicUrl.replace(/\/+$/, '');
  routes.app.use('/mcp', async (context, next) => {
    await next();
    if (context.res.status !== 401) return;
    context.res.headers.set('www-authenticate', `Bearer realm="holdfast", resource_metadata="${base}${metadataPath}"`);
  });
  const metadata = {
    resource: `${base}/mcp`,
    authorization_servers: servers,
    bearer_methods_supported: ['header'],
    resource_name: 'Holdfast',
  };
  const told = {
    may: 'anybody',
    summary: 'MCP: where clients get a token.',
    anyQuery: true,
    answers: ok('Protocol', 'The metadata.'),
  } as const;
  routes.add(`GET ${metadataPath}`, told, () => metadata);
}

const metadataPath = '/.well-known/oauth-protected-resource/mcp';
