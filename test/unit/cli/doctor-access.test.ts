import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkAccess, checkReach } from '../../../cli/doctor/access';
import type { Finding } from '../../../cli/doctor/finding';
import type { AccessOptions } from '../../../service/access/parts';
import { freePort } from '../../../host/server/free-port';

const local = { host: '127.0.0.1', publicUrl: undefined };
const open = { host: '0.0.0.0', publicUrl: 'https://desk.example.com' };
const check = (
  access: AccessOptions | undefined,
  at: Parameters<typeof checkAccess>[1] = local,
  hasKey = true,
): Promise<readonly Finding[]> => checkAccess(access, at, async () => hasKey);
const identify = () => undefined;

describe('doctor on access', () => {
  it('says who is trusted without it, which is a problem where others can reach the service', async () => {
    expect(await check(undefined)).toMatchObject([{ status: 'ok', message: expect.stringContaining('names are claims') }]);
    expect(await check(undefined, open)).toMatchObject([
      { status: 'problem', code: 'access-missing', message: expect.stringContaining('0.0.0.0') },
    ]);
  });

  it('names the ways in', async () => {
    expect(await check({ identify })).toMatchObject([{ status: 'ok', message: 'Callers are identified by API keys, `identify`.' }]);
  });

  it('says how to make the first key, unless there is another way in', async () => {
    const first = { status: 'warning', fix: expect.stringContaining('holdfast keys ') };
    expect(await check({}, local, false)).toMatchObject([{ status: 'ok' }, first]);
    expect(await check({ identify }, local, false)).toHaveLength(1);
    expect(await check({}, local, true)).toHaveLength(1);
  });

  it('finds a missing public URL with a login, and where others can reach the service', async () => {
    const missing = { status: 'warning', code: 'config-invalid', message: expect.stringContaining('`http.publicUrl` is missing') };
    expect(await check({ identify }, { ...open, publicUrl: undefined })).toMatchObject([{ status: 'ok' }, missing]);
    expect(await check({ identify }, open)).toHaveLength(1);
    const login = { issuer: 'http://127.0.0.1:9', login: { clientId: 'desk' } };
    expect(await check({ issuers: [login] })).toMatchObject([{ status: 'ok' }, { check: 'issuer' }, missing]);
  });
});

describe('doctor on issuers', () => {
  async function answersOf(
    issuer: (origin: string) => AccessOptions['issuers'],
    document: (origin: string) => string,
  ): Promise<Finding | undefined> {
    const server = createServer((request, response) => {
      const isKnown = ['/.well-known/openid-configuration', '/realm/.well-known/openid-configuration', '/keys'].includes(request.url ?? '');
      response.writeHead(isKnown ? 200 : 404).end(document(originOf()));
    });
    const originOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const [, finding] = await check({ issuers: issuer(originOf()) ?? [] });
    server.close();
    return finding;
  }
  const audience = 'holdfast';
  const named = (path: string) => (origin: string) => JSON.stringify({ issuer: `${origin}${path}` });

  it.each(['', '/', '/realm'])('takes an issuer with the path %j that names itself', async (path) => {
    expect(await answersOf((origin) => [{ issuer: `${origin}${path}`, audience }], named(path))).toMatchObject({
      check: 'issuer',
      status: 'ok',
    });
  });

  it('asks for the keys where they have an address of their own', async () => {
    const keys = await answersOf(
      (origin) => [{ issuer: 'https://x.invalid', audience, jwksUri: `${origin}/keys` }],
      () => '{"keys":[]}',
    );
    expect(keys).toMatchObject({ status: 'ok' });
  });

  it.each<[string, (origin: string) => AccessOptions['issuers'], (origin: string) => string]>([
    ['its document names the issuer http', (origin) => [{ issuer: origin, audience }], named('/other')],
    ['answers 404', (origin) => [{ issuer: `${origin}/none`, audience }], named('/none')],
    ['not with a document in JSON', (origin) => [{ issuer: origin, audience }], () => '<html>'],
  ])('finds an issuer that cannot be used: %s', async (why, issuer, document) => {
    expect(await answersOf(issuer, document)).toMatchObject({
      status: 'problem',
      code: 'identity-unavailable',
      message: expect.stringContaining(why),
    });
  });

  it('finds an issuer that does not answer', async () => {
    const [, finding] = await check({ issuers: [{ issuer: `http://127.0.0.1:${await freePort()}`, audience }] });
    expect(finding).toMatchObject({ status: 'problem', code: 'identity-unavailable', message: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('doctor on the reach of Temporal', () => {
  const rule = 'Only services and workers may reach Temporal';

  it.each([
    [{ address: '127.0.0.1:7233' }, 'is on this machine'],
    [{ address: '[::1]:7233' }, 'is on this machine'],
    [{ address: 'localhost:7233' }, 'is on this machine'],
    [{ address: '203.0.113.7:7233', tls: true }, 'has TLS'],
    [{ address: 'cloud.test:7233', apiKey: 'secret', tls: true }, 'has an API key'],
    [{ address: 'no-such-host.invalid:7233' }, 'has no address here'],
  ])('takes %j', async (settings, why) => {
    const { status, message } = await checkReach(settings);
    expect({ status, message }).toEqual({ status: 'ok', message: expect.stringContaining(rule) });
    expect(message).toContain(why);
  });

  it.each(['203.0.113.7:7233', '[2001:db8::1]:7233'])('warns of %s without TLS and without an API key', async (address) => {
    expect(await checkReach({ address })).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('without TLS'),
      fix: expect.any(String),
    });
  });
});
