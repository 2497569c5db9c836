import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { KnownCaller } from '../../../client/connection/authority';
import type { TestIssuer } from '../../support/issuer';
import { client as registered, startIssuer } from '../../support/issuer';
import type { McpBed } from '../../support/mcp-bed';
import { jsonHeaders, mcpBed } from '../../support/mcp-bed';
import { agentWith } from '../../support/memory-bed';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const publicUrl = 'http://127.0.0.1:4747';
const audience = `${publicUrl}/mcp`;
const redirectUrl = 'http://127.0.0.1:4848/callback';
let issuer: TestIssuer;
let bed: McpBed;
let callers: KnownCaller[];
beforeAll(async () => {
  issuer = await startIssuer([redirectUrl]);
});
afterAll(() => issuer.stop());
beforeEach(() => {
  callers = [];
  const issuers = [{ issuer: issuer.url, audience, claims: { tenant: 'tenant' } }];
  bed = mcpBed({
    agent: agentWith(),
    steps: [{ text: 'Done.' }],
    parts: { access: { issuers }, publicUrl },
    entered: (caller) => callers.push(caller),
  });
});

/** The service is at its public address, and everything else on the network. */
const atService = async (input: string | URL, init?: RequestInit): Promise<Response> =>
  String(input).startsWith(publicUrl) ? bed.app.request(String(input).slice(publicUrl.length), init) : fetch(input, init);

/** What an application that has registered at the issuer keeps, and where its person logs in. */
function application(user: string) {
  const kept: { tokens?: Body; verifier?: string; found?: Body; back?: URL } = {};
  const provider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], scope: 'openid', token_endpoint_auth_method: 'client_secret_post' },
    clientInformation: () => ({ client_id: registered.clientId, client_secret: registered.clientSecret }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    saveDiscoveryState: (found: unknown) => void (kept.found = found),
    discoveryState: () => kept.found,
    codeVerifier: () => kept.verifier ?? '',
    redirectToAuthorization: async (page: URL) => void (kept.back = new URL(await issuer.signIn(page.href, user))),
  };
  return { kept, options: { authProvider: provider as never, fetch: atService as never } };
}

const lines = {
  '2026-07-28': {
    client: () => new Client({ name: 'editor', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    transport: (options: object): Body => new StreamableHTTPClientTransport(new URL(audience), options),
    back: ({ searchParams }: URL): Body => searchParams,
  },
  '2025-11-25': {
    client: () => new OldClient({ name: 'editor', version: '1' }),
    transport: (options: object): Body => new OldTransport(new URL(audience), options),
    back: ({ searchParams }: URL): Body => searchParams.get('code'),
  },
} as const;

it.each(Object.entries(lines))(
  'a client of %s comes from a 401 to the login of the issuer, and calls a tool with its token',
  async (_, line) => {
    const { kept, options } = application('alice');
    const first = line.transport(options);
    await expect(line.client().connect(first)).rejects.toThrow(/[Uu]nauthorized/);
    await first.finishAuth(line.back(kept.back as URL));
    const client = line.client();
    await client.connect(line.transport(options));
    const result = await client.callTool({ name: 'agent', arguments: { input: 'Hi' } });
    expect(result).toMatchObject({ structuredContent: { status: 'completed', text: 'Done.' } });
    expect(callers.at(-1)).toMatchObject({ tenant: 'acme', user: 'alice', roles: ['approver', 'finance'], proof: `token:${issuer.url}` });
    await client.close();
  },
);

const now = (): number => Math.floor(Date.now() / 1000);
const claims = () => ({ iss: issuer.url, aud: audience, sub: 'alice', tenant: 'acme', roles: ['operator'], iat: now(), exp: now() + 60 });
it.each<[string, object, string]>([
  ['for another audience', { aud: publicUrl }, 'is for another audience'],
  ['that has expired', { exp: 1 }, 'has expired'],
  ['of another issuer', { iss: 'https://login.example.com' }, 'from an issuer that is not configured'],
])('a token %s is refused, with the place where to get one', async (_, wrong, message) => {
  const token = await issuer.sign({ ...claims(), ...wrong });
  const headers = { ...jsonHeaders, authorization: `Bearer ${token}` };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const refused = await bed.app.request('/mcp', { method: 'POST', headers, body });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="holdfast", resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  const { error }: Body = await refused.json();
  expect([error.code, error.message]).toEqual(['identity-invalid', expect.stringContaining(message)]);
  expect(callers).toEqual([]);
});
