import type { Action, Principal } from '../../../contract/access';
import { allActions, builtInRoles } from '../../../contract/access';
import { Keys } from '../../../service/access/keys';
import { memoryStore } from '../../support/memory-store';
import type { TestIssuer } from '../../support/issuer';
import { audience, startIssuer } from '../../support/issuer';
import { appOn, operations } from '../../support/service-app';

const open = [
  'GET /',
  'GET /console/:file',
  'GET /health',
  'GET /readyz',
  'GET /openapi',
  'GET /openapi.json',
  'GET /login',
  'GET /login/start',
  'GET /login/callback',
  'POST /login/key',
  'POST /logout',
  'GET /decide/:token',
  'POST /decide/:token',
  'POST /v1/triggers/:name',
];
const guarded = Object.entries(operations).filter(([route]) => !open.includes(route));
const now = (): number => Math.floor(Date.now() / 1000);
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer([]);
});
afterAll(() => issuer.stop());

/** The client tells what it is asked. */
const touched: string[] = [];
const watching = new Proxy(
  {},
  {
    get: (_, name) => (name === 'then' ? undefined : (...given: unknown[]) => touched.push(`${String(name)} ${String(given[0])}`)),
  },
);
const clientAs = (caller: Principal): unknown => {
  touched.push(`as ${caller.tenant}`);
  return Object.assign(Object.create(watching) as object, { caller, place: { tenant: caller.tenant } });
};
const store = memoryStore();
const keys = new Keys(store);
const agents = [{ name: 'agent', description: 'Under test.', takesJob: false }];

function serviceOf() {
  const access = { issuers: [{ issuer: issuer.url, audience, claims: { tenant: 'tenant' } }], roles: { idle: [] } };
  return appOn({ as: clientAs }, { access, store, agents });
}

async function statusOf(app: ReturnType<typeof serviceOf>, route: string, authorization?: string): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const headers = { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) };
  const response = await app.request(path.replace(/:agent|:model/g, 'agent').replace(/:\w+/g, 'x'), {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: '{"by":"mallory"}' }),
  });
  const { error } = JSON.parse((await response.text()) || '{}') as { readonly error?: { readonly code?: string } };
  return `${response.status} ${error?.code ?? ''}`;
}

describe('the list of routes', () => {
  it('is complete: each route says what the caller must be allowed to do', () => {
    expect(Object.values(operations).filter((operation) => operation?.may === undefined)).toEqual([]);
    expect(
      Object.entries(operations)
        .filter(([, { may }]) => may === 'anybody')
        .map(([route]) => route)
        .sort(),
    ).toEqual([...open].sort());
  });

  it('needs each action of the table somewhere', () => {
    const needed = new Set(guarded.map(([, { may }]) => may));
    expect(allActions.filter((action) => !needed.has(action))).toEqual([]);
  });
});

const good = () => ({ iss: issuer.url, aud: audience, sub: 'alice', tenant: 'acme', roles: ['admin'], iat: now(), exp: now() + 60 });
const made = async (roles: readonly string[], more = {}) => keys.create({ name: `ann-${Math.random()}`, tenant: 'acme', roles, ...more });

describe.each<readonly [who: string, bearer: () => Promise<string | undefined>, outcome: string]>([
  ['no token', async () => undefined, '401 identity-missing'],
  ['an empty token', async () => '', '401 identity-invalid'],
  ['a guessed key', async () => `hf_${'a'.repeat(8)}_${'b'.repeat(43)}_${'c'.repeat(6)}`, '401 identity-invalid'],
  [
    'a key with another secret',
    async () => (await made(['admin'])).key.replace(/_(.)/, '_$1').replace(/.{10}$/, '0000000000'),
    '401 identity-invalid',
  ],
  [
    'a revoked key',
    async () => {
      const { id, key } = await made(['admin']);
      await keys.revoke(id);
      return key;
    },
    '401 identity-invalid',
  ],
  [
    'an expired key',
    async () =>
      (
        await new Keys(store, () => Date.now() - 7_200_000).create({
          name: 'old',
          tenant: 'acme',
          roles: ['admin'],
          expires: '1h',
        })
      ).key,
    '401 identity-invalid',
  ],
  ['an expired token', async () => issuer.sign({ ...good(), exp: now() - 60 }), '401 identity-invalid'],
  ['a forged token', async () => (await issuer.sign(good())).replace(/.{8}$/, 'AAAAAAAA'), '401 identity-invalid'],
  ['an ID token', async () => (await issuer.tokens('alice')).id, '401 identity-invalid'],
  ['a token for another audience', async () => issuer.sign({ ...good(), aud: 'https://other.example.com' }), '401 identity-invalid'],
  ['a token with alg none', async () => `${base64({ alg: 'none', typ: 'at+jwt' })}.${base64(good())}.`, '401 identity-invalid'],
  ['a token of no tenant', async () => issuer.sign({ ...good(), tenant: undefined }), '401 identity-invalid'],
])('a request with %s', (_, bearer, outcome) => {
  it('reads and changes nothing at any route', async () => {
    const app = serviceOf();
    const token = await bearer();
    touched.length = 0;
    const seen = await Promise.all(
      guarded.map(async ([route]) => [route, await statusOf(app, route, token === undefined ? undefined : `Bearer ${token}`)]),
    );
    expect(seen).toEqual(guarded.map(([route]) => [route, outcome]));
    expect(touched).toEqual([]);
  });
});

describe.each([...Object.entries(builtInRoles), ['idle', []] as const])('a caller with the role %s', (role, actions: readonly Action[]) => {
  it('gets exactly to the routes of its actions', async () => {
    const app = serviceOf();
    const { key } = await made([role]);
    touched.length = 0;
    const seen = await Promise.all(
      guarded.map(async ([route, { may }]) => [route, may, await statusOf(app, route, `Bearer ${key}`)] as const),
    );
    const refused = seen.filter(([, , status]) => status === '403 action-forbidden').map(([route]) => route);
    const forbidden = seen.filter(([, may]) => may !== 'identified' && !actions.includes(may as Action)).map(([route]) => route);
    expect(refused).toEqual(forbidden);
    expect(seen.filter(([, , status]) => status.startsWith('401'))).toEqual([]);
    expect(touched.filter((act) => act.startsWith('as ')).every((act) => act === 'as acme')).toBe(true);
    expect(touched.filter((act) => act.startsWith('as '))).toHaveLength(seen.length - forbidden.length);
  });
});

it('an answer of 401 says how to identify', async () => {
  const response = await serviceOf().request('/runs');
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="holdfast"');
});

it('GET /me says who calls', async () => {
  const { id, key } = await made(['approver', 'finance']);
  const me = (await serviceOf().request('/me', { headers: { authorization: `Bearer ${key}` } })).json();
  expect(await me).toMatchObject({ tenant: 'acme', proof: `key:${id}`, roles: ['approver', 'finance'], may: ['runs:read', 'runs:answer'] });
});

describe('a browser whose cookie `identify` knows', () => {
  const app = () =>
    appOn({ as: clientAs }, { store, access: { identify: () => ({ tenant: 'acme', user: 'ann', roles: ['admin'] }) }, agents });
  const statusFrom = async (site: string | undefined, method = 'POST') => {
    const headers = { cookie: 'theirs=1', 'content-type': 'application/json', ...(site === undefined ? {} : { 'sec-fetch-site': site }) };
    return (await app().request('/runs/x/cancel', { method, headers, body: '{}' })).status;
  };

  it('changes nothing for pages of other sites', async () => {
    expect(await Promise.all(['cross-site', 'same-site', 'none'].map((site) => statusFrom(site)))).toEqual([403, 403, 403]);
    expect(await statusFrom('same-origin')).not.toBe(403);
    expect(await statusFrom(undefined)).not.toBe(403);
  });
});
