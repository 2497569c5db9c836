import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';
import type { ListedInterrupt, ListedRun, ShownRun } from '../../client/http/index';

const built = resolve(__dirname, '..', '..', 'dist', 'console');
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html',
};
const statuses = ['completed', 'completed', 'completed', 'failed', 'running', 'waiting', 'cancelled', 'idle'] as const;

function run(at: number, count: number): ListedRun {
  const status = statuses[at % statuses.length] ?? 'completed';
  const startedAt = new Date(Date.UTC(2026, 10, 25) - at * 60_000);
  return {
    id: `order-${String(count - at).padStart(5, '0')}`,
    agent: ['support', 'orders', 'billing'][at % 3] ?? 'support',
    status,
    startedAt: startedAt.toISOString(),
    ...(['running', 'waiting', 'idle'].includes(status) ? {} : { closedAt: new Date(startedAt.getTime() + 90_000).toISOString() }),
    interrupts: [],
    tags: ['night', `region-${at % 7}`],
    startedBy: 'ada',
  };
}

export const askingRun = 'asks-much';
const startedAt = new Date(Date.UTC(2026, 10, 25)).toISOString();

function interrupt(at: number): ListedInterrupt {
  const asked = { id: `ask-${at}`, address: ['support', 'call', String(at)], agent: 'support', kind: 'approval' } as const;
  const call = { tool: 'refund', callId: `call-${at}`, input: { orderId: String(at), amount: at }, inputHash: `hash-${at}` };
  return { runId: askingRun, agent: 'support', tags: [], waitingSince: startedAt, interrupt: { ...asked, ...call } };
}

function asking(interrupts: readonly ListedInterrupt[]): ShownRun {
  return {
    ...{ id: askingRun, agent: 'support', status: 'waiting', startedAt, tags: [], nextOffset: 0, build: 'one' },
    ...{ usage: { inputTokens: 0, outputTokens: 0 }, interrupts: interrupts.map((one) => one.interrupt) },
  } as unknown as ShownRun;
}

/** The console over a stubbed service, because the server's time is not under test. */
export async function manyRuns(count: number, asked = 0): Promise<{ readonly url: string; close(): Promise<void> }> {
  const runs = Array.from({ length: count }, (_, at) => run(at, count));
  const interrupts = Array.from({ length: asked }, (_, at) => interrupt(at));
  const answers: Readonly<Record<string, (query: URLSearchParams) => object>> = {
    '/runs': (query) => {
      const from = Number(query.get('after') ?? 0);
      const id = query.get('id') ?? '';
      // A run among its own isolated agents would unfold without end.
      if (query.has('parent')) return { runs: [], more: false, total: 0 };
      const fitting = runs.filter((one) => one.id.startsWith(id) && (query.get('status') ?? one.status) === one.status);
      const to = from + Number(query.get('limit') ?? 50);
      const more = to < fitting.length;
      return { runs: fitting.slice(from, to), more, ...(more ? { next: String(to) } : {}), total: fitting.length };
    },
    '/counts': () => ({ running: 625, waiting: 625, idle: 625, completed: 10, failed: 3, cancelled: 1, since: new Date().toISOString() }),
    '/agents': () => ({ agents: ['support', 'orders', 'billing'].map((name) => ({ name, description: '', takesJob: false })) }),
    '/interrupts': () => ({ interrupts, more: false }),
    [`/runs/${askingRun}`]: () => asking(interrupts),
  };
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const answer = answers[pathname];
    if (answer !== undefined) return response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(searchParams)));
    const file = pathname === '/' ? 'index.html' : pathname.replace(/^\/console\//, '');
    if (pathname.endsWith('/events')) return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (!existsSync(join(built, file))) {
      const error = { code: 'request-invalid', message: 'No such route.', fix: '' };
      return response.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ error }));
    }
    response.setHeader('content-type', types[extname(file)] ?? 'text/plain');
    return response.end(readFileSync(join(built, file)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
