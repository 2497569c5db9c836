import { Hono } from 'hono';
import type { Action, Principal } from '../../../contract/access';
import type { Interrupt } from '../../../contract/interrupts';
import { HoldfastError } from '../../../contract/errors';
import { createLogger } from '../../../host/logger';
import type { KnownCaller } from '../../../client/connection/authority';
import { Access, type AccessParts } from '../../../service/access/access';
import { decideRoutes, linkRoutes } from '../../../service/access/decide-routes';
import { AccessGate } from '../../../service/access/gate';
import { checkOrigin } from '../../../service/access/origin';
import { errorResponse } from '../../../service/http/error-response';
import type { AppParts, ServiceParts } from '../../../service/parts';
import type { Link } from '../../../service/access/links';
import { Links, shownHash } from '../../../service/access/links';
import type { AccessOptions } from '../../../service/access/parts';
import { memoryStore } from '../../support/memory-store';
import { clientWith } from '../../support/service-app';

const base = { id: 'a.pay', address: [], agent: 'desk' };
const approval: Interrupt = {
  ...base,
  kind: 'approval',
  tool: 'pay',
  callId: 'c',
  input: { to: 'ada', amount: 4 },
  inputHash: 'h1',
  by: ['ada'],
  policy: {
    name: 'refunds',
    version: 'v1',
    stage: { number: 1, of: 2, need: 1, name: 'desk' },
    given: [{ stage: 1, type: 'approve', by: 'bob' }],
  },
};
const admin: Principal = { tenant: 'acme', user: 'mailer', roles: ['admin'], proof: 'key:k1' };
const question: Interrupt = { ...base, kind: 'question', info: { question: 'Where to?' }, answerSchema: { type: 'string' } };

interface Given {
  readonly author: Principal;
  readonly run: string;
  readonly answer: readonly unknown[];
}

interface Bed {
  readonly interrupt?: Interrupt;
  readonly links?: AccessOptions['links'];
  readonly login?: Principal | Error;
  /** Default: the service listens on loopback. */
  readonly parts?: Partial<ServiceParts>;
  readonly maker?: Principal;
}

function bed({ interrupt = approval, links: options, login, parts = { hosts: [] }, maker = admin }: Bed = {}) {
  const given: Given[] = [];
  const logged: string[] = [];
  const permitted: Action[] = [];
  const state = { open: [interrupt], refusal: undefined as Error | undefined };
  const links = new Links(memoryStore(), options);
  const write = async (entry: unknown): Promise<void> => void logged.push(JSON.stringify(entry));
  const ofAccess = {
    options: {},
    keys: { isKey: (token: string) => token === 'key', identify: async () => maker },
    issuers: { takesTokens: false },
    sessions: {
      identify: async (request: Request) => {
        checkOrigin(request);
        if (login instanceof Error) throw login;
        return login;
      },
    },
    audit: { write },
    rate: { take: () => undefined },
    links,
  } as unknown as AccessParts;
  const access = new Access(ofAccess);
  const as = (caller: KnownCaller) =>
    clientWith({
      caller,
      place: { tenant: caller.tenant },
      run: (run: string) => ({
        permit: async (action: Action) => void permitted.push(action),
        interrupts: async () => (caller.tenant === 'acme' ? state.open : []),
        resume: async (...answer: readonly unknown[]) => {
          if (state.refusal !== undefined) throw state.refusal;
          const { tenant, user, roles, proof } = caller;
          given.push({ author: { tenant, user, roles, proof }, run, answer });
        },
      }),
    });
  const logger = createLogger({ level: 'trace', write: (line) => logged.push(line) });
  const ofApp = { logger, ...parts } as AppParts;
  const app = new Hono().use(new AccessGate(clientWith({ as }), access).open);
  app.onError((error, context) => errorResponse(error, context, logger));
  app.route('/runs', linkRoutes(ofApp, ofAccess)).route('/', decideRoutes(ofApp, access));
  const make = (changes: Partial<Link> = {}): Promise<string> =>
    links.make({
      ...{ tenant: 'acme', run: 'r-1', interrupt: interrupt.id, hash: shownHash(interrupt), user: 'ada', roles: ['finance'] },
      expires: Date.now() + 60_000,
      ...changes,
    });
  // What browsers send from a page without a referrer.
  const headers = { host: '127.0.0.1', origin: 'null', 'sec-fetch-site': 'same-origin' };
  const ask = async (method: string, token: string, form?: Record<string, string>) => {
    const body = form === undefined ? {} : { body: new URLSearchParams(form) };
    const response = await app.request(`http://127.0.0.1/decide/${token}`, { method, headers, ...body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const order = async (body: object, host = '127.0.0.1') => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer key', host };
    const path = `http://${host}/runs/r-1/interrupts/${interrupt.id}/links`;
    const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as { url: string; expires: string; error?: { code: string } } };
  };
  return { app, make, ask, order, given, state, logged, permitted };
}

describe('GET /decide/:token', () => {
  it('shows who asks for what, by which policy, and who decides', async () => {
    const { make, ask } = bed();
    const { status, text } = await ask('GET', await make());
    expect(status).toBe(200);
    for (const shown of [
      'Approve <bdi>pay</bdi>?',
      '&quot;amount&quot;: 4',
      'desk',
      'r-1',
      'refunds',
      'desk, 1 of 2; 1 needed',
      'bob approved',
    ])
      expect(text).toContain(shown);
    expect(text).toContain('ada (finance)');
    expect(text).toMatch(/<button[^>]*value="approve"[\s\S]*<button[^>]*value="reject"/);
    expect(text).toContain('width=device-width');
  });

  it('decides nothing, also for HEAD and for the scanner of a mail program', async () => {
    const { make, ask, given } = bed();
    const token = await make();
    expect([(await ask('GET', token)).status, (await ask('HEAD', token)).status]).toEqual([200, 200]);
    expect((await ask('GET', `${token}?decision=approve&utm_source=mail`)).status).toBe(200);
    expect(given).toEqual([]);
    expect((await ask('POST', token, { decision: 'approve' })).status).toBe(200);
  });

  it('runs no script, and stays out of frames, caches, referrers and search engines', async () => {
    const { make, ask } = bed();
    const { headers, text } = await ask('GET', await make());
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
    });
    expect(text).not.toMatch(/<script|style="|https?:/);
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = await crypto.subtle.digest('SHA-256', Buffer.from(style));
    expect(headers.get('content-security-policy')).toContain(Buffer.from(hash).toString('base64'));
  });

  it('escapes words of models, and makes hidden characters visible', async () => {
    const evil = '</pre><script>alert(1)</script>"\'\u202e\u200b';
    const { make, ask } = bed({
      interrupt: { ...approval, tool: evil, agent: evil, input: { [evil]: evil }, problem: evil, options: { evil } } as Interrupt,
    });
    const { text } = await ask('GET', await make({ user: evil, roles: [evil], run: evil }));
    expect(text).not.toMatch(/<script|<\/pre><|[\u202e\u200b]/);
    expect(text).toContain('&lt;script&gt;');
    expect(text).toContain('⟦U+202E⟧⟦U+200B⟧');
  });

  it.each<[string, (bed_: ReturnType<typeof bed>) => Promise<string> | string, number, string]>([
    ['a guess', () => 'guess', 404, 'The link is unknown, changed or incomplete.'],
    ['an expired link', ({ make }) => make({ expires: Date.now() - 1 }), 410, 'The link has expired.'],
    ['the same run of another tenant', ({ make }) => make({ tenant: 'other' }), 410, 'is for a question that waits no longer'],
    ['other arguments', ({ make }) => make({ hash: 'other' }), 410, 'is for other arguments'],
  ])('is a page with a reason for %s, and POST is, too', async (_, tokenOf, status, reason) => {
    const it_ = bed();
    const token = await tokenOf(it_);
    for (const form of [undefined, { decision: 'approve' }]) {
      const page = await it_.ask(form === undefined ? 'GET' : 'POST', token, form);
      expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=UTF-8']);
      expect(page.text).toContain(reason);
    }
    expect(it_.given).toEqual([]);
    expect(it_.logged.join('')).not.toContain(token);
  });
});

describe('POST /decide/:token', () => {
  it.each([
    [{ decision: 'approve', comment: ' Fine.\r\nGo. ' }, { type: 'approve', comment: 'Fine.\nGo.' }, 'Approved'],
    [{ decision: 'reject', comment: '' }, { type: 'reject' }, 'Rejected'],
  ])('takes %j in the name of the person, for the shown arguments', async (form, answer, said) => {
    const { make, ask, given } = bed();
    const token = await make();
    const { status, text } = await ask('POST', token, form);
    expect([status, text]).toEqual([200, expect.stringContaining(said)]);
    expect(given).toEqual([
      {
        author: { tenant: 'acme', user: 'ada', roles: ['finance'], proof: expect.stringMatching(/^link:[\w-]{16}$/) },
        run: 'r-1',
        answer: ['a.pay', answer, { inputHash: 'h1' }],
      },
    ]);
  });

  it('decides once: a second use finds the link ended', async () => {
    const { make, ask, given } = bed();
    const token = await make();
    const both = await Promise.all([ask('POST', token, { decision: 'approve' }), ask('POST', token, { decision: 'reject' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect((await ask('GET', token)).text).toContain('The link was used.');
    expect((await ask('POST', token, { decision: 'reject' })).status).toBe(410);
    expect(given).toHaveLength(1);
  });

  it.each([
    ['answer-stale', 409],
    ['server-unreachable', 503],
  ] as const)('says that the decision failed with %s, and the link can be used again', async (code, status) => {
    const refusal = new HoldfastError(code, 'Not now.');
    const it_ = bed();
    const token = await it_.make();
    it_.state.refusal = refusal;
    const refused = await it_.ask('POST', token, { decision: 'approve' });
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(refusal.message)]);
    it_.state.refusal = undefined;
    expect((await it_.ask('POST', token, { decision: 'approve' })).status).toBe(200);
  });

  it('says no more than that it failed where an error is a defect', async () => {
    const it_ = bed();
    const token = await it_.make();
    it_.state.refusal = new Error('secret insides');
    const { status, text } = await it_.ask('POST', token, { decision: 'approve' });
    expect([status, text]).toEqual([500, expect.not.stringContaining('secret insides')]);
    expect(it_.logged.join('')).not.toContain(token);
  });

  it.each<[string, RequestInit & { readonly headers?: Record<string, string> }]>([
    ['JSON', { body: '{"decision":"approve"}', headers: { 'content-type': 'application/json' } }],
    ['a form of another site', { body: new URLSearchParams({ decision: 'approve' }), headers: { 'sec-fetch-site': 'cross-site' } }],
    ['no decision', { body: new URLSearchParams({}) }],
    ['an answer to an approval', { body: new URLSearchParams({ decision: 'answer', answer: 'x' }) }],
    ['a large form', { body: new URLSearchParams({ decision: 'approve', comment: 'x'.repeat(33_000) }) }],
  ])('refuses %s, and the link can be used', async (_, sent) => {
    const { app, make, ask, given } = bed();
    const token = await make();
    expect(
      (await app.request(`/decide/${token}`, { method: 'POST', ...sent, headers: { host: 'localhost', ...sent.headers } })).status,
    ).toBeGreaterThanOrEqual(400);
    expect(given).toEqual([]);
    expect((await ask('POST', token, { decision: 'approve' })).status).toBe(200);
  });
});

describe('a link to a question', () => {
  it.each<[unknown, string, string, unknown]>([
    [{ type: 'string' }, '<textarea name="answer"', 'Hill 4', 'Hill 4'],
    [undefined, '<textarea name="answer"', 'Hill 4', 'Hill 4'],
    [{ type: 'number' }, '<input name="answer"', '4.5', 4.5],
    [{ type: 'integer' }, '<input name="answer"', 'four', 'four'],
    [{ type: 'number' }, '<input name="answer"', ' ', ' '],
    [{ type: 'boolean' }, '<select name="answer"', 'true', true],
    [{ type: 'boolean' }, '<select name="answer"', 'false', false],
    [{ enum: ['Hill 4', 'Dale 5'] }, '<option value="Hill 4">', 'Hill 4', 'Hill 4'],
  ])('with the schema %j has %s, and takes %j', async (answerSchema, field, written, answer) => {
    const { make, ask, given } = bed({ interrupt: { ...question, answerSchema } as Interrupt });
    const token = await make();
    expect((await ask('GET', token)).text).toContain(field);
    expect((await ask('POST', token, { decision: 'answer', answer: written })).status).toBe(200);
    expect(given.map((one) => one.answer)).toEqual([['a.pay', answer, {}]]);
  });

  it.each<Interrupt>([
    { ...question, answerSchema: { type: 'object', properties: {} } },
    { ...base, kind: 'in-doubt', info: { tool: 'pay' } },
    { ...base, kind: 'custom', info: { externalCall: { tool: 'pay', callId: 'c', input: {} } } },
  ])('names the console where a page has no field: %j', async (interrupt) => {
    const { make, ask, given } = bed({ interrupt });
    const token = await make();
    const { text } = await ask('GET', token);
    expect(text).toContain('Answer in the console.');
    expect(text).not.toContain('<button');
    expect((await ask('POST', token, { decision: 'answer', answer: 'x' })).status).toBe(400);
    expect(given).toEqual([]);
  });
});

describe('a link that needs a login', () => {
  const links = { login: ['refunds'] } as const;
  const ada: Principal = { tenant: 'acme', user: 'ada', roles: ['reader'], proof: 'login:https://login.example.com' };

  it.each<[string, Bed]>([
    ['without a session', {}],
    ['after the end of a session', { login: new HoldfastError('identity-invalid', 'The session has ended.') }],
  ])('sends to the login %s, and shows nothing before', async (_, session) => {
    const { make, ask, given, logged } = bed({ links, ...session });
    const token = await make();
    for (const method of ['GET', 'POST']) {
      const { status, headers, text } = await ask(method, token, method === 'POST' ? { decision: 'approve' } : undefined);
      expect([status, headers.get('location'), text]).toEqual([303, `../login?to=%2Fdecide%2F${token}`, '']);
    }
    expect(given).toEqual([]);
    expect(logged.join('')).toContain('GET /decide');
    expect(logged.join('')).not.toContain(token);
  });

  it.each([
    { ...ada, user: 'bob' },
    { ...ada, tenant: 'other' },
  ])('is refused to the login of another person: %j', async (login) => {
    const { make, ask, given } = bed({ links, login });
    const token = await make();
    const page = await ask('GET', token);
    expect([page.status, page.text]).toEqual([401, expect.stringContaining('another person than the login')]);
    expect(page.text).not.toContain('amount');
    expect((await ask('POST', token, { decision: 'approve' })).status).toBe(401);
    expect(given).toEqual([]);
  });

  it('decides with the proof of the login', async () => {
    const { make, ask, given } = bed({ links, login: ada });
    const token = await make();
    expect((await ask('GET', token)).status).toBe(200);
    expect((await ask('POST', token, { decision: 'approve' })).status).toBe(200);
    expect(given.map(({ author }) => author)).toEqual([{ tenant: 'acme', user: 'ada', roles: ['finance'], proof: ada.proof }]);
  });
});

describe('POST /runs/:id/interrupts/:interruptId/links', () => {
  afterEach(() => jest.useRealTimers());

  it('makes a link with which the named person decides', async () => {
    const { order, ask, given } = bed();
    const { status, body } = await order({ for: 'ada', roles: ['finance'] });
    expect(status).toBe(200);
    const [, token = ''] = /^http:\/\/127\.0\.0\.1\/decide\/(.+)$/.exec(body.url) ?? [];
    expect((await ask('POST', token, { decision: 'approve' })).status).toBe(200);
    expect(given).toMatchObject([{ author: { tenant: 'acme', user: 'ada', roles: ['finance'] }, run: 'r-1' }]);
  });

  it('makes links that last as long as the body says, else as the configuration says', async () => {
    jest.useFakeTimers({ now: 0 });
    const { order } = bed({ links: { expires: '2h' } });
    const expire = async (body: object): Promise<string> => (await order({ for: 'ada', ...body })).body.expires;
    expect([await expire({}), await expire({ expires: '1d' })]).toEqual(['1970-01-01T02:00:00.000Z', '1970-01-02T00:00:00.000Z']);
  });

  it('uses the public URL, and none that a caller chooses', async () => {
    const far = bed({ parts: { publicUrl: 'https://example.com/desk/' } });
    expect((await far.order({ for: 'ada' }, 'evil.test')).body.url).toMatch(/^https:\/\/example\.com\/desk\/decide\//);
    const { status, body } = await bed({ parts: {} }).order({ for: 'ada' }, 'evil.test');
    expect([status, body.error?.code]).toEqual([500, 'config-invalid']);
  });

  it.each(['approver', 'operator', 'reader'])('is forbidden to the role %s', async (role) => {
    const { status, body } = await bed({ maker: { ...admin, roles: [role] } }).order({ for: 'ada' });
    expect([status, body.error?.code]).toEqual([403, 'action-forbidden']);
  });

  it.each([
    {},
    { for: '' },
    { for: '\u200b' },
    { for: 'ada', roles: [''] },
    { for: 'ada', expires: 'soon' },
    { for: 'ada', tenant: 'other' },
  ])('refuses %j', async (body) => expect((await bed().order(body)).status).toBe(400));

  it('makes no link to what does not wait', async () => {
    const { order, state } = bed();
    state.open = [];
    expect((await order({ for: 'ada' })).body.error?.code).toBe('interrupt-unknown');
  });

  it('asks whether the caller may make links for this run', async () => {
    const { order, permitted } = bed();
    await order({ for: 'ada' });
    expect(permitted).toEqual(['links:make']);
  });
});
