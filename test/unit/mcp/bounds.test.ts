import type { RequestId } from '@modelcontextprotocol/client';
import type { Gate } from '../../support/gate';
import { gate } from '../../support/gate';
import { ToolServerBed, served, textOf } from '../../support/mcp/tool-server-bed';

const mb = 1024 * 1024;
const bytes = new TextEncoder();
const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const closers: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

interface Asked {
  readonly method: string;
  readonly id?: RequestId;
}

/** A server of 2025-11-25 that answers calls of `look` with `answer`. */
async function lab(answer: (asked: Asked, request: Request) => Promise<Response> | Response, timeout = '5s', get?: Response) {
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'lab', version: '1' } },
    'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
    ping: {},
  };
  const server = await served(async (request) => {
    if (request.method !== 'POST') return get ?? new Response('', { status: 405 });
    const asked = (await request.clone().json()) as Asked;
    if (asked.id === undefined) return new Response('', { status: 202 });
    if (asked.method === 'tools/call') return answer(asked, request);
    const result = results[asked.method];
    return Response.json({
      jsonrpc: '2.0',
      id: asked.id,
      ...(result === undefined ? { error: { code: -32601, message: 'No.' } } : { result }),
    });
  });
  const bed = new ToolServerBed({ lab: { url: server.url, timeout } });
  closers.push(
    () => bed.close(),
    () => server.close(),
  );
  const manifest = await bed.prepared('lab_look');
  return () => bed.call(manifest, 'lab_look');
}

/** A body without an end. `sent`: in MB. */
function endless(
  type: string,
  status: number,
  start: string,
  end = '',
): { readonly response: Response; readonly closed: Gate; sent(): number } {
  const closed = gate();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.encode(start)),
    pull: (controller) => {
      sent += 1;
      controller.enqueue(bytes.encode('x'.repeat(mb) + end));
    },
    cancel: () => void closed.pass(),
  });
  return { response: new Response(body, { status, headers: { 'content-type': type } }), closed, sent: () => sent };
}

it.each([
  ['application/json', '{"x":"'],
  ['text/event-stream', 'data: "'],
])('ends an answer without an end, and tells the model (%s)', async (type, start) => {
  const { response, closed, sent } = endless(type, 200, start);
  const call = await lab(() => response);
  expect(textOf(await call())).toContain('The MCP server "lab" sent a message of more than 16 MB.');
  await closed.reached;
  expect(sent()).toBeLessThan(64);
});

it.each(['text/plain', 'text/event-stream'])('reads no error without an end (%s)', async (type) => {
  const { response, closed, sent } = endless(type, 500, 'no luck', '\n\n');
  const call = await lab(() => response);
  await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('no luck') as string });
  await closed.reached;
  expect(sent()).toBeLessThan(64);
});

it('takes many small messages before the answer of a call', async () => {
  const call = await lab(({ id }) => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        const told = { method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(mb) } };
        if (sent < 20) return controller.enqueue(bytes.encode(event(told).replaceAll('\n', '\r\n')));
        controller.enqueue(bytes.encode(event({ id, result: { content: [{ type: 'text', text: 'seen' }] } })));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  expect(textOf(await call())).toBe('seen');
});

it('ends the request of a call whose time is up, and keeps the stream of the session', async () => {
  const ended = gate();
  let isSessionOpen = true;
  const open = (cancel: () => void): Response =>
    new Response(new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes.encode(':\n\n')), cancel }), {
      headers: { 'content-type': 'text/event-stream' },
    });
  const session = open(() => (isSessionOpen = false));
  const call = await lab(() => open(() => void ended.pass()), '500ms', session);
  await expect(call()).rejects.toMatchObject({ code: 'tool-timeout' });
  await ended.reached;
  expect(isSessionOpen).toBe(true);
});
