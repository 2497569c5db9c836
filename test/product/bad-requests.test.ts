import { request } from 'node:http';
import { errorTable } from '../../contract/errors';
import { eventually } from '../support/eventually';
import { operationsWithoutAccess as operations } from '../support/service-app';
import type { Answered, ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

const refund = { agent: 'support', input: 'Refund order 42' };
const lookup = { agent: 'support', input: 'Where is my order 43?' };

let bed: ServiceBed;
const get: ServiceBed['get'] = (...asked) => bed.get(...asked);
const post: ServiceBed['post'] = (...asked) => bed.post(...asked);
beforeAll(async () => {
  bed = await startServiceBed();
  expect((await post('/runs', { ...lookup, id: 'known' })).status).toBe(201);
}, 120_000);
afterAll(() => bed.close());

describe('requests that are wrong', () => {
  const json = { 'content-type': 'application/json' };
  const cases: readonly [string, number, string, () => Promise<Answered>][] = [
    ['a cancel that another site could send', 400, 'request-invalid', () => post('/runs/x/cancel', '', {})],
    ['a field that the route does not know', 400, 'request-invalid', () => post('/runs', { ...refund, modle: 'x' })],
    ['options of a run that are none', 400, 'options-invalid', () => post('/runs', { ...refund, options: { tool: ['x'] } })],
    ['no input', 400, 'input-invalid', () => post('/runs', { agent: 'support' })],
    ['tags that are too much together', 400, 'input-invalid', () => post('/runs', { ...refund, tags: Array(50).fill('x'.repeat(200)) })],
    ['input over the limit', 413, 'input-too-large', () => post('/runs', { ...refund, input: 'x'.repeat(300_000) })],
    ['an id that is none', 400, 'run-id-invalid', () => post('/runs', { ...refund, id: 'a b' })],
    ['a status that is none', 400, 'request-invalid', () => get('/runs?status=sleeping')],
    ['a filter that there is not', 400, 'request-invalid', () => get('/runs?tags=night')],
    ['a filter of runs on interrupts', 400, 'request-invalid', () => get('/interrupts?status=open')],
    ['a time that is none', 400, 'request-invalid', () => get('/runs?since=yesterday')],
    ['a cursor that is none', 400, 'request-invalid', () => get('/interrupts?after=abc')],
    ['a filter twice', 400, 'request-invalid', () => get('/runs?agent=a&agent=b')],
    ['a total that is neither', 400, 'request-invalid', () => get('/runs?total=1')],
    ['a total of what the server does not know', 400, 'request-invalid', () => get('/runs?total=true&mayAnswer=kim')],
    ['another tenant', 400, 'request-invalid', () => get('/runs?tenant=acme')],
    ['a limit that is none', 400, 'request-invalid', () => get('/runs?limit=many')],
    ['an offset that is none', 400, 'request-invalid', () => get('/runs/known/events?from=-1')],
    ['a word for deltas that there is not', 400, 'request-invalid', () => get('/runs/known/events?deltas=perhaps')],
    ['a Last-Event-ID that is none', 400, 'request-invalid', () => get('/runs/known/events', { 'last-event-id': 'seven' })],
    ['a run that there is not', 404, 'run-unknown', () => get('/runs/nobody')],
    ['events of a run that there is not', 404, 'run-unknown', () => get('/runs/nobody/events')],
    ['the transcript of a run that there is not', 404, 'run-unknown', () => get('/runs/nobody/transcript')],
    ['a shape of messages that is none', 400, 'request-invalid', () => get('/runs/nobody/transcript?shape=round')],
    ['a conversation that there is not', 404, 'run-unknown', () => get('/conversations/nobody')],
    ['the queue of a conversation that there is not', 404, 'run-unknown', () => get('/conversations/nobody/queue')],
    ['an answer to a run that there is not', 404, 'run-unknown', () => post('/runs/nobody/interrupts/x', { answer: 1 })],
    ['cancelling a run that there is not', 404, 'run-unknown', () => post('/runs/nobody/cancel', {}, json)],
    ['neither answer nor decision', 400, 'request-invalid', () => post('/runs/nobody/interrupts/x', { by: 'ada' })],
    ['a decision that is none', 400, 'request-invalid', () => post('/runs/nobody/interrupts/x', { decision: 'maybe' })],
    ['a route that there is not', 404, 'route-unknown', () => get('/agent')],
    ['a / too many', 404, 'route-unknown', () => get('/agents/')],
    ['a Last-Event-ID behind the end', 400, 'request-invalid', () => get('/runs/known/events', { 'last-event-id': '99999' })],
    ['a name that no agent can have', 404, 'agent-unknown', () => get('/runs?agent=a%20b')],
    ['a body that is compressed', 400, 'request-invalid', () => post('/runs', '{}', { ...json, 'content-encoding': 'gzip' })],
  ];
  it.each(cases)('refuses %s', async (_, status, code, send) => {
    const answer = await send();
    const text: unknown = expect.any(String);
    const error = { code, message: text, fix: text };
    expect(answer).toEqual({ status, body: { type: `urn:holdfast:error:${code}`, title: text, status, detail: text, error } });
  });

  it.each(['', '/queue', '/transcript'])('says of a conversation that there is not how to begin it: %s', async (route) => {
    const message = 'There is no conversation "nobody". A message that names its agent begins it.';
    expect(await get(`/conversations/nobody${route}`)).toMatchObject({ status: 404, body: { error: { code: 'run-unknown', message } } });
  });

  it('refuses an id that belongs to a run with another input', async () => {
    expect(await post('/runs', { ...lookup, id: 'known', input: 'Another' })).toMatchObject({
      status: 409,
      body: { error: { code: 'run-id-in-use' } },
    });
  });

  it.each([
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost:1', 200],
    ['[::1]:1', 200],
  ])('answers a request to the name %s with %i', async (host, status) => {
    expect(await statusFor(bed.service.port, host)).toBe(status);
  });

  it('answers to the names that the configuration allows', async () => {
    const service = await bed.another({ hosts: ['agents.internal'] });
    expect(await statusFor(service.port, 'agents.internal:80')).toBe(200);
    expect(await statusFor(service.port, 'evil.example')).toBe(403);
    await service.close();
  });
});

function statusFor(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/health', headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

/* Wrong requests on every route of the document, so a new route needs no line here. */

interface Route {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

/** Unknown ids but known agents, so that the error comes from beyond the agent. */
const routes: readonly Route[] = Object.entries(operations).map(([route, { body, ownBody = body }]) => {
  const [method = '', path = ''] = route.split(' ');
  return { route, method, path: path.replace(':agent', 'support').replace(/:\w+/g, 'nobody'), hasBody: ownBody !== undefined };
});
const withBody = routes.filter(({ hasBody }) => hasBody);
const json = 'application/json';

async function refused(path: string, init: RequestInit): Promise<string> {
  const response = await fetch(`${bed.url}${path}`, init);
  const text = await response.text();
  const code = codeIn(text);
  // JSON-RPC returns errors with status 200.
  const isRefused =
    Object.hasOwn(errorTable, code) && (isRpc(path) ? response.status < 500 : response.status >= 400 && response.status < 500);
  expect({ path, status: response.status, text, isRefused }).toMatchObject({ isRefused: true });
  return code;
}

const isRpc = (path: string): boolean => path.startsWith('/a2a/');

/** Refusals that come before the body is looked at. */
const earlier: Readonly<Record<string, string>> = { 'POST /batches': 'request-invalid', 'POST /v1/triggers/:name': 'trigger-unknown' };

function codeIn(text: string): string {
  const known = Object.keys(errorTable);
  const found = [...text.matchAll(/"(?:code|reason)":"([\w-]+)"/g)].map(([, code = '']) => code).find((code) => known.includes(code));
  return found ?? text.slice(0, 200);
}

describe.each(withBody)('$route', ({ route, method, path }) => {
  const send = (body: string, contentType = json): Promise<string> =>
    refused(path, { method, body, headers: { 'content-type': contentType } });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a nest of lists', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['a key __proto__', '{"__proto__": {"by": "x"}}'],
    [
      'wrong types',
      '{"id":{},"ids":"x","agent":1,"message":1,"messages":1,"model":1,"input":{"a":1},"by":[],"threadId":1,"answer":{},"decision":3}',
    ],
  ])('refuses %s', async (_, body) => {
    await send(body);
  });

  it('refuses another content type, which a page of another site can send', async () => {
    await send('{}', 'text/plain');
  });

  it('refuses forty megabytes without reading them', async () => {
    const response = await fetch(`${bed.url}${path}`, {
      method,
      body: 'x'.repeat(40 * 1024 * 1024),
      headers: { 'content-type': json },
    }).catch((error: unknown) => error as Error);
    // A client that still sends after the answer may find the connection closed.
    if (response instanceof Error) expect(response.message).toBe('fetch failed');
    else expect(codeIn(await response.text())).toBe(earlier[route] ?? 'input-too-large');
  });
});

describe('ids', () => {
  const given = Object.keys(operations).filter((route) => route.includes(':'));

  it.each(given)('%s refuses ids that are none', async (route) => {
    const [method = '', form = ''] = route.split(' ');
    for (const id of ['-', 'a%20b', 'x'.repeat(300), '%22%3E%3Cscript%3E', '%00', '%F0%9F%92%A9']) {
      const path = form.replace(/:\w+/g, id);
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}', headers: { 'content-type': json } };
      await refused(path, { method, ...body });
    }
  });
});

describe('queries', () => {
  // Monitoring may add query fields, and OpenAI's clients send all fields of its API.
  it.each(routes.filter(({ method, route }) => method === 'GET' && operations[route]?.anyQuery !== true))(
    '$route refuses what it does not take',
    async ({ path }) => {
      expect(await refused(`${path}?nosuch=1`, {})).toBe('request-invalid');
    },
  );
});

it('takes 500 requests at once that are no good, and answers each', async () => {
  const bodies = ['{', '[]', '{"agent":3}', '{"agent":"nobody","input":"x"}', '"x"', '{"agent":"support","input":"x","id":".."}'];
  const ask = async (number: number): Promise<number> => {
    const body = bodies[number % bodies.length] ?? '';
    const response = await fetch(`${bed.url}/runs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(((await response.json()) as { error: { code: string } }).error.code).toMatch(/^(request-invalid|agent-unknown|run-id-invalid)$/);
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 500 }, (_, number) => ask(number)));
  expect([...new Set(statuses)].sort()).toEqual([400, 404]);
  expect((await fetch(`${bed.url}/health`)).status).toBe(200);
});

it('none of them has started a run', async () => {
  const runs = await eventually(async () => {
    const { body } = await get('/runs?limit=1000');
    return body.runs.length > 0 ? (body.runs as readonly { readonly id: string }[]) : undefined;
  });
  expect(runs.map(({ id }) => id)).toEqual(['known']);
});
