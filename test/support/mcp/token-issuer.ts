import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { served } from './tool-server-bed';

interface Issuer {
  readonly url: string;
  readonly secrets: string[];
  close(): Promise<void>;
}

export async function issuer(): Promise<Issuer> {
  const secrets: string[] = [];
  const server = await served(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname.startsWith('/.well-known/'))
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    secrets.push(Buffer.from((request.headers.get('authorization') ?? '').replace('Basic ', ''), 'base64').toString());
    return Response.json({ access_token: `token-${secrets.length}`, token_type: 'Bearer', expires_in: 3600 });
  });
  return { url: new URL(server.url).origin, secrets, close: () => server.close() };
}

/** `valid`: the tokens that the server takes. */
export function guarded(named: () => string, valid: Set<string>, metadataAt?: string): ReturnType<typeof served> {
  const handler = createMcpHandler(() => {
    const made = new McpServer({ name: 'crm', version: '1' });
    made.registerTool('look', { description: 'Looks.' }, () => ({ content: [{ type: 'text', text: 'seen' }] }));
    return made;
  });
  return served(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname.startsWith('/.well-known/')) return Response.json({ resource: `${origin}/mcp`, authorization_servers: [named()] });
    if (valid.has((request.headers.get('authorization') ?? '').replace('Bearer ', ''))) return handler.fetch(request);
    const metadata = metadataAt ?? `${origin}/.well-known/oauth-protected-resource/mcp`;
    return new Response('', { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } });
  });
}
