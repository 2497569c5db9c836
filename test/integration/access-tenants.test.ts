import { Client, Connection } from '@temporalio/client';
import type { Hono } from 'hono';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Principal } from '../../contract/access';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import { operations } from '../support/service-app';
import { policy } from '../../middleware/index';
import { fixtureTools } from '../fixtures/tools';
import { memoryStore } from '../support/memory-store';
import { inputWith } from '../support/agui-bed';
import { sharedBed } from '../support/shared-bed';
import { eventually } from '../support/temporal';
import { calls, testServer, text } from '../support/test-bed';

const refunds = policy({ name: 'refunds', tools: ['refund'], stages: [{ fourEyes: true, by: { roles: ['finance'] } }] });
const bed = sharedBed({ tools: fixtureTools, policies: { refunds } });
const pays = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });

/** Names of people are theirs: `x-who: TENANT/USER/ROLES`. */
function identified(request: Request): Omit<Principal, 'proof'> | undefined {
  const [tenant, user, roles = 'admin'] = (request.headers.get('x-who') ?? '').split('/');
  return tenant === undefined || user === undefined ? undefined : { tenant, user, roles: roles.split('+') };
}

const kinds: string[] = [];
let connection: Connection;
let client: HoldfastClient;
let app: Hono;

beforeAll(async () => {
  const interceptors = [
    (options: { method_definition: { path: string } }, next: (given: never) => never) => {
      kinds.push(options.method_definition.path.split('/').at(-1) ?? '');
      return next(options as never);
    },
  ];
  connection = await Connection.connect({ address: testServer().address, interceptors: interceptors as never });
  client = await connect({ client: new Client({ connection }), taskQueue: bed.taskQueue });
  const agents = ['configured', 'plain'].map((name) => ({ name, description: 'Under test.', takesJob: false }));
  const access = { identify: identified };
  app = createApp({ client, agents, access, store: memoryStore(), policies: { refunds }, logger: createLogger({ level: 'silent' }) });
});
afterAll(async () => {
  await client.close();
  await connection.close();
});

interface Answered {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

async function ask(who: string, route: string, body?: unknown): Promise<Answered> {
  const [method = '', path = ''] = route.split(' ');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await app.request(path, { method, headers: { 'x-who': who, 'content-type': 'application/json' }, ...sent });
  const said = await response.text();
  return { status: response.status, body: said.startsWith('{') ? JSON.parse(said) : said };
}

async function startedAs(who: string, id: string, input = 'Refund 42'): Promise<void> {
  const { model } = bed.scripted(({ messages }) => (messages.at(-1)?.role === 'tool' ? text('Done.') : pays));
  expect(await ask(who, 'POST /runs', { agent: 'configured', input, id, model })).toMatchObject({ status: 201 });
  await eventually(async () => expect((await ask(who, `GET /runs/${id}`)).body).toMatchObject({ status: 'waiting' }));
}

const interruptOf = async (who: string, id: string): Promise<string> =>
  ((await ask(who, `GET /runs/${id}/interrupts`)).body as { interrupts: readonly { id: string }[] }).interrupts[0]?.id ?? '';

describe('a run of another tenant', () => {
  const chat = `chat-${bed.taskQueue}`;
  const run = `run-${bed.taskQueue}`;
  const bodies: Readonly<Record<string, object>> = {
    'POST /runs/:id/interrupts/:interruptId': { decision: 'approve' },
    'POST /runs/:id/interrupts/:interruptId/links': { for: 'bob' },
    'PATCH /conversations/:id/queue/:message': { message: 'Hi' },
    'POST /conversations/:id/messages': { message: 'Hi' },
    'POST /conversations/:id/title': { title: 'Mine' },
  };

  /** Each route with an id, and the protocols whose ids are in the body. */
  function requests(id: string, interrupt: string): readonly (readonly [route: string, body?: object])[] {
    const task = { id: `${id}~m1` };
    const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
    const response = `resp_${Buffer.from(`${id} response.0.0123456789abcdef`).toString('base64url')}`;
    return [
      ...Object.keys(operations)
        .filter((route) => /^\w+ \/(runs|conversations)\/:id/.test(route))
        .map((route) => {
          const [method = ''] = route.split(' ');
          const path = route.replace(':id', id).replace(':interruptId', interrupt).replace(':address', 'a').replace(':message', 'm1');
          return [path, method === 'GET' || method === 'DELETE' ? undefined : (bodies[route] ?? {})] as const;
        }),
      ['POST /runs/cancel', { ids: [id] }],
      ['POST /runs/retry', { ids: [id] }],
      ['POST /runs/upgrade', { ids: [id], dryRun: true }],
      ['POST /interrupts/answer', { answers: [{ runId: id, interruptId: interrupt, decision: 'approve' }] }],
      [`GET /runs?id=${id}`],
      [`GET /runs?parent=${id}`],
      ['POST /agui/configured/connect', inputWith({ threadId: id, runId: 'r' }) as object],
      ['POST /agui/configured/cancel', { threadId: id }],
      [`GET /aisdk/configured/${id}/messages`],
      [`GET /aisdk/configured/${id}/stream`],
      ['POST /a2a/configured', rpc('GetTask', task)],
      ['POST /a2a/configured', rpc('CancelTask', task)],
      ['POST /a2a/configured', rpc('SubscribeToTask', task)],
      ['POST /a2a/configured', rpc('ListTasks', { contextId: id })],
      [`GET /v1/responses/${response}`],
      [`POST /v1/responses/${response}/cancel`, {}],
    ];
  }

  it('is an unknown run: the same answers, by the same number and kind of requests to the server', async () => {
    await startedAs('acme/ann', run);
    const { model } = bed.scripted(() => text('Hi.'));
    await client.forTenant('acme').conversation('plain', chat, { model }).send('Hi', { id: 'm1' });
    const interrupt = await interruptOf('acme/ann', run);
    const log = (await ask('acme/ann', `GET /runs/${run}`)).body as object;

    const seen = async (id: string): Promise<readonly unknown[]> => {
      const outcomes: unknown[] = [];
      for (const [route, body] of requests(id, interrupt)) {
        kinds.length = 0;
        const { status, body: said } = await ask('globex/eve', route, body);
        const response = `resp_${Buffer.from(`${id} response`).toString('base64url').slice(0, 20)}`;
        const told = JSON.stringify(said)
          .replaceAll(id, 'ID')
          .replaceAll(new RegExp(`${response}\\S*`, 'g'), 'RESP');
        outcomes.push([
          route.replaceAll(id, 'ID').replaceAll(new RegExp(`${response}[^/]*`, 'g'), 'RESP'),
          status,
          told,
          [...kinds].sort(),
        ]);
      }
      return outcomes;
    };
    const unknown = await seen(`none-${bed.taskQueue}`);
    expect(await seen(run)).toEqual(unknown);
    expect(await seen(chat)).toEqual(unknown);
    expect((await ask('acme/ann', `GET /runs/${run}`)).body).toEqual(log);
    expect((await ask('globex/eve', `GET /conversations/${chat}`)).status).toBe(404);
  });

  it('is in no list, count, inbox or usage of this tenant, and a case of letters is no other tenant', async () => {
    await eventually(async () => expect((await ask('acme/ann', 'GET /interrupts')).body).toMatchObject({ interrupts: [{ runId: run }] }));
    for (const tenant of ['globex', 'ACME', 'acm', 'acme:', 'Acme']) {
      expect((await ask(`${tenant}/eve`, 'GET /runs?total=true')).body).toMatchObject({ runs: [], total: 0 });
      expect((await ask(`${tenant}/eve`, 'GET /interrupts')).body).toMatchObject({ interrupts: [] });
      expect((await ask(`${tenant}/eve`, 'GET /counts')).body).toMatchObject({ running: 0, waiting: 0, idle: 0 });
      expect((await ask(`${tenant}/eve`, 'GET /usage')).body).toMatchObject({ rows: [] });
    }
  });

  it('may have the same id', async () => {
    await startedAs('globex/eve', run, 'Refund 43');
    expect((await ask('globex/eve', `GET /runs/${run}`)).body).toMatchObject({ startedBy: 'eve' });
    expect((await ask('acme/ann', `GET /runs/${run}`)).body).toMatchObject({ startedBy: 'ann' });
    await ask('globex/eve', `POST /runs/${run}/cancel`, {});
    expect((await ask('acme/ann', `GET /runs/${run}`)).body).toMatchObject({ status: 'waiting' });
  });

  it('shares workers fairly: the tenant is the fairness key of the workflow', async () => {
    const { raw } = await new Client({ connection }).workflow.getHandle(`acme/${run}`).describe();
    expect(raw.workflowExecutionInfo?.priority).toMatchObject({ fairnessKey: 'acme' });
  });
});

describe('names', () => {
  const id = `names-${bed.taskQueue}`;

  it('are those of the token: a body that says others is refused, and changes nothing', async () => {
    await startedAs('acme/ann', id);
    const interrupt = await interruptOf('acme/ann', id);
    for (const [route, body] of [
      ['POST /runs', { agent: 'configured', input: 'x', by: 'mallory' }],
      [`POST /runs/${id}/cancel`, { by: 'mallory' }],
      [`POST /runs/${id}/interrupts/${interrupt}`, { decision: 'approve', by: 'bob' }],
      [`POST /runs/${id}/interrupts/${interrupt}`, { decision: 'approve', roles: ['finance'] }],
      ['POST /conversations/c1/messages', { agent: 'plain', message: 'Hi', by: 'mallory' }],
      [
        'POST /agui/configured',
        inputWith({ messages: [{ id: 'u', role: 'user', content: 'Hi' }], forwardedProps: { by: 'mallory' } }) as object,
      ],
      ['POST /aisdk/configured', { id: 'c2', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }], by: 'mallory' }],
      ['POST /v1/responses', { model: 'configured', input: 'Hi', by: 'mallory' }],
    ] as const)
      expect([route, await ask('acme/ann/admin+finance', route, body)]).toMatchObject([
        route,
        { status: 400, body: { error: { code: 'author-forbidden' } } },
      ]);
  });

  it('are compared for four eyes with the proof, and the log says how each name was proven', async () => {
    const interrupt = await interruptOf('acme/ann', id);
    const approve = (who: string) => ask(who, `POST /runs/${id}/interrupts/${interrupt}`, { decision: 'approve' });
    expect(await approve('acme/ann/admin+finance')).toMatchObject({ status: 403, body: { error: { code: 'answer-forbidden' } } });
    expect(await approve('acme/bob/approver')).toMatchObject({ status: 403, body: { error: { code: 'answer-forbidden' } } });
    expect(await approve('acme/bob/finance')).toMatchObject({ status: 403, body: { error: { code: 'action-forbidden' } } });
    expect(await approve('acme/bob/approver+finance')).toMatchObject({ status: 200 });
    await eventually(async () => expect((await ask('acme/ann', `GET /runs/${id}`)).body).toMatchObject({ status: 'completed' }));
    const { body } = await ask('acme/ann', `GET /runs/${id}/events`);
    expect(body).toMatch(/"type":"interrupt-end".*"by":"bob".*"proof":"identify"/);
  });
});
