// A server (2025-11-25) that pays at PAYMENTS, by stdin and stdout or, with the argument `http PORT`, by HTTP, where /state tells what is open.
import { randomUUID } from 'node:crypto';
import { serve } from '@hono/node-server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

let busy = 0;
const text = (said) => ({ content: [{ type: 'text', text: said }] });

function made() {
  const server = new McpServer({ name: 'till', version: '1' });
  let count = 0;
  const pay = async ({ _meta }) => {
    busy += 1;
    try {
      const headers = { 'idempotency-key': _meta['holdfast/idempotencyKey'] };
      return text(await (await fetch(process.env.PAYMENTS, { method: 'POST', headers })).text());
    } finally {
      busy -= 1;
    }
  };
  server.registerTool('look', { description: 'Looks.' }, () => text('seen'));
  server.registerTool('charge', { description: 'Pays once by key.' }, pay);
  server.registerTool('pay', { description: 'Pays.' }, pay);
  server.registerTool('count', { description: 'Counts in the session.' }, () => text(String(++count)));
  return server;
}

const [, , kind, port] = process.argv;
if (kind === 'http') {
  const sessions = new Map();
  const fetch = async (request) => {
    if (new URL(request.url).pathname === '/state') {
      const sockets = await new Promise((resolve) => served.getConnections((_, number) => resolve(number)));
      return Response.json({ busy, sockets, sessions: [...sessions.values()].map(({ worker }) => worker) });
    }
    const session = request.headers.get('mcp-session-id');
    const known = sessions.get(session)?.transport;
    if (session !== null && known === undefined) return Response.json({ error: 'Session not found' }, { status: 404 });
    if (known !== undefined) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, { transport, worker: Number(request.headers.get('x-worker')) }),
      onsessionclosed: (id) => sessions.delete(id),
    });
    await made().connect(transport);
    return transport.handleRequest(request);
  };
  const served = serve({ fetch, port: Number(port), hostname: '127.0.0.1' }, () => console.log('listening'));
} else await made().connect(new StdioServerTransport());
