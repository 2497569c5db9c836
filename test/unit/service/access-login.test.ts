import { Hono } from 'hono';
import type { AuditEntry } from '../../../contract/access';
import { HoldfastError } from '../../../contract/errors';
import { createLogger } from '../../../host/logger';
import type { AccessParts } from '../../../service/access/access';
import { AccessGate } from '../../../service/access/gate';
import { Issuers } from '../../../service/access/issuers';
import type { LoginParts } from '../../../service/access/login-routes';
import { loginRoutes } from '../../../service/access/login-routes';
import { ownPath } from '../../../service/access/logins';
import { Sessions } from '../../../service/access/sessions';
import { errorResponse } from '../../../service/http/error-response';
import { memoryStore } from '../../support/memory-store';
import type { TestIssuer } from '../../support/issuer';
import { client, startIssuer } from '../../support/issuer';
import { clientWith } from '../../support/service-app';

const logger = createLogger({ level: 'silent' });
const service = 'http://127.0.0.1:4747';
const publicUrl = 'https://holdfast.example.com/app';
const key = 'hf_alicekey_secret';
const pendingCookie = '__Host-holdfast-login';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer([`${service}/login/callback`, `${publicUrl}/login/callback`]);
});
afterAll(() => issuer.stop());

/** The service, and a browser that keeps cookies. */
function bed(options: Partial<LoginParts> = {}) {
  const issuers = new Issuers([{ issuer: issuer.url, login: client, claims: { tenant: 'tenant' } }], logger);
  const alice = { tenant: 'acme', user: 'alice', roles: ['operator'], proof: 'key:alicekey' };
  const keys = {
    identify: async (given: string) => {
      if (given === key) return alice;
      throw new HoldfastError('identity-invalid', 'The key is unknown.');
    },
    principalOf: async () => alice,
  };
  const sessions = new Sessions(memoryStore(), { issuers, keys });
  const entries: Partial<AuditEntry>[] = [];
  const audit = { write: async (entry: Partial<AuditEntry>) => void entries.push(entry) };
  const ofAccess = { options: {}, keys, audit } as unknown as AccessParts;
  const app = new Hono();
  app.use(new AccessGate(clientWith({}), undefined).open);
  app.route('/', loginRoutes({ ...ofAccess, issuers, sessions, logger, ...options }));
  app.onError((error, context) => errorResponse(error, context, logger));
  const browser = () => {
    const cookies = new Map<string, string>();
    const ask = async (path: string, init: RequestInit = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await app.request(new URL(path, service).href, { ...init, headers: { ...init.headers, cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    };
    const post = (path: string, fields: Record<string, string>, origin = service) =>
      ask(path, { method: 'POST', headers: { origin }, body: new URLSearchParams(fields) });
    const identify = () =>
      sessions
        .identify(new Request(service, { headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } }))
        .catch(({ code }: HoldfastError) => code);
    const start = async (to = '/') => (await ask(`/login/start?issuer=0&to=${encodeURIComponent(to)}`)).headers.get('location') ?? '';
    return { cookies, ask, post, identify, start };
  };
  return { app, entries, browser };
}

const locationOf = (response: Response, path: string) => new URL(response.headers.get('location') ?? '', `${service}${path}`).href;

describe('a login at an issuer', () => {
  it('ends on the page where it began, as the person of the issuer, and the audit log says so', async () => {
    const { browser, entries } = bed();
    const { ask, start, identify, cookies } = browser();
    const page = await start('/runs?status=waiting');
    expect(Object.fromEntries(new URL(page).searchParams)).toMatchObject({ code_challenge_method: 'S256', scope: 'openid profile' });
    const back = await ask(await issuer.signIn(page, 'alice'));
    expect([back.status, locationOf(back, '/login/callback')]).toEqual([303, `${service}/runs?status=waiting`]);
    const principal = { tenant: 'acme', user: 'alice', roles: ['approver', 'finance'], proof: `login:${issuer.url}` };
    expect(await identify()).toEqual(principal);
    expect([...cookies.keys()]).toEqual(['__Host-holdfast']);
    expect(entries).toEqual([{ what: 'login', tenant: 'acme', user: 'alice', proof: principal.proof }]);
  });

  it('cannot be finished with another state, nonce or verifier, late, or in another browser', async () => {
    const { browser, entries } = bed();
    const finish = async (change: (back: URL, cookies: Map<string, string>) => void, by = browser(), from = by) => {
      const back = new URL(await issuer.signIn(await from.start(), 'alice'));
      change(back, by.cookies);
      const response = await by.ask(back.href);
      return [response.status, await by.identify(), /role="alert">([^<]*)/.exec(await response.text())?.[1]];
    };
    const swap = (field: string) => (_: URL, cookies: Map<string, string>) => {
      const pending = JSON.parse(Buffer.from(cookies.get(pendingCookie)!, 'base64url').toString()) as object;
      cookies.set(pendingCookie, Buffer.from(JSON.stringify({ ...pending, [field]: 'x'.repeat(43) })).toString('base64url'));
    };
    const refused = [
      await finish((back) => back.searchParams.set('state', 'other')),
      await finish((back) => back.searchParams.delete('state')),
      await finish(swap('nonce')),
      await finish(swap('verifier')),
      await finish((back) => back.searchParams.set('iss', 'https://other.example.com')),
      await finish((back) => back.searchParams.set('code', 'other')),
      await finish((_, cookies) => void cookies.delete(pendingCookie)),
      await finish((_, cookies) => void cookies.set(pendingCookie, 'e30')),
      await finish(() => undefined, browser(), browser()),
    ];
    expect(refused.map(([status, identity]) => [status, identity])).toEqual(refused.map(() => [400, undefined]));
    const failed = (reason: string) => expect.stringContaining(`The login at ${issuer.url} did not succeed: ${reason}. Begin`);
    const unknown = expect.stringContaining('This browser began no login in the last 10 minutes, or the login is finished.');
    expect(refused.map(([, , message]) => message)).toEqual([
      failed('unexpected &quot;state&quot; response parameter value'),
      failed('response parameter &quot;state&quot; missing'),
      failed('unexpected ID Token &quot;nonce&quot; claim value'),
      failed('the issuer answered &quot;invalid_grant&quot;'),
      failed('unexpected &quot;iss&quot; (issuer) response parameter value'),
      failed('the issuer answered &quot;invalid_grant&quot;'),
      unknown,
      unknown,
      unknown,
    ]);
    expect(entries).toEqual(refused.map(() => ({ what: 'refusal', code: 'login-failed' })));
  });

  it('is kept for 10 minutes in a cookie that only the host and no script reads, and that fits a browser', async () => {
    const { app } = bed();
    const to = `/decide/${'x'.repeat(2_000)}`;
    const [cookie = ''] = (await app.request(`${service}/login/start?issuer=0&to=${to}`)).headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-holdfast-login=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie.length).toBeLessThan(4_096);
  });

  it('takes a code once, also of two simultaneous callbacks and of a copied cookie', async () => {
    const { browser } = bed();
    const { ask, start, cookies } = browser();
    const back = await issuer.signIn(await start(), 'alice');
    const before = new Map(cookies);
    const answers = await Promise.all([ask(back), ask(back)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
    expect(await (await ask(back)).text()).toContain('the login is finished');
    before.forEach((value, name) => cookies.set(name, value));
    expect(await (await ask(back)).text()).toContain('invalid_grant');
  });

  it('that the issuer refuses, or whose person has no tenant, names the reason', async () => {
    const { browser } = bed();
    const { ask, start, identify } = browser();
    const state = new URL(await start()).searchParams.get('state')!;
    const denied = await ask(`/login/callback?${new URLSearchParams({ error: 'access_denied', state, iss: issuer.url }).toString()}`);
    expect(await denied.text()).toContain('the issuer answered &quot;access_denied&quot;');
    const carol = await ask(await issuer.signIn(await start(), 'carol'));
    expect(await carol.text()).toContain('The token has no claim that names its tenant');
    expect(await identify()).toBeUndefined();
  });

  it('gives a new session, and ends the session before', async () => {
    const { browser } = bed();
    const { ask, start, identify, cookies } = browser();
    await ask(await issuer.signIn(await start(), 'alice'));
    const before = cookies.get('__Host-holdfast')!;
    await ask(await issuer.signIn(await start(), 'bob'));
    expect(await identify()).toMatchObject({ user: 'bob' });
    cookies.set('__Host-holdfast', before);
    expect(await identify()).toBe('identity-invalid');
  });

  it('sends people back to the public URL, below whose path the redirects stay', async () => {
    const { browser } = bed({ publicUrl });
    const { ask, start } = browser();
    const back = await issuer.signIn(await start('/runs'), 'alice');
    expect(back).toMatch(/^https:\/\/holdfast\.example\.com\/app\/login\/callback\?/);
    const { headers } = await ask(new URL(back).pathname.replace('/app', '') + new URL(back).search);
    expect(new URL(headers.get('location')!, back).href).toBe(`${publicUrl}/runs`);
  });

  it('is not possible by plain http from another machine: the browser would drop the cookie', async () => {
    const { app } = bed();
    for (const path of ['/login', '/login/start?issuer=0']) {
      const answer = await app.request(`http://holdfast.internal:4747${path}`);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Set `http.publicUrl`')]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('a login with a key', () => {
  it('begins a session as the person of the key', async () => {
    const { browser, entries } = bed();
    const { post, identify } = browser();
    const answer = await post('/login/key', { key, to: '/inbox' });
    expect([answer.status, locationOf(answer, '/login/key')]).toEqual([303, `${service}/inbox`]);
    expect(await identify()).toMatchObject({ user: 'alice' });
    expect(entries).toMatchObject([{ what: 'login', proof: 'key:alicekey' }]);
  });

  it('is refused with another key, from another site, or with too large a form', async () => {
    const { browser, entries } = bed();
    const { post, ask, identify } = browser();
    const answers = [
      await post('/login/key', { key: 'hf_other' }),
      await post('/login/key', {}),
      await post('/login/key', { key }, 'https://evil.example.com'),
      await ask('/login/key', { method: 'POST', body: new URLSearchParams({ key }) }),
      await post('/login/key', { key: 'x'.repeat(10_000) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 403, 413]);
    expect(await Promise.all(answers.map((answer) => answer.text()))).not.toContain(expect.stringContaining(key));
    expect(await identify()).toBeUndefined();
    expect(entries.map(({ code }) => code)).toEqual(['identity-invalid', 'identity-invalid', 'origin-forbidden', 'origin-forbidden']);
  });

  it('is neither offered nor possible if keys are off', async () => {
    const { ask, post, identify } = bed({ options: { keys: false } }).browser();
    expect(await (await ask('/login')).text()).not.toContain('API key');
    expect((await post('/login/key', { key })).status).toBe(400);
    expect(await identify()).toBeUndefined();
  });
});

describe('a log-out', () => {
  it('ends the session, so that a copy of the cookie is worthless, and names the page of the issuer that ends its session', async () => {
    const { browser, entries } = bed();
    const { ask, start, post, identify, cookies } = browser();
    await ask(await issuer.signIn(await start(), 'alice'));
    const copy = new Map(cookies);
    const answer = await post('/logout', {});
    expect([answer.status, locationOf(answer, '/logout')]).toEqual([303, `${service}/login?out=0`]);
    expect(cookies.size).toBe(0);
    copy.forEach((value, name) => cookies.set(name, value));
    expect(await identify()).toBe('identity-invalid');
    expect(entries.at(-1)).toMatchObject({ what: 'logout', user: 'alice' });
    const page = await (await ask('/login?out=0')).text();
    expect(page).toContain(`href="${issuer.url}/session/end?client_id=holdfast"`);
  });

  it('is refused for other sites', async () => {
    const { browser } = bed();
    const { post, identify } = browser();
    await post('/login/key', { key });
    expect((await post('/logout', {}, 'https://evil.example.com')).status).toBe(403);
    expect(await identify()).toMatchObject({ user: 'alice' });
  });
});

describe('the login page', () => {
  it('has no script, stays out of frames and caches, and lets its form name its origin', async () => {
    const { browser } = bed();
    const answer = await browser().ask('/login?to=/runs');
    const page = (await answer.text()).replaceAll(/\s+/g, ' ');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/,
    );
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
    expect(page).not.toMatch(/<script|javascript:| on\w+=/i);
    expect(page).toContain(`href="login/start?issuer=0&to=%2Fruns">Log in at ${new URL(issuer.url).host}<`);
    expect(page).toContain('<input type="hidden" name="to" value="/runs" />');
  });

  it('shows what an address contains as text', async () => {
    const { browser } = bed();
    const page = await (await browser().ask(`/login?to=${encodeURIComponent('/"><script>alert(1)</script>')}`)).text();
    expect(page).not.toContain('<script');
  });
});

describe('the page after a login', () => {
  it.each([
    '//evil.example.com',
    '///evil.example.com',
    '/\\evil.example.com',
    '\\\\evil.example.com',
    '/\t/evil.example.com',
    '/\n/evil.example.com',
    '/.//evil.example.com',
    '/..//evil.example.com',
    '/x/..//evil.example.com',
    '/%2e//evil.example.com',
    'https://evil.example.com',
    'https:evil.example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    '@evil.example.com',
    '.evil.example.com',
    ' //evil.example.com',
    '/ /evil.example.com',
    '/\u0000/evil.example.com',
    '/\r\nlocation: https://evil.example.com',
    '/\u2028/evil.example.com',
    `/${'x'.repeat(5_000)}`,
    '',
  ])('is / for an address like %j', async (to) => {
    expect(ownPath(to)).toBe('/');
    const { browser } = bed();
    const answer = await browser().post('/login/key', { key, to });
    expect(locationOf(answer, '/login/key')).toBe(`${service}/`);
  });

  it.each([
    ['/runs/r-1?tab=steps#3', '/runs/r-1?tab=steps#3'],
    ['/%2f/evil.example.com', '/%2f/evil.example.com'],
    ['/?to=//evil.example.com', '/?to=//evil.example.com'],
    ['/a/../b', '/b'],
  ])('is a path of the service: %s', async (to, path) => {
    const { browser } = bed();
    const answer = await browser().post('/login/key', { key, to });
    expect(locationOf(answer, '/login/key')).toBe(`${service}${path}`);
  });
});
