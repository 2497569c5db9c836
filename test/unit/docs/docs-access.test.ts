import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Principal } from '../../../contract/access';
import { createLogger } from '../../../host/logger';
import { runExamples } from '../../support/document-examples';
import { clientWith } from '../../support/service-app';

const { fromProxy, inExpress, inHono } = runExamples(['guides/behind-a-login'], require);
const secret = 'a long random text that only the proxy knows';

describe('a request through the proxy of the guide', () => {
  const identify = fromProxy(secret);
  const asked = (headers: Record<string, string>) => identify(new Request('http://127.0.0.1:4747/me', { headers }));

  it('has the name and the groups of the proxy', () => {
    const headers = { 'x-proxy-user': 'ada@example.com', 'x-proxy-groups': 'approver,finance', 'x-proxy-secret': secret };
    expect(asked(headers)).toEqual({ tenant: 'default', user: 'ada@example.com', roles: ['approver', 'finance'] });
  });

  it.each<Record<string, string>>([{}, { 'x-proxy-secret': 'guessed' }, { 'x-proxy-secret': '' }])(
    'has no name with %j, whatever name was sent',
    (headers) => {
      expect(asked({ 'x-proxy-user': 'ada@example.com', ...headers })).toBeUndefined();
    },
  );

  it('has no name without a login at the proxy', () => {
    expect(asked({ 'x-proxy-user': '', 'x-proxy-secret': secret })).toBeUndefined();
  });

  it('needs a secret', () => {
    expect(() => fromProxy()).toThrow('PROXY_SECRET');
  });
});

describe('a service in an application of the guide', () => {
  const clientAs = (caller: Principal): object => ({ caller, place: { tenant: caller.tenant } });
  const access = {
    keys: false,
    identify: ({ headers }: Request) =>
      headers.get('cookie') === 'session=1' ? { tenant: 'acme', user: 'ann', roles: ['reader'] } : undefined,
  };
  const parts = { client: clientWith({ as: clientAs }), agents: [], logger: createLogger({ level: 'silent' }), access };

  it.each([
    ['Hono', throughHono],
    ['Express', throughExpress],
  ])('knows the user of the session, below a path of %s', async (_, ask) => {
    expect((await ask('/agents/me', {})).status).toBe(401);
    const told = await ask('/agents/me', { cookie: 'session=1' });
    expect(await told.json()).toMatchObject({ tenant: 'acme', user: 'ann', proof: 'identify', may: ['runs:read'] });
  });

  async function throughHono(path: string, headers: Record<string, string>): Promise<Response> {
    return inHono(parts).request(path, { headers });
  }

  async function throughExpress(path: string, headers: Record<string, string>): Promise<Response> {
    const server = createServer(inExpress(parts));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers });
    await new Promise((resolve) => server.close(resolve));
    return response;
  }
});
