import type { ListedRun } from '../../contract/service';
import { errorTable } from '../../contract/errors';
import { operations } from '../../service/http/openapi/operations';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

/*
 * What is wrong about a request, on every route of the document. A new route is in it without a line here.
 */

let bed: ServiceBed;
beforeAll(async () => {
  bed = await startServiceBed();
});
afterAll(() => bed.close());

interface Route {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

/** With ids that there are not. Agents there are: what is wrong is then told by what is behind them. */
const routes: readonly Route[] = Object.entries(operations).map(([route, { body }]) => {
  const [method = '', path = ''] = route.split(' ');
  return { route, method, path: path.replace(':agent', 'support').replace(/:\w+/g, 'nobody'), hasBody: body !== undefined };
});
const withBody = routes.filter(({ hasBody }) => hasBody);
const json = 'application/json';

async function refused(path: string, init: RequestInit): Promise<string> {
  const response = await fetch(`${bed.url}${path}`, init);
  const text = await response.text();
  const code = codeIn(text);
  // JSON-RPC has its errors in answers that came through.
  const isRefused =
    Object.hasOwn(errorTable, code) && (isRpc(path) ? response.status < 500 : response.status >= 400 && response.status < 500);
  expect({ path, status: response.status, text, isRefused }).toMatchObject({ isRefused: true });
  return code;
}

const isRpc = (path: string): boolean => path.startsWith('/a2a/');

/** Each protocol has a form of its own for errors: our code stands in all of them. */
function codeIn(text: string): string {
  const known = Object.keys(errorTable);
  const found = [...text.matchAll(/"(?:code|reason)":"([\w-]+)"/g)].map(([, code = '']) => code).find((code) => known.includes(code));
  return found ?? text.slice(0, 200);
}

describe.each(withBody)('$route', ({ method, path }) => {
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
    // Whoever goes on sending after the answer may find the connection closed.
    if (response instanceof Error) expect(response.message).toBe('fetch failed');
    else expect(codeIn(await response.text())).toBe('input-too-large');
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
  // Whoever watches over processes may add what it likes.
  const probes = ['/health', '/readyz'];
  /** Its clients send what the API of OpenAI may have. */
  const isLenient = (path: string): boolean => path.startsWith('/v1/');

  it.each(routes.filter(({ method, path }) => method === 'GET' && !probes.includes(path) && !isLenient(path)))(
    '$route refuses what it does not take',
    async ({ path }) => {
      expect(await refused(`${path}?nosuch=1`, {})).toBe('request-invalid');
    },
  );
});

it('has started nothing', async () => {
  const { runs } = (await (await fetch(`${bed.url}/runs?limit=1000`)).json()) as { readonly runs: readonly ListedRun[] };
  expect(runs).toEqual([]);
});
