import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../../../host/logger';
import { Issuers } from '../../../service/access/issuers';
import type { Issuer } from '../../../service/access/parts';
import type { TestIssuer } from '../../support/issuer';
import { audience, startIssuer } from '../../support/issuer';

const logger = createLogger({ level: 'silent' });
const now = (): number => Math.floor(Date.now() / 1000);
const claims = { tenant: 'tenant' };

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer([]);
});
afterAll(() => issuer.stop());

const issuersWith = (options: Partial<Issuer> = {}) => new Issuers([{ issuer: issuer.url, audience, claims, ...options }], logger);
const good = () => ({ iss: issuer.url, aud: audience, sub: 'alice', tenant: 'acme', roles: ['approver'], iat: now(), exp: now() + 60 });
const without = (claim: string) => Object.fromEntries(Object.entries(good()).filter(([name]) => name !== claim));
const outcomeOf = (token: string, issuers = issuersWith()) =>
  issuers.identify(token).catch(({ code, message }: { code: string; message: string }) => ({ code, message }));
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('an access token', () => {
  it('that the issuer gave names tenant, user and roles', async () => {
    const { access } = await issuer.tokens('alice');
    const proof = `token:${issuer.url}`;
    expect(await outcomeOf(access)).toEqual({ tenant: 'acme', user: 'alice', roles: ['approver', 'finance'], proof });
    expect(await outcomeOf(access, issuersWith({ claims: {} }))).toMatchObject({ tenant: 'default' });
  });

  it('with claims of other names is read as the configuration says', async () => {
    const told = {
      tenant: ({ org }: Readonly<Record<string, unknown>>) => (org as { id: string }).id,
      user: 'email',
      roles: 'scope',
    };
    const token = await issuer.sign({ ...good(), org: { id: 'acme' }, email: 'alice@acme.example', scope: 'reader  operator' });
    expect(await outcomeOf(token, issuersWith({ claims: told }))).toMatchObject({
      tenant: 'acme',
      user: 'alice@acme.example',
      roles: ['reader', 'operator'],
    });
  });

  const cases: Readonly<Record<string, readonly [token: () => Promise<string> | string, message: RegExp]>> = {
    'that is an ID token': [async () => (await issuer.tokens('alice')).id, /another audience|An ID token is not an access token/],
    'that is an ID token for the same audience': [() => issuer.sign(good(), { typ: 'JWT' }), /An ID token is not an access token/],
    'for another audience': [() => issuer.sign({ ...good(), aud: 'https://other.example.com' }), /for another audience/],
    'without an audience': [() => issuer.sign(without('aud')), /has no claim aud/],
    'that has expired': [() => issuer.sign({ ...good(), exp: now() - 31 }), /has expired/],
    'that is not valid yet': [() => issuer.sign({ ...good(), nbf: now() + 60 }), /not valid yet/],
    'without exp': [() => issuer.sign(without('exp')), /has no claim exp/],
    'without the user': [() => issuer.sign(without('sub')), /has no claim sub/],
    'with an invisible user': [() => issuer.sign({ ...good(), sub: '\u200b' }), /names its user/],
    'without the tenant of the configuration': [async () => (await issuer.tokens('carol')).access, /names its tenant/],
    'with a tenant that is no name': [() => issuer.sign({ ...good(), tenant: 'acme~globex' }), /names its tenant/],
    'with roles that are no list': [() => issuer.sign({ ...good(), roles: [{ name: 'admin' }] }), /names its roles/],
    'of an unknown issuer': [() => issuer.sign({ ...good(), iss: 'https://other.example.com' }), /from an issuer that is not configured/],
    'without an issuer': [() => issuer.sign(without('iss')), /from an issuer that is not configured/],
    'with alg none': [() => `${base64({ alg: 'none', typ: 'at+jwt' })}.${base64(good())}.`, /algorithm that is not allowed/],
    'signed by HS256 with the public key': [
      async () => issuer.sign(good(), { alg: 'HS256' }, { kty: 'oct', k: base64(issuer.publicKey) }),
      /algorithm that is not allowed/,
    ],
    'with a forged signature': [async () => (await issuer.sign(good())).replace(/.{8}$/, 'AAAAAAAA'), /signature of the token is wrong/],
    'with changed claims': [
      async () => (await issuer.sign(good())).replace(/\..*\./, `.${base64({ ...good(), roles: ['admin'] })}.`),
      /signature of the token is wrong/,
    ],
    'with an unknown key': [() => issuer.sign(good(), { kid: 'second' }), /does not have the key/],
    'with the address of its own keys': [
      () => issuer.sign(good(), { kid: 'mine', jku: 'http://127.0.0.1:9/jwks', jwk: issuer.publicKey }),
      /does not have the key/,
    ],
    'that is no JWT': [() => 'aaaa.bbbb.cccc', /neither the form of an API key nor of a JWT/],
  };

  it.each(Object.entries(cases))('%s is refused, with a message that says nothing else of the token', async (_, [token, message]) => {
    const given = await token();
    const outcome = await outcomeOf(given);
    expect(outcome).toEqual({ code: 'identity-invalid', message: expect.stringMatching(message) });
    for (const content of ['alice', 'acme', 'other.example.com', given]) expect(JSON.stringify(outcome)).not.toContain(content);
  });

  it('is taken up to 30 s after its end, for clocks that differ', async () => {
    expect(await outcomeOf(await issuer.sign({ ...good(), exp: now() - 20 }))).toMatchObject({ user: 'alice' });
  });

  it('is refused without a claim that the configuration requires, and if a function of claims throws', async () => {
    const token = await issuer.sign(good());
    expect(await outcomeOf(token, issuersWith({ requiredClaims: ['scope'] }))).toMatchObject({ message: 'The token has no claim scope.' });
    const failing = { user: ({ person }: Readonly<Record<string, unknown>>) => (person as { name: string }).name };
    expect(await outcomeOf(token, issuersWith({ claims: failing }))).toEqual({
      code: 'identity-invalid',
      message: 'The function `claims.user` of the configuration fails for the token.',
    });
  });

  it('is refused if the issuer is for the login only', async () => {
    const issuers = new Issuers([{ issuer: issuer.url, login: { clientId: 'holdfast' } }], logger);
    expect(await outcomeOf(await issuer.sign(good()), issuers)).toMatchObject({ code: 'identity-invalid' });
  });
});

describe('an issuer', () => {
  it('whose discovery document names another issuer is not used', async () => {
    const options = { issuer: `${issuer.url}/`, audience };
    const token = await issuer.sign({ ...good(), iss: options.issuer });
    expect(await outcomeOf(token, new Issuers([options], logger))).toEqual({
      code: 'identity-unavailable',
      message: `The issuer ${options.issuer} has no discovery document that can be used: it names the issuer ${issuer.url}`,
    });
  });

  it.each([{ issuer: 'http://issuer.example.com' }, { issuer: 'https://issuer.example.com', jwksUri: 'http://issuer.example.com/jwks' }])(
    'needs https except on loopback: %j',
    (options) => {
      expect(() => new Issuers([{ ...options, audience }], logger)).toThrow(/https/);
    },
  );

  it('that has stopped leaves its known keys valid, also when they are old; a token with another key is not checked', async () => {
    const stopping = await startIssuer([]);
    const issuers = new Issuers([{ issuer: stopping.url, audience }], logger, { pauseMs: 0, keepMs: 0 });
    const late = new Issuers([{ issuer: stopping.url, audience }], logger);
    const [known, unknown] = await Promise.all(
      [{}, { kid: 'second' }].map((header) => stopping.sign({ ...good(), iss: stopping.url }, header)),
    );
    expect(await outcomeOf(known!, issuers)).toMatchObject({ user: 'alice' });
    expect(await outcomeOf(unknown!, issuers)).toMatchObject({ code: 'identity-invalid' });
    await stopping.stop();
    expect(await outcomeOf(known!, issuers)).toMatchObject({ user: 'alice' });
    expect(await outcomeOf(unknown!, issuers)).toMatchObject({
      code: 'identity-unavailable',
      message: expect.stringContaining(stopping.url),
    });
    expect(await outcomeOf(known!, late)).toMatchObject({ code: 'identity-unavailable' });
  });

  it('is asked once for its discovery document and its keys, and again after a failure', async () => {
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      if (asked.length === 1) response.writeHead(503).end();
      else
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify(url === '/keys' ? { keys: [issuer.publicKey] } : document));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const document = { issuer: url, jwks_uri: `${url}/keys` };
    const issuers = new Issuers([{ issuer: url, audience }], logger);
    const token = await issuer.sign({ ...good(), iss: url });
    expect(await outcomeOf(token, issuers)).toMatchObject({ code: 'identity-unavailable' });
    expect(await Promise.all([1, 2, 3].map(() => outcomeOf(token, issuers)))).toMatchObject([1, 2, 3].map(() => ({ user: 'alice' })));
    expect(await outcomeOf(await issuer.sign({ ...good(), iss: url }, { kid: 'other' }), issuers)).toMatchObject({
      code: 'identity-invalid',
    });
    const discovery = '/.well-known/openid-configuration';
    expect(asked).toEqual([discovery, discovery, '/keys']);
    await new Promise((resolve) => server.close(resolve));
  });
});
