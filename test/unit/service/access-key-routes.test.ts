import { Hono } from 'hono';
import type { KnownCaller } from '../../../client/connection/authority';
import { actionsOf } from '../../../contract/access';
import { createLogger } from '../../../host/logger';
import { Audit } from '../../../service/access/audit';
import { auditRoutes } from '../../../service/access/audit-routes';
import { AccessGate } from '../../../service/access/gate';
import { keyRoutes } from '../../../service/access/key-routes';
import { Keys } from '../../../service/access/keys';
import { errorResponse } from '../../../service/http/error-response';
import { memoryStore } from '../../support/memory-store';
import { answerOf, clientWith } from '../../support/service-app';

const own = { 'key-maker': ['keys:manage', 'runs:read'] } as const;

function callerWith(changes: Partial<KnownCaller>): KnownCaller {
  const { roles = ['admin'] } = changes;
  return { tenant: 'acme', user: 'olga', proof: 'key:olga0000', roles, may: actionsOf(roles, own), ...changes };
}

function bed() {
  const store = memoryStore();
  const logger = createLogger({ level: 'silent' });
  const [keys, audit] = [new Keys(store), new Audit(store, logger)];
  const appOf = (changes: Partial<KnownCaller> | undefined): Hono => {
    const app = new Hono();
    app.onError((error, context) => errorResponse(error, context, logger));
    app.use(new AccessGate(clientWith({ caller: changes && callerWith(changes) }), undefined).open);
    app.route('/keys', keyRoutes({ keys, audit }));
    app.route('/audit', auditRoutes({ audit }));
    return app;
  };
  return { store, keys, audit, appOf };
}

const bob = { name: 'bob', roles: ['approver'] };

describe('the routes of keys', () => {
  it('show a key once, keep it to the tenant of the caller, and tell the audit log', async () => {
    const { keys, appOf } = bed();
    const app = appOf({});
    const { status, body } = await answerOf(app, 'POST', '/keys', { ...bob, expires: '90d' });
    expect([status, body.tenant]).toEqual([200, 'acme']);
    expect(await keys.identify(body.key)).toMatchObject({ tenant: 'acme', user: 'bob', roles: ['approver'] });
    const listed = (await answerOf(app, 'GET', '/keys')).body;
    expect(listed.keys).toMatchObject([{ id: body.id, name: 'bob', roles: ['approver'], expires: body.expires }]);
    expect(JSON.stringify(listed)).not.toContain(body.key.slice(12, 55));
    const rotated = (await answerOf(app, 'POST', `/keys/${body.id}/rotate`, { keep: '1h' })).body;
    expect(await keys.identify(rotated.key)).toMatchObject({ user: 'bob', proof: `key:${rotated.id}` });
    expect(await answerOf(app, 'DELETE', `/keys/${body.id}`)).toEqual({ status: 200, body: { id: body.id } });
    await expect(keys.identify(body.key)).rejects.toThrow('unknown or revoked');
    const lines = (await answerOf(app, 'GET', '/audit')).body;
    const who = { tenant: 'acme', user: 'olga', proof: 'key:olga0000', for: 'bob', roles: ['approver'] };
    expect(lines).toMatchObject({
      entries: [
        { what: 'key-made', key: body.id, ...who },
        { what: 'key-rotated', key: rotated.id, ...who },
        { what: 'key-revoked', key: body.id, ...who },
      ],
      more: false,
    });
    expect(JSON.stringify(lines)).not.toContain('hf_');
  });

  it('know no key of another tenant', async () => {
    const { keys, appOf } = bed();
    const { id, key } = await keys.create({ ...bob, tenant: 'acme' });
    const app = appOf({ tenant: 'other' });
    expect((await answerOf(app, 'GET', '/keys')).body).toEqual({ keys: [] });
    for (const [method, path] of [
      ['POST', `/keys/${id}/rotate`],
      ['DELETE', `/keys/${id}`],
    ] as const) {
      const { status, body } = await answerOf(app, method, path, method === 'POST' ? {} : undefined);
      expect([status, body.error.code]).toEqual([404, 'key-unknown']);
    }
    expect(await keys.identify(key)).toMatchObject({ user: 'bob' });
  });

  it.each<readonly [string, Partial<KnownCaller>, readonly string[], string | undefined]>([
    ['an admin gives any role', {}, ['admin', 'finance'], undefined],
    ['others give a role that they have', { roles: ['key-maker', 'finance'] }, ['finance', 'key-maker'], undefined],
    ['nobody gives actions that the giver lacks', { roles: ['key-maker'] }, ['key-maker', 'admin'], 'the role "admin"'],
    ['nobody gives a role for policies that the giver lacks', { roles: ['key-maker'] }, ['finance'], 'the role "finance"'],
    ['nobody sees more runs with a key than without', { mayWith: () => true }, ['reader'], 'limits olga to some runs'],
  ])('%s', async (_, caller, roles, why) => {
    const { keys, appOf } = bed();
    const app = appOf(caller);
    const { status, body } = await answerOf(app, 'POST', '/keys', { name: 'bob', roles });
    const { id } = await keys.create({ name: 'eve', roles, tenant: 'acme' });
    const rotated = await answerOf(app, 'POST', `/keys/${id}/rotate`, {});
    if (why === undefined) return expect([status, rotated.status]).toEqual([200, 200]);
    for (const refused of [body, rotated.body]) {
      expect(refused.error.code).toBe('action-forbidden');
      expect(refused.error.message).toContain(why);
    }
    expect(await keys.list()).toHaveLength(1);
  });

  it('need `access` in the configuration', async () => {
    const app = bed().appOf(undefined);
    for (const path of ['/keys', '/audit']) expect((await answerOf(app, 'GET', path)).body.error.code).toBe('access-missing');
  });
});

describe('the route of the audit log', () => {
  it('has the last lines of the tenant since a time', async () => {
    const { audit, appOf } = bed();
    const app = appOf({});
    for (const tenant of ['acme', 'other', undefined, 'acme'])
      await audit.write({ what: 'refusal', user: 'x', ...(tenant === undefined ? {} : { tenant }) });
    expect((await answerOf(app, 'GET', '/audit')).body).toMatchObject({ entries: [{ tenant: 'acme' }, { tenant: 'acme' }], more: false });
    expect((await answerOf(app, 'GET', '/audit?limit=1&since=1h')).body).toMatchObject({ entries: [{ tenant: 'acme' }], more: true });
    expect((await answerOf(app, 'GET', '/audit?since=2099-01-01')).body).toEqual({ entries: [], more: false });
    expect((await answerOf(app, 'GET', '/audit?since=soon')).body.error).toMatchObject({ code: 'request-invalid' });
    expect((await answerOf(app, 'GET', '/audit?limit=0')).body.error).toMatchObject({ code: 'request-invalid' });
  });
});
