import { Hono } from 'hono';
import type { Principal } from '../../../contract/access';
import { HoldfastError } from '../../../contract/errors';
import { checkOrigin } from '../../../service/access/origin';
import type { Session } from '../../../service/access/sessions';
import { Sessions } from '../../../service/access/sessions';
import { memoryStore } from '../../support/memory-store';

const alice: Principal = { tenant: 'acme', user: 'alice', roles: ['approver'], proof: 'login:https://issuer.example.com' };
const fromIssuer = { principal: alice, from: { issuer: 'https://issuer.example.com' } };
const minute = 60_000;

afterEach(() => jest.restoreAllMocks());

function bed() {
  const clock = { now: Date.now() };
  jest.spyOn(Date, 'now').mockImplementation(() => clock.now);
  const store = memoryStore();
  const keys = new Map<string, Principal>();
  const logins = new Set(['https://issuer.example.com']);
  const sessions = new Sessions(store, {
    issuers: {
      get logins() {
        return [...logins].map((issuer) => ({ issuer }));
      },
    },
    keys: {
      principalOf: async (id) => {
        const principal = keys.get(id);
        if (principal === undefined) throw new HoldfastError('identity-invalid', 'The key was revoked.');
        return principal;
      },
    },
  });
  const act = async (work: (app: Hono) => void, cookie?: string) => {
    const app = new Hono();
    work(app);
    const response = await app.request('/', { headers: cookie === undefined ? {} : { cookie } });
    return response.headers.getSetCookie().at(-1) ?? '';
  };
  const begin = async (session: Omit<Session, 'started'> = fromIssuer, cookie?: string) => {
    const given = await act((app) => app.get('/', async (context) => context.text(String(await sessions.begin(context, session)))), cookie);
    return { given, cookie: given.split(';')[0]! };
  };
  const end = (cookie: string) => act((app) => app.get('/', async (context) => context.text(String(await sessions.end(context)))), cookie);
  const identify = (cookie?: string) =>
    sessions
      .identify(new Request('http://127.0.0.1/', { headers: cookie === undefined ? {} : { cookie } }))
      .catch(({ code }: { code: string }) => code);
  return { clock, store, keys, logins, begin, end, identify };
}

describe('a session', () => {
  it('is a random cookie that only the host and no script reads; the store knows its hash', async () => {
    const { begin, identify, store } = bed();
    const { given, cookie } = await begin();
    expect(given).toMatch(/^__Host-holdfast=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(await identify(`other=1; ${cookie}`)).toEqual(alice);
    expect(JSON.stringify([...store.entries])).not.toContain(cookie.split('=')[1]);
    expect([...store.entries.keys()].filter((key) => /^session\/[\da-f]{64}$/.test(key))).toHaveLength(1);
  });

  it('is absent without its cookie, and invalid with a cookie that nobody gave', async () => {
    const { begin, identify } = bed();
    await begin();
    const outcomes = await Promise.all([identify(), identify('holdfast=x'), identify('__Host-holdfast='), identify('__Host-holdfast=x')]);
    expect(outcomes).toEqual([undefined, undefined, 'identity-invalid', 'identity-invalid']);
  });

  it('ends after 12 h without a request, and after 7 days with requests', async () => {
    const { begin, identify, clock } = bed();
    const { cookie } = await begin();
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      clock.now += 11 * 60 * minute;
      expect(await identify(cookie)).toEqual(alice);
    }
    clock.now += 11 * 60 * minute;
    expect(await identify(cookie)).toBe('identity-invalid');
    const idle = await begin();
    clock.now += 12 * 60 * minute;
    expect(await identify(idle.cookie)).toBe('identity-invalid');
  });

  it('writes at most once a minute that it was used', async () => {
    const { begin, identify, clock, store } = bed();
    const { cookie } = await begin();
    const set = jest.spyOn(store, 'set');
    for (const passed of [0, minute - 1, 1, 1]) {
      clock.now += passed;
      await identify(cookie);
    }
    expect(set).toHaveBeenCalledTimes(1);
  });

  it('that a log-out ended stays ended: a stolen cookie is worthless, also if it was used at that moment', async () => {
    const { begin, end, identify, clock, store } = bed();
    const { cookie } = await begin();
    clock.now += 2 * minute;
    const { set } = store;
    jest.spyOn(store, 'set').mockImplementationOnce(async (...given) => {
      expect(await end(cookie)).toMatch(/^__Host-holdfast=; Max-Age=0; /);
      return set(...given);
    });
    await identify(cookie);
    expect(await identify(cookie)).toBe('identity-invalid');
  });

  it('begins with a new cookie at each login and ends the session before', async () => {
    const { begin, identify } = bed();
    const first = await begin();
    const second = await begin(fromIssuer, first.cookie);
    expect(second.cookie).not.toBe(first.cookie);
    expect([await identify(first.cookie), await identify(second.cookie)]).toEqual(['identity-invalid', alice]);
    const planted = await begin(fromIssuer, '__Host-holdfast=planted');
    expect([await identify('__Host-holdfast=planted'), await identify(planted.cookie)]).toEqual(['identity-invalid', alice]);
  });

  it('that a key began has the roles that the key has now, and dies with the key', async () => {
    const { begin, identify, keys } = bed();
    keys.set('k1', { ...alice, roles: ['admin'], proof: 'key:k1' });
    const { cookie } = await begin({ principal: keys.get('k1')!, from: { key: 'k1' } });
    keys.set('k1', { ...alice, roles: ['reader'], proof: 'key:k1' });
    expect(await identify(cookie)).toMatchObject({ roles: ['reader'] });
    keys.clear();
    expect(await identify(cookie)).toBe('identity-invalid');
  });

  it('of an issuer dies with the issuer’s login', async () => {
    const { begin, identify, logins } = bed();
    const { cookie } = await begin();
    logins.clear();
    expect(await identify(cookie)).toBe('identity-invalid');
  });
});

describe('a request with the cookie of a session', () => {
  const service = 'https://holdfast.example.com/app';
  const outcomeOf = (headers: Readonly<Record<string, string>>, method = 'POST', publicUrl = service) => {
    const request = new Request('http://127.0.0.1:4747/runs', { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
    try {
      checkOrigin(request, publicUrl || undefined);
      return 'taken';
    } catch (error) {
      return (error as HoldfastError).code;
    }
  };

  it.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain', ''])('changes nothing for other sites: %s', (type) => {
    const refused = [
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      { origin: 'http://holdfast.example.com' },
      { origin: 'https://holdfast.example.com:8443' },
      { origin: 'https://holdfast.example.com.evil.example' },
      { origin: '' },
      { origin: 'https://evil.example.com', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { referer: 'https://holdfast.example.com/' },
      {},
    ].map((headers): Record<string, string> => ({ 'content-type': type, ...(headers as object) }));
    expect(refused.map((headers) => outcomeOf(headers))).toEqual(refused.map(() => 'origin-forbidden'));
  });

  it('changes what the pages of the service change', () => {
    expect([
      outcomeOf({ origin: 'https://holdfast.example.com' }),
      outcomeOf({ 'sec-fetch-site': 'same-origin' }),
      outcomeOf({ origin: 'http://127.0.0.1:4747' }, 'POST', ''),
    ]).toEqual(['taken', 'taken', 'taken']);
    expect(outcomeOf({ origin: 'http://127.0.0.1:4747' })).toBe('origin-forbidden');
  });

  it.each(['PATCH', 'DELETE', 'PUT'])('is checked for %s', (method) => {
    expect(outcomeOf({ origin: 'https://evil.example.com' }, method)).toBe('origin-forbidden');
  });

  it('reads from anywhere', () => {
    expect(outcomeOf({ origin: 'https://evil.example.com' }, 'GET')).toBe('taken');
  });
});
