import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../contract/events';
import { connect as connectClient } from '../../client/connect';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import type { RunningService } from '../../service/http/start-service';
import { startService } from '../../service/http/start-service';
import { memoryStore } from '../support/memory-store';
import { appOn, clientWith, serviceApp } from '../support/service-app';
import { quietLogger } from './service-bed';

const json = { 'content-type': 'application/json' };

describe('the app on a client of the test', () => {
  it('stops reading when the reader of events goes away', async () => {
    let stopped: () => void = () => undefined;
    const reading = new Promise<void>((resolve) => (stopped = resolve));
    async function* events({ signal }: { signal: AbortSignal }): AsyncGenerator<RunEvent> {
      try {
        yield { type: 'run-start', agent: 'a', input: 'x', offset: 0, time: 0 };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      } finally {
        stopped();
      }
    }
    const app = appOn({ run: () => ({ view: () => Promise.resolve({ status: 'running', nextOffset: 1 }), events }) });
    const response = await app.request('/runs/r/events');
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await reading;
  });

  it('begins nothing for a HEAD of events, which nobody reads', async () => {
    jest.useFakeTimers();
    try {
      const events = jest.fn(() => (async function* (): AsyncGenerator<RunEvent> {})());
      const run = { view: () => Promise.resolve({ status: 'running', nextOffset: 1 }), events };
      const response = await appOn({ run: () => run }).request('/runs/r/events', { method: 'HEAD' });
      expect([response.status, response.headers.get('content-type'), response.body]).toEqual([200, 'text/event-stream', null]);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('answers in time when the server has stopped to answer, and goes on with it', async () => {
    const server = await startEmbeddedServer({ directory: mkdtempSync(join(tmpdir(), 'holdfast-stopped-')) });
    const client = await connectClient({ server });
    try {
      const app = createApp({ client, agents: [], logger: quietLogger, patienceMs: 300 });
      const codes = async (): Promise<unknown> =>
        Promise.all(
          [app.request('/runs/r'), app.request('/runs'), app.request('/runs/r/cancel', { method: 'POST', headers: json, body: '{}' })].map(
            async (answer) => ((await (await answer).json()) as { error?: { code: string } }).error?.code,
          ),
        );
      process.kill(server.pid, 'SIGSTOP');
      await stopped(server.pid);
      expect(await codes()).toEqual(['server-unreachable', 'server-unreachable', 'server-unreachable']);
      process.kill(server.pid, 'SIGCONT');
      const patientApp = createApp({ client, agents: [], logger: quietLogger });
      expect(await (await patientApp.request('/runs')).json()).toEqual({ runs: [], more: false });
      expect((await patientApp.request('/runs/r')).status).toBe(404);
    } finally {
      process.kill(server.pid, 'SIGCONT');
      await client.close();
      await server.stop();
    }
  });

  it('says nothing of a defect but logs it', async () => {
    const lines: string[] = [];
    const logger = createLogger({ write: (line) => lines.push(line) });
    const app = appOn({ run: () => ({ view: () => Promise.reject(new Error('password is 1234')) }) }, { logger });
    const response = await app.request('/runs/r');
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'internal' } });
    expect(body).not.toContain('password');
    expect(body).not.toMatch(/\bat .*:\d+/);
    expect(lines.join('')).toContain('password is 1234');
  });

  it.each([
    ['PUT', '/runs', 'GET, HEAD, POST', '/runs takes GET and POST, and not PUT.'],
    ['DELETE', '/runs/r', 'GET, HEAD', '/runs/r takes GET, and not DELETE.'],
    ['GET', '/runs/r/cancel', 'POST', '/runs/r/cancel takes POST, and not GET.'],
    ['OPTIONS', '/health', 'GET, HEAD', '/health takes GET, and not OPTIONS.'],
  ])('says what a route takes that is asked by %s: %s', async (method, path, allow, message) => {
    const response = await serviceApp.request(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ error: { code: 'method-unknown', message: expect.stringContaining(message) } });
  });

  it('lets pages of the sites that are named use it, and no others', async () => {
    const app = appOn({}, { origins: ['https://desk.example.com'] });
    const ask = async (origin: string, method = 'OPTIONS'): Promise<readonly [number, string | null, string | null]> => {
      const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,last-event-id' };
      const { status, headers } = await app.request('/agents', { method, headers: { origin, ...(method === 'OPTIONS' ? asks : {}) } });
      return [status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-headers')];
    };
    expect(await ask('https://desk.example.com')).toEqual([204, 'https://desk.example.com', 'content-type,last-event-id']);
    expect(await ask('https://desk.example.com', 'GET')).toEqual([200, 'https://desk.example.com', null]);
    expect(await ask('https://evil.example.com')).toEqual([204, null, 'content-type,last-event-id']);
    expect(await ask('null', 'GET')).toEqual([200, null, null]);
    const answer = await serviceApp.request('/agents', { headers: { origin: 'https://desk.example.com' } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('says to pages of a named site what is wrong, too', async () => {
    const app = appOn({}, { origins: ['https://desk.example.com'] });
    const answer = await app.request('/agents?x=1', { headers: { origin: 'https://desk.example.com' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([400, 'https://desk.example.com']);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  it.each([
    ['/health/', ' Did you mean /health?'],
    ['//health', ' Did you mean /health?'],
    ['/runs/r/', ' Did you mean /runs/r?'],
    ['/runs//cancel', ''],
    ['/nothing/', ''],
    ['/nothing', ''],
  ])('says what was meant by the path %s', async (path, question) => {
    const response = await serviceApp.request(`http://localhost${path}`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { code: 'route-unknown', message: `There is no route GET ${path}.${question}` } },
    ]);
  });

  it('takes a body with a mark of its order, and refuses one that is no UTF-8', async () => {
    const sent = async (...bytes: readonly number[]): Promise<unknown> => {
      const body = new Uint8Array([...bytes, ...new TextEncoder().encode('{"agent":"a"}')]);
      return (await serviceApp.request('/runs', { method: 'POST', headers: json, body })).json();
    };
    expect(await sent(0xef, 0xbb, 0xbf)).toMatchObject({ error: { code: 'agent-unknown' } });
    expect(await sent(0xff)).toMatchObject({ error: { code: 'request-invalid', message: expect.stringContaining('no text in UTF-8') } });
  });

  it('says when the Temporal server is gone', async () => {
    const gone = Object.assign(new Error('failed'), { cause: Object.assign(new Error('UNAVAILABLE'), { code: 14 }) });
    const response = await appOn({ run: () => ({ view: () => Promise.reject(gone) }) }).request('/runs/r');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'server-unreachable' } });
  });
});

/** Sends raw bytes; the server may close the connection. */
function send(port: number, bytes: string, breakOff = false): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes);
      if (breakOff) setImmediate(() => socket.destroy());
    });
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('the service on bytes that are no good request', () => {
  const error = jest.fn();
  const debug = jest.fn();
  const logger = { ...quietLogger, error, debug };
  let service: RunningService;
  beforeEach(async () => {
    service = await startService({ client: clientWith({}), agents: [], logger, host: '127.0.0.1', port: 0 });
  });
  const printed = jest.spyOn(console, 'error');
  afterEach(async () => {
    await service.close();
    expect([printed.mock.calls, error.mock.calls]).toEqual([[], []]);
  });
  afterAll(() => printed.mockRestore());

  it.each(['a b', '[', 'localhost:99999999', 'x@y@z', 'a/b', '%zz'])('answers the host %j with a code and logs no error', async (host) => {
    const answer = await send(service.port, `GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(answer).toMatch(/"code":"(request-invalid|host-forbidden)"/);
  });

  it.each([
    ['no request', 'GARBAGE\r\n\r\n'],
    ['a method that there is not', 'BOGUS /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a version that there is not', 'GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n'],
    ['headers without end', `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a length that is none', 'POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n'],
    ['no host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an expectation', 'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: much\r\n\r\n'],
  ])('answers %s in JSON, and goes on', async (_, bytes) => {
    const answer = await send(service.port, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    const told: unknown = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
    const message: unknown = expect.stringContaining('cannot be read: ');
    expect(told).toMatchObject({ status: 400, detail: message, error: { code: 'request-invalid', message, fix: expect.any(String) } });
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
  });

  it('ends a request that does not come in whole in time, and says so', async () => {
    const slow = await startService({ client: clientWith({}), agents: [], logger, host: '127.0.0.1', port: 0, requestMs: 200 });
    const head = 'POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    for (const bytes of [`${head}{"agent"`, 'GET /health HTTP/1.1\r\nHost: loc'])
      expect(await send(slow.port, bytes)).toContain('The request cannot be read: it did not come in whole in time.');
    expect((await fetch(`${slow.url}/health`)).status).toBe(200);
    await slow.close();
  });

  it('takes an upload of lines for as long as more lines come, and ends an upload that hangs', async () => {
    const agents = [{ name: 'clerk', description: '', takesJob: false }];
    const batches = {
      checkLine: async () => undefined,
      start: async ({ lines }: { lines: number }) => ({ id: 'b', isNew: true, lines, uses: true }),
    };
    const client = clientWith({ batches, place: { tenant: 'acme' } });
    const slow = await startService({ client, agents, logger, host: '127.0.0.1', port: 0, requestMs: 1000, store: memoryStore() });
    async function* lines(): AsyncGenerator<Uint8Array> {
      for (const until = Date.now() + 4000; Date.now() < until; await delay(20)) yield Buffer.from('"order"\n');
    }
    const headers = { 'content-type': 'application/jsonl' };
    const body = ReadableStream.from(lines());
    const answer = await fetch(`${slow.url}/batches?agent=clerk`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    expect(answer.status).toBe(201);
    const head = 'POST /batches?agent=clerk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/jsonl\r\nContent-Length: 100\r\n\r\n';
    expect(await send(slow.port, `${head}"order"`)).toContain('The request cannot be read: it did not come in whole in time.');
    await slow.close();
  });

  it('ends a reader that takes nothing of an answer, so that the answer is not kept in memory', async () => {
    const large = {
      transcript: async () =>
        Array.from({ length: 200 }, () => ({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x'.repeat(100_000) }] })),
    };
    const slow = await startService({
      client: clientWith({ run: () => large }),
      agents: [],
      logger,
      host: '127.0.0.1',
      port: 0,
      requestMs: 200,
    });
    const reader = connect(slow.port, '127.0.0.1');
    reader.pause();
    reader.write('GET /runs/r-1/transcript HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const ended = new Promise<void>((resolve) => reader.once('error', () => resolve()).once('close', () => resolve()));
    // The server reads earlier bytes after the end.
    await delay(1500);
    let taken = 0;
    reader.on('data', (bytes: Buffer) => (taken += bytes.length)).resume();
    await ended;
    expect(taken).toBeLessThan(20_000_000);
    await slow.close();
  });

  it('takes a body that breaks off for what it is and logs no error', async () => {
    const head = 'POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    const logged = new Promise<unknown>((resolve) => debug.mockImplementationOnce((_, fields) => resolve(fields)));
    await send(service.port, `${head}{"agent"`, true);
    expect(await logged).toMatchObject({ code: 'request-invalid', message: expect.stringContaining('The body broke off after') });
  });
});

/** Settles when all threads of the process have stopped, because signals are slow on a busy machine. */
async function stopped(pid: number): Promise<void> {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return;
  while (readdirSync(tasks).some((task) => !/\) T /.test(readFileSync(join(tasks, task, 'stat'), 'utf8')))) await delay(5);
}
