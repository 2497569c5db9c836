/** Counts effects over HTTP: POST /effects { label, key }, GET /effects, GET /effects/LABEL. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const effects = new Map<string, { requests: number; readonly keys: Set<string> }>();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  if (request.method === 'POST') {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { label, key } = JSON.parse(body) as { label: string; key: string };
    const known = effects.get(label) ?? { requests: 0, keys: new Set<string>() };
    known.requests += 1;
    known.keys.add(key);
    effects.set(label, known);
    response.end('counted');
  } else if (path === '/effects') {
    const all = [...effects].map(([label, { requests, keys }]) => [label, { requests, keys: keys.size }] as const);
    response.end(JSON.stringify(Object.fromEntries(all)));
  } else {
    response.statusCode = effects.has(decodeURIComponent(path.slice('/effects/'.length))) ? 200 : 404;
    response.end();
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.destroy(error as Error));
});
// Whoever asked last may ask again much later.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`listens at http://127.0.0.1:${(server.address() as AddressInfo).port}`));
