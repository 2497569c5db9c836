import { createHmac } from 'node:crypto';
import { HoldfastError } from '../../../contract/errors';
import type { AccessOptions } from '../../../service/access/parts';
import { ProjectConfigSchema } from '../../../service/project/project-config';
import type { TriggerDelivery, TriggerOptions, TriggerStart } from '../../../service/triggers/options';
import { memoryStore } from '../../support/memory-store';
import { answerOf } from '../../support/service-app';
import type { Answered } from '../../support/trigger-bed';
import { deliver, post, secret, signedAs, startedRuns, triggerApp } from '../../support/trigger-bed';

const usual: TriggerStart = { agent: 'support', input: 'Order 42 is late.' };

function bed(options: Partial<TriggerOptions> = {}, access?: AccessOptions) {
  const [store, runs] = [memoryStore(), startedRuns()];
  const seen: TriggerDelivery[] = [];
  const start = (delivery: TriggerDelivery): TriggerStart | undefined => {
    seen.push(delivery);
    return usual;
  };
  const triggers = { orders: { from: 'standard', secrets: secret, start, ...options } as TriggerOptions };
  return { app: triggerApp(runs, triggers, store, access === undefined ? {} : { access }), store, runs, seen, triggers };
}

const throwing = (): never => {
  throw new HoldfastError('agent-unknown', 'No.');
};
const codeOf = ({ status, body }: Answered): readonly unknown[] => [status, body.error?.code];

describe('POST /v1/triggers/:name', () => {
  it('starts a run in the name of the trigger, which sees the delivery without credentials', async () => {
    const { app, runs, seen } = bed();
    const body = '{"order":42}';
    const secrets = { authorization: 'Bearer x', cookie: 'a=b', 'X-Api-Key': 'x', 'X-Gitlab-Token': 'x' };
    const headers = { ...signedAs(body), 'X-Shop': 'Berlin', 'Idempotency-Key': '7', ...secrets };
    expect(await post(app, 'orders', body, headers)).toEqual({ status: 202, body: { run: 'orders:msg_1' } });
    expect(runs.runs.get('orders:msg_1')).toBe('Order 42 is late.');
    expect(runs.callers).toEqual([
      { tenant: 'default', user: 'trigger:orders', proof: 'trigger:orders', roles: [], may: new Set(['runs:start']) },
    ]);
    const { headers: given = {}, ...rest } = seen[0] ?? {};
    expect(rest).toEqual({ payload: { order: 42 }, id: 'msg_1', trigger: 'orders' });
    expect(given).toMatchObject({ 'x-shop': 'Berlin', 'webhook-id': 'msg_1', 'idempotency-key': '7' });
    for (const name of ['webhook-signature', ...Object.keys(secrets)]) expect(given).not.toHaveProperty([name.toLowerCase()]);
  });

  it.each(['ä'.repeat(3), 'order/42', 'x'.repeat(200), '.start', `${'y'.repeat(199)}`])(
    'gives the delivery %j a valid id of a run',
    async (id) => {
      const { app } = bed({
        from: {
          signature: 'X-S',
          id: () =>
            Buffer.from(id)
              .toString('latin1')
              .replace(/[^!-~]/g, '?'),
        },
      });
      const signature = createHmac('sha256', secret).update('{}').digest('hex');
      const { status, body } = await post(app, 'orders', '{}', { 'x-s': signature });
      expect(status).toBe(202);
      expect(body.run).toMatch(/^orders:[\w.:@-]{1,193}$/);
    },
  );

  it('takes the empty body and a byte order mark as they were signed', async () => {
    const { app, seen } = bed();
    expect((await post(app, 'orders', '', signedAs(''))).status).toBe(202);
    expect((await post(app, 'orders', '\ufeff{"a":1}', signedAs('\ufeff{"a":1}', { id: 'msg_2' }))).status).toBe(202);
    expect(seen.map(({ payload }) => payload)).toEqual([{}, { a: 1 }]);
  });

  it.each<readonly [string, readonly unknown[], string, Record<string, string>]>([
    ['an unsigned delivery', [401, 'delivery-refused'], '{}', {}],
    ['a forged delivery', [401, 'delivery-refused'], '{"a":1}', signedAs('{"a":2}')],
    ['a late delivery', [401, 'delivery-refused'], '{}', signedAs('{}', { at: Date.now() - 400_000 })],
    ['a body that announces too much', [413, 'input-too-large'], '{}', { ...signedAs('{}'), 'content-length': '101' }],
    ['a body that is too large', [413, 'input-too-large'], 'x'.repeat(101), signedAs('x'.repeat(101))],
    ['a compressed body', [400, 'request-invalid'], '{}', { ...signedAs('{}'), 'content-encoding': 'gzip' }],
    ['a signed body that is no JSON', [400, 'request-invalid'], '{', signedAs('{')],
    ['a signed body with a key that no object keeps', [400, 'request-invalid'], '{"__proto__":1}', signedAs('{"__proto__":1}')],
  ])('refuses %s, and keeps and starts nothing', async (_, outcome, body, headers) => {
    const { app, runs, store, seen } = bed({ limit: 100 });
    expect(codeOf(await post(app, 'orders', body, headers))).toEqual(outcome);
    expect([runs.runs.size, store.entries.size, seen]).toEqual([0, 0, []]);
  });

  it.each(['other', 'constructor', '__proto__'])('knows no trigger %s', async (name) => {
    expect(codeOf(await deliver(bed().app, name, {}))).toEqual([404, 'trigger-unknown']);
  });

  it('reads no more of a body than the limit, and nothing of an unsigned body', async () => {
    const { app } = bed({ limit: 100 });
    let pulls = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          pulls += 1;
          controller.enqueue(new Uint8Array(50));
        },
      });
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await app.request('/v1/triggers/orders', { method: 'POST', headers, body: endless(), duplex: 'half' } as RequestInit)).status;
    expect(await ask(signedAs('{}'))).toBe(413);
    expect(pulls).toBeLessThanOrEqual(5);
    pulls = 0;
    expect(await ask({})).toBe(401);
    expect(pulls).toBeLessThanOrEqual(1);
  });

  it('answers the challenge of Slack, if it is signed', async () => {
    const { app, store } = bed({ from: 'slack', secrets: 'slack secret' });
    const body = JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1a' });
    const time = String(Math.floor(Date.now() / 1000));
    const signature = `v0=${createHmac('sha256', 'slack secret').update(`v0:${time}:${body}`).digest('hex')}`;
    const headers = { 'x-slack-request-timestamp': time, 'x-slack-signature': signature };
    expect(await post(app, 'orders', body, headers)).toEqual({ status: 200, body: { challenge: '3eZbrw1a' } });
    expect(codeOf(await post(app, 'orders', body, { ...headers, 'x-slack-signature': `v0=${'0'.repeat(64)}` }))).toEqual([
      401,
      'delivery-refused',
    ]);
    expect(store.entries.size).toBe(0);
  });

  it.each<readonly [string, (delivery: TriggerDelivery) => unknown, string]>([
    ['an agent that does not exist', () => ({ ...usual, agent: 'nobody' }), 'agent-unknown'],
    ['a job for an agent that takes texts', () => ({ ...usual, input: { order: 42 } }), 'input-invalid'],
    ['a job that does not fit', () => ({ agent: 'clerk', input: { oder: 42 } }), 'input-invalid'],
    ['no object', () => 'support', 'trigger-failed'],
    ['null', () => null, 'trigger-failed'],
    ['a promise', async () => Promise.resolve(usual), 'trigger-failed'],
    ['an unknown field', () => ({ ...usual, by: 'ann' }), 'trigger-failed'],
    ['a value that is no JSON', () => ({ ...usual, values: { at: new Date() } }), 'trigger-failed'],
    ['an error, also one with a code of Holdfast', throwing, 'trigger-failed'],
  ])('keeps a delivery for which `start` gives %s', async (_, start, code) => {
    const { app, runs } = bed({ start: start as TriggerOptions['start'] });
    expect(await deliver(app, 'orders', { order: 42 })).toEqual({ status: 202, body: { kept: 'msg_1' } });
    expect((await answerOf(app, 'GET', '/triggers/orders/deliveries')).body).toMatchObject({
      deliveries: [{ id: 'msg_1', problem: { code }, payload: '{"order":42}' }],
      more: false,
    });
    expect(runs.runs.size).toBe(0);
  });

  it('needs no identity of a service with access, whose audit log has the refusals', async () => {
    const { app, store } = bed({ tenant: 'acme' }, { identify: () => ({ tenant: 'acme', user: 'ann', roles: ['admin'] }) });
    expect((await deliver(app, 'orders', {})).body).toEqual({ run: 'orders:msg_1' });
    expect(codeOf(await post(app, 'orders', '{}', {}))).toEqual([401, 'delivery-refused']);
    const lines: unknown[] = [];
    for await (const line of store.lines()) lines.push(JSON.parse(line));
    expect(lines).toMatchObject([{ what: 'refusal', route: 'POST /v1/triggers/orders', code: 'delivery-refused' }]);
  });
});

describe('kept deliveries', () => {
  const broken = { start: () => Object.assign({}, usual, { agent: 'nobody' }) };

  it('are listed newest first, and cut', async () => {
    jest.useFakeTimers({ now: Date.now() });
    const { app } = bed(broken);
    for (const id of ['c', 'a', 'b']) {
      await deliver(app, 'orders', { text: 'x'.repeat(3000) }, { id });
      jest.advanceTimersByTime(1000);
    }
    jest.useRealTimers();
    const { deliveries, more } = (await answerOf(app, 'GET', '/triggers/orders/deliveries?limit=2')).body;
    expect([deliveries.map(({ id }: { id: string }) => id), more]).toEqual([['b', 'a'], true]);
    expect(deliveries[0].payload).toHaveLength(2000);
    expect((await answerOf(app, 'GET', '/triggers')).body).toEqual({ triggers: [{ name: 'orders', from: 'standard' }] });
  });

  it('are planned anew at a replay, and stay with a new problem', async () => {
    let agent = 'nobody';
    const { app, runs } = bed({ start: () => ({ ...usual, agent }) });
    await deliver(app, 'orders', {});
    const replay = () => answerOf(app, 'POST', '/triggers/orders/deliveries/msg_1/replay');
    agent = 'somebody';
    expect((await replay()).body).toEqual({ kept: 'msg_1' });
    expect((await answerOf(app, 'GET', '/triggers/orders/deliveries')).body.deliveries[0].problem.message).toContain('somebody');
    agent = 'support';
    expect((await replay()).body).toEqual({ run: 'orders:msg_1' });
    expect(runs.runs.size).toBe(1);
  });

  it.each(['POST', 'DELETE'] as const)('%s of an unknown delivery or trigger is refused', async (method) => {
    const { app } = bed();
    const act = method === 'POST' ? '/replay' : '';
    expect(codeOf(await answerOf(app, method, `/triggers/orders/deliveries/x${act}`))).toEqual([404, 'delivery-unknown']);
    expect(codeOf(await answerOf(app, method, `/triggers/others/deliveries/x${act}`))).toEqual([404, 'trigger-unknown']);
  });

  it('of a started or ignored delivery there are none to drop', async () => {
    const { app } = bed();
    await deliver(app, 'orders', {});
    expect(codeOf(await answerOf(app, 'DELETE', '/triggers/orders/deliveries/msg_1'))).toEqual([404, 'delivery-unknown']);
  });

  it.each<readonly [string, AccessOptions, number]>([
    ['of another tenant', { identify: () => ({ tenant: 'other', user: 'ann', roles: ['admin'] }) }, 404],
    ['whom `identify` limits to some runs', { identify: () => ({ tenant: 'acme', user: 'ann', roles: ['admin'], may: () => true }) }, 403],
    [
      'who may only answer',
      { roles: { judge: ['runs:answer'] }, identify: () => ({ tenant: 'acme', user: 'ann', roles: ['judge'] }) },
      403,
    ],
  ])('are hidden from a caller %s', async (_, access, status) => {
    const { app } = bed({ ...broken, tenant: 'acme' }, access);
    await deliver(app, 'orders', { secret: true });
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/msg_1/replay'],
      ['DELETE', '/msg_1'],
    ] as const)
      expect((await answerOf(app, method, `/triggers/orders/deliveries${path}`)).status).toBe(status);
  });

  it('are of one trigger and tenant', async () => {
    const { runs, store, triggers } = bed(broken);
    const { orders } = triggers;
    const app = triggerApp(runs, { orders, others: orders, foreign: { ...orders, tenant: 'acme' } }, store);
    await deliver(app, 'orders', {});
    expect((await answerOf(app, 'GET', '/triggers/others/deliveries')).body.deliveries).toEqual([]);
    expect((await answerOf(app, 'GET', '/triggers')).body.triggers.map(({ name }: { name: string }) => name)).toEqual(['orders', 'others']);
    expect((await answerOf(app, 'GET', '/triggers/foreign/deliveries')).status).toBe(404);
  });
});

describe('`triggers` of the configuration', () => {
  const start = (): TriggerStart => usual;
  const read = (trigger: object, name = 'orders') =>
    ProjectConfigSchema.safeParse({
      agents: './agents.ts',
      triggers: { [name]: { from: 'github', secrets: 'secret', start, ...trigger } },
    });

  const issuesOf = ({ error }: ReturnType<typeof read>) =>
    error?.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);

  it.each([
    {},
    { from: 'standard', secrets: [secret, `whsec_${Buffer.alloc(24, 1).toString('base64')}`], tolerance: '1m', tenant: 'acme', limit: 10 },
    { from: { signature: 'X-S', prefix: 'v1=', encoding: 'base64', id: () => '1', timestamp: 'X-T' }, tolerance: '1m' },
  ])('take %j', (trigger) => expect(read(trigger).error).toBeUndefined());

  it.each<readonly [string, object]>([
    ['from: is none of standard, github, stripe, slack, and no form such as', { from: 'gitlab' }],
    ['from: is none of standard', { from: { signature: 'X-S' } }],
    ['from.signature: is no name of a header', { from: { signature: 'X S', id: 'X-Id' } }],
    ['secrets: lack a value. Set the environment variable', { secrets: undefined }],
    ['secrets: lack a value. Set the environment variable', { secrets: ['secret', ''] }],
    ['secrets: are 0. Give one, or two', { secrets: [] }],
    ['secrets: are 3. Give one, or two', { secrets: ['a', 'b', 'c'] }],
    ['secrets: have one secret twice', { secrets: ['secret', 'secret'] }],
    ['secrets: have a secret that is not "whsec_"', { from: 'standard', secrets: 'whsec_c2hvcnQ=' }],
    ['start: is no function', { start: 'support' }],
    ['tolerance: is refused: tolerance "soon" is no duration', { from: 'slack', tolerance: 'soon' }],
    ['tolerance: has no effect, because these deliveries have no time', { tolerance: '5m' }],
    ['tenant: is no name of a tenant', { tenant: 'push:a' }],
    ['limit: Too small', { limit: 0 }],
  ])('refuse with "%s"', (problem, trigger) => {
    const issues = issuesOf(read(trigger));
    expect(issues).toEqual([expect.stringContaining(`triggers.orders.${problem}`)]);
    expect(JSON.stringify(issues)).not.toContain('whsec_c2');
  });

  it.each([
    ['a name is 1 to 64 letters', 'my orders'],
    ['a name of a trigger starts with a letter', '_orders'],
  ])('refuse with "%s"', (problem, name) => {
    expect(issuesOf(read({}, name))).toEqual([expect.stringContaining(`triggers.${name}: is refused: ${problem}`)]);
  });
});
