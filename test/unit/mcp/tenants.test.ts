import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import type { McpAccess } from '../../../activities/mcp/options';
import { McpServers } from '../../../activities/mcp/servers';
import { ToolServerBed, served, textOf } from '../../support/mcp/tool-server-bed';
import { guarded, issuer } from '../../support/mcp/token-issuer';

/** `valid`: tokens with their tenants. A call answers with the tenant of its token. */
async function crm(valid: Map<string, string>) {
  const methods: string[] = [];
  const server = await served(async (request) => {
    const tenant = valid.get((request.headers.get('authorization') ?? '').replace('Bearer ', ''));
    if (tenant === undefined) return new Response('', { status: 401 });
    methods.push(`${tenant} ${request.headers.get('mcp-method') ?? ''}`);
    return createMcpHandler(() => {
      const made = new McpServer({ name: 'crm', version: '1' });
      made.registerTool(tenant === 'a' ? 'look' : 'find', { description: `For ${tenant}.` }, () => ({
        content: [{ type: 'text' as const, text: tenant }],
      }));
      return made;
    }).fetch(request);
  });
  return { ...server, methods };
}

const bearer = (token: string): McpAccess => ({ headers: { authorization: `Bearer ${token}` } });

it('keeps lists, calls and connections of tenants apart, and takes new tokens when the server refuses the old ones', async () => {
  const valid = new Map([
    ['one', 'a'],
    ['two', 'b'],
  ]);
  const tokens: Record<string, string> = { a: 'one', b: 'two' };
  const server = await crm(valid);
  const asked: string[] = [];
  const forTenant = (tenant: string) => (asked.push(tenant), bearer(tokens[tenant] ?? ''));
  const bed = new ToolServerBed({ crm: { url: server.url, effects: { look: 'once' }, forTenant } });
  const [a, b] = await Promise.all([bed.preparedFor('a', 'crm_look'), bed.preparedFor('b', 'crm_find')]);
  expect([a.mcp?.['crm_look']?.description, b.mcp?.['crm_find']?.description]).toEqual(['For a.', 'For b.']);
  await expect(bed.preparedFor('b', 'crm_look')).rejects.toMatchObject({ code: 'tool-unknown' });
  const calls = Array.from({ length: 20 }, (_, n) =>
    n % 2 === 0 ? bed.call(a, 'crm_look', {}, {}, 'a') : bed.call(b, 'crm_find', {}, {}, 'b'),
  );
  const texts = (await Promise.all(calls)).map(textOf);
  expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'a' : 'b')));
  const before = asked.length;
  await bed.call(a, 'crm_look', {}, {}, 'a');
  expect(asked.length).toBe(before);
  valid.delete('one');
  valid.set('three', 'a');
  tokens['a'] = 'three';
  expect(textOf(await bed.call(a, 'crm_look', {}, {}, 'a'))).toBe('a');
  expect(asked.slice(before)).toEqual(['a']);
  await Promise.all([bed.close(), server.close()]);
});

it('gives new runs what forTenant gives now, also if the server would take the old token', async () => {
  const server = await crm(
    new Map([
      ['one', 'a'],
      ['two', 'b'],
    ]),
  );
  let given: McpAccess | undefined = bearer('two');
  const bed = new ToolServerBed({ crm: { url: server.url, forTenant: async () => given } });
  await bed.preparedFor('a', 'crm_find');
  given = bearer('one');
  await bed.preparedFor('a', 'crm_look');
  given = undefined;
  await expect(bed.preparedFor('a', 'crm_look')).rejects.toMatchObject({
    code: 'mcp-forbidden',
    message: '`mcp.crm.forTenant` gives nothing for the tenant "a".',
  });
  await Promise.all([bed.close(), server.close()]);
});

it('gets the tokens of each tenant with the credentials of the tenant', async () => {
  const ours = await issuer();
  const server = await guarded(() => ours.url, new Set(['token-1', 'token-2']));
  const forTenant = (tenant: string) => ({ oauth: { clientId: tenant, clientSecret: `of ${tenant}`, expectedIssuer: ours.url } });
  const bed = new ToolServerBed({ crm: { url: server.url, forTenant } });
  const a = await bed.preparedFor('a', 'crm_look');
  const b = await bed.preparedFor('b', 'crm_look');
  for (const [manifest, tenant] of [
    [a, 'a'],
    [b, 'b'],
  ] as const)
    expect(textOf(await bed.call(manifest, 'crm_look', {}, {}, tenant))).toBe('seen');
  expect(ours.secrets).toEqual(['a:of a', 'b:of b']);
  await Promise.all([bed, server, ours].map((one) => one.close()));
});

it.each([
  ['throws', () => Promise.reject(new Error('The vault is closed.')), 'mcp-unreachable', 'failed for the tenant "a": The vault is closed.'],
  ['gives rubbish', () => 'hunter2', 'config-invalid', 'is wrong: Invalid input: expected object, received string'],
  ['gives no value', () => ({ headers: { authorization: undefined } }), 'config-invalid', '`headers.authorization` is missing'],
  ['gives a broken header', () => bearer('hunter2\nx: y'), 'config-invalid', '`headers.authorization` is no value of a header'],
  ['gives a field too much', () => ({ url: 'http://hunter2' }), 'config-invalid', 'has no field `url`'],
  [
    'names no issuer',
    () => ({ oauth: { clientId: 'x', clientSecret: 'hunter2' } }),
    'config-invalid',
    '`oauth.expectedIssuer` is required',
  ],
])('says what to change when forTenant %s, without secrets', async (_, forTenant, code, message) => {
  const bed = new ToolServerBed({ crm: { url: 'http://127.0.0.1:9/mcp', forTenant: forTenant as never } });
  const refused = bed.preparedFor('a', 'crm_look');
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  await expect(refused).rejects.not.toThrow('hunter2');
  await bed.close();
});

it('gives up a forTenant that hangs', async () => {
  jest.useFakeTimers();
  try {
    const bed = new ToolServerBed({ crm: { url: 'http://127.0.0.1:9/mcp', forTenant: () => new Promise(() => undefined) } });
    const refused = expect(bed.preparedFor('a', 'crm_look')).rejects.toMatchObject({
      code: 'mcp-unreachable',
      message: expect.stringContaining('It gave nothing within 20 s.') as string,
    });
    await jest.advanceTimersByTimeAsync(20_000);
    await refused;
    await bed.close();
  } finally {
    jest.useRealTimers();
  }
});

it('keeps connections when the configuration is read again, unless forTenant is another function', async () => {
  const server = await crm(new Map([['one', 'a']]));
  const asked: string[] = [];
  const forTenant = (tenant: string) => (asked.push(tenant), bearer('one'));
  const before = new McpServers({ crm: { url: server.url, forTenant } });
  await before.offerOf('crm', 'a');
  const same = new McpServers({ crm: { url: server.url, forTenant } }, before);
  await same.offerOf('crm', 'a');
  const connected = () => server.methods.filter((method) => method.endsWith('server/discover')).length;
  const once = connected();
  await new McpServers({ crm: { url: server.url, forTenant: () => undefined } }, same)
    .offerOf('crm', 'a')
    .catch((error: unknown) => expect(error).toMatchObject({ code: 'mcp-forbidden' }));
  expect([once, connected()]).toEqual([1, 1]);
  await Promise.all([same.close(), server.close()]);
});
