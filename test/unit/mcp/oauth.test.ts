import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { ToolServerBed, served, textOf } from '../../support/mcp/tool-server-bed';

interface Issuer {
  readonly url: string;
  readonly secrets: string[];
  close(): Promise<void>;
}

async function issuer(): Promise<Issuer> {
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
function guarded(named: () => string, valid: Set<string>, metadataAt?: string): ReturnType<typeof served> {
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

it('gives the secret only to the expected issuer, and gets a new token when the server refuses the old one', async () => {
  const [ours, thief] = await Promise.all([issuer(), issuer()]);
  let named = ours;
  const valid = new Set(['token-1']);
  const server = await guarded(() => named.url, valid);
  const oauth = { clientId: 'desk', clientSecret: 'secret', expectedIssuer: ours.url };
  const bed = new ToolServerBed({ crm: { url: server.url, oauth } });
  const manifest = await bed.prepared('crm_look');
  expect(textOf(await bed.call(manifest, 'crm_look'))).toBe('seen');
  valid.clear();
  valid.add('token-2');
  expect(textOf(await bed.call(manifest, 'crm_look'))).toBe('seen');
  expect(ours.secrets).toEqual(['desk:secret', 'desk:secret']);
  named = thief;
  valid.clear();
  const later = new ToolServerBed({ crm: { url: server.url, oauth } });
  await expect(later.prepared('crm_look')).rejects.toMatchObject({ code: 'mcp-unreachable' });
  expect(thief.secrets).toEqual([]);
  await Promise.all([bed, later, server, ours, thief].map((one) => one.close()));
});

it.each(['metadata', 'issuer'])('asks no other place that the server names as its %s', async (what) => {
  const asked: string[] = [];
  const other = await served(async ({ url }) => {
    asked.push(url);
    return new Response('', { status: 404 });
  });
  const server = await guarded(() => other.url, new Set(), what === 'metadata' ? other.url : undefined);
  const bed = new ToolServerBed({
    crm: { url: server.url, oauth: { clientId: 'a', clientSecret: 'b', expectedIssuer: 'https://good.example' } },
  });
  const { origin } = new URL(other.url);
  const message = `OAuth leads to ${origin}. The worker asks only ${new URL(server.url).origin} and https://good.example.`;
  await expect(bed.prepared('crm_look')).rejects.toMatchObject({
    code: 'mcp-unreachable',
    message: expect.stringContaining(message) as string,
  });
  expect(asked).toEqual([]);
  await Promise.all([bed, server, other].map((one) => one.close()));
});
