import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createActivities } from '../../../activities/activities';
import type { McpServerOptions } from '../../../activities/mcp/options';
import type { CallToolResult } from '../../../contract/record/wire';
import { partsOf } from '../../../worker/worker-parts';
import { gate } from '../../support/gate';
import { ToolServerBed, newServer, oldServer, textOf } from '../../support/mcp/tool-server-bed';

const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));
let ledgers = 0;
let ledger = '';
let bed: ToolServerBed;
afterEach(() => bed.close());

const linesOfLedger = (): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);

function shop(options: Partial<McpServerOptions> = {}): void {
  ledger = join(folder, `ledger-${++ledgers}`);
  const args = [join(__dirname, '../../support/mcp/shop.mjs')];
  bed = new ToolServerBed({ shop: { command: process.execPath, args, env: { LEDGER: ledger }, ...options } as McpServerOptions });
}

const nothing = { workflowService: {} as never, namespace: 'default' };
const nowhere = { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined };

describe('a server that dies in a call', () => {
  it.each(['before', 'after'])('leaves a call in doubt whose effect is `once`, %s the payment', async (crash) => {
    shop({ effects: { pay: 'once' } });
    const manifest = await bed.prepared('shop_pay');
    const outcome = await bed.call(manifest, 'shop_pay', { crash });
    expect(outcome).toMatchObject({
      type: 'unsettled',
      why: expect.stringContaining('the connection to the MCP server "shop" broke') as string,
    });
    expect(await bed.call(manifest, 'shop_pay', { crash }, { reconcile: true })).toEqual({ type: 'unsettled', said: 'nothing' });
    expect(linesOfLedger()).toHaveLength(crash === 'before' ? 0 : 1);
    expect(textOf(await bed.call(manifest, 'shop_pay'))).toBe('paid');
  });

  it('is noticed at once over HTTP, also in the middle of an answer', async () => {
    const paid = gate();
    const server = await oldServer(() => {
      const made = new OldServer({ name: 'lab', version: '1' });
      made.registerTool('pay', { description: 'Pays.' }, () => paid.pass() as never);
      return made;
    });
    bed = new ToolServerBed({ lab: { url: server.url, effects: { pay: 'once' }, timeout: '30m' } });
    const call = bed.call(await bed.prepared('lab_pay'), 'lab_pay');
    await paid.reached;
    await server.close();
    expect(await call).toMatchObject({
      type: 'unsettled',
      why: expect.stringContaining('the connection to the MCP server "lab" broke') as string,
    });
  });

  it('is asked again about any other call', async () => {
    shop();
    const manifest = await bed.prepared('shop_pay');
    await expect(bed.call(manifest, 'shop_pay', { crash: 'before' })).rejects.toMatchObject({ code: 'tool-failed' });
    expect(textOf(await bed.call(manifest, 'shop_pay'))).toBe('paid');
  });
});

it('hears that the time of a call is up, and that a run is cancelled', async () => {
  shop({ timeout: '500ms', effects: { hang: 'once' } });
  const manifest = await bed.prepared('shop_hang');
  expect(await bed.call(manifest, 'shop_hang')).toEqual({ type: 'unsettled', timedOut: true });
  const stop = new AbortController();
  const cancelled = bed.call(manifest, 'shop_hang', {}, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('cancelled')), 100);
  await expect(cancelled).rejects.toThrow();
  expect(textOf(await bed.call(await bed.prepared('shop_count'), 'shop_count'))).toBe('1');
  expect(linesOfLedger()).toEqual(['aborted', 'aborted']);
});

it('hears of no call of a session that is sent away before its turn, and no person is asked about that call', async () => {
  const held = gate();
  let heard = 0;
  const server = await newServer(() => {
    const made = new McpServer({ name: 'shop', version: '1' });
    made.registerTool('pay', { description: 'Pays.' }, async () => {
      heard += 1;
      await held.pass();
      return { content: [{ type: 'text' as const, text: 'paid' }] };
    });
    return made;
  });
  const options = { tools: {}, environment: {}, mcp: { shop: { url: server.url, perRun: true, effects: { pay: 'once' as const } } } };
  const nothing = { workflowService: {} as never, namespace: 'default' };
  const parts = partsOf(options, {
    source: nothing,
    connection: () => nothing as never,
    taskQueue: () => 'q',
    dataConverter: () => undefined,
  });
  const mcp = { server: 'shop', tool: 'pay', inputSchema: { type: 'object' }, effect: 'once' as const, timeoutMs: 600_000 };
  const call = (at: number): Promise<CallToolResult> =>
    new MockActivityEnvironment({
      activityId: `agent/t1/shop_pay.${at}`,
      workflowExecution: { workflowId: 'default/run', runId: 'run' },
      scheduledTimestampMs: at,
      startToCloseTimeoutMs: 600_000,
      heartbeatTimeoutMs: 60_000,
    }).run(() => createActivities(parts).callTool({ tool: 'shop_pay', callId: `call${at}`, input: {}, path: ['agent'], mcp }));
  const first = call(0);
  await held.reached;
  const [sent, away] = [[1, 2, 3, 4], [5]].map((some) => some.map(call)) as [Promise<CallToolResult>[], Promise<CallToolResult>[]];
  expect(await away[0]).toMatchObject({ outcome: { type: 'failed', error: { code: 'waiting-for-turn' } } });
  expect(heard).toBe(1);
  held.open();
  for (const one of [first, ...sent]) expect(await one).toMatchObject({ outcome: { type: 'done' } });
  expect(heard).toBe(5);
  await parts.mcp?.close();
  await server.close();
});

it('tells the model what a lost session has taken along', async () => {
  shop({ perRun: true });
  const manifest = await bed.prepared('shop_count', 'shop_pay');
  expect(textOf(await bed.call(manifest, 'shop_count'))).toBe('1');
  expect(textOf(await bed.call(manifest, 'shop_count'))).toBe('2');
  await expect(bed.call(manifest, 'shop_pay', { crash: 'before' })).rejects.toMatchObject({ code: 'tool-failed' });
  const text = 'The session with "shop" is new: what earlier calls left in the session is gone.';
  expect(textOf(await bed.call(manifest, 'shop_count'))).toBe(`1 | ${text}`);
  expect(textOf(await bed.call(manifest, 'shop_count'))).toBe('2');
});

it.each(['none', 'once'] as const)('opens a session again that the server has forgotten, for effect `%s`', async (effect) => {
  const server = await oldServer(() => {
    const made = new OldServer({ name: 'lab', version: '1' });
    made.registerTool('pay', { description: 'Pays.' }, () => ({ content: [{ type: 'text', text: 'paid' }] }));
    return made;
  });
  bed = new ToolServerBed({ lab: { url: server.url, effects: { pay: effect } } });
  const manifest = await bed.prepared('lab_pay');
  server.forget();
  expect(textOf(await bed.call(manifest, 'lab_pay'))).toBe('paid');
  server.forget();
  expect((await Promise.all([1, 2, 3].map(() => bed.call(manifest, 'lab_pay')))).map(textOf)).toEqual(['paid', 'paid', 'paid']);
  expect(server.sessions).toBe(1);
  await server.close();
});

describe('a server without an answer', () => {
  it.each([
    [{ url: 'http://127.0.0.1:10/mcp' }, 'fetch failed: connect ECONNREFUSED 127.0.0.1:10'],
    [
      { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      'Connection closed. The process has ended: look at the output of the worker.',
    ],
    [{ command: 'node mcp/server.mjs' }, 'spawn node mcp/server.mjs ENOENT. Write arguments into `args`.'],
  ])('is waited for at the start of a run, and said to be why (%j)', async (options, why) => {
    bed = new ToolServerBed({ lab: options });
    await expect(bed.prepared('lab_add')).rejects.toMatchObject({
      code: 'mcp-unreachable',
      message: expect.stringContaining(why) as string,
    });
  });

  it('is named in the log of the worker, once for a run', async () => {
    bed = new ToolServerBed({});
    const told: unknown[] = [];
    const logger = new DefaultLogger('WARN', ({ message, meta }) => meta?.['code'] && told.push(message));
    const parts = partsOf({ tools: {}, environment: {}, mcp: { lab: { url: 'http://127.0.0.1:10/mcp' } } }, nowhere);
    const request = { tenant: 'default', agent: 'desk', tools: ['lab_add'], models: [], workerMiddleware: [], argumentAliases: {} };
    for (const attempt of [1, 2]) {
      const environment = new MockActivityEnvironment({ attempt, workflowExecution: { workflowId: 'default/r', runId: 'x' } }, { logger });
      await expect(environment.run(() => createActivities(parts).prepareRun(request))).rejects.toThrow('cannot be reached');
    }
    expect(told).toEqual([expect.stringMatching(/^run r waits at its start: The MCP server "lab" cannot be reached: .* ECONNREFUSED/)]);
  });

  it('fails a `once` call, which has not begun', async () => {
    const server = await newServer(() => {
      const made = new McpServer({ name: 'lab', version: '1' });
      made.registerTool('pay', { description: 'Pays.' }, () => ({ content: [{ type: 'text', text: 'paid' }] }));
      return made;
    });
    bed = new ToolServerBed({ lab: { url: server.url, effects: { pay: 'once' } } });
    const manifest = await bed.prepared('lab_pay');
    await bed.close();
    await server.close();
    bed = new ToolServerBed({ lab: { url: server.url, effects: { pay: 'once' } } });
    expect(textOf(await bed.call(manifest, 'lab_pay'))).toContain('The MCP server "lab" cannot be reached');
  });

  it('gives no header without a value', async () => {
    bed = new ToolServerBed({ lab: { url: 'http://127.0.0.1:9/mcp', headers: { authorization: undefined } } });
    await expect(bed.prepared('lab_add')).rejects.toMatchObject({
      code: 'config-invalid',
      message: '`mcp.lab.headers.authorization` has no value. Set the environment variable of the value on the worker.',
    });
  });
});

it('tells the model of errors and of results that are too large', async () => {
  const server = await newServer(() => {
    const made = new McpServer({ name: 'lab', version: '1' });
    made.registerTool('large', { description: 'Is large.' }, () => ({ content: [{ type: 'text', text: 'x'.repeat(10_000_000) }] }));
    made.registerTool('boom', { description: 'Throws.', inputSchema: z.object({}) }, () => {
      throw new Error('no luck');
    });
    made.registerTool('picture', { description: 'Draws.' }, () => ({
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'a text' } },
        { type: 'resource_link', uri: 'https://example.com/a.pdf', name: 'a', mimeType: 'application/pdf' },
      ],
    }));
    return made;
  });
  bed = new ToolServerBed({ lab: { url: server.url } });
  const manifest = await bed.prepared('lab_large', 'lab_boom', 'lab_picture');
  expect(textOf(await bed.call(manifest, 'lab_large'))).toContain("The tool 'lab_large' returned 100000");
  expect(textOf(await bed.call(manifest, 'lab_boom'))).toBe("The tool 'lab_boom' failed: no luck");
  expect(await bed.call(manifest, 'lab_picture')).toMatchObject({
    multipart: true,
    output: [
      { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      { type: 'text', text: 'a text' },
      { type: 'file', mediaType: 'application/pdf', data: { url: 'https://example.com/a.pdf' } },
    ],
  });
  await server.close();
});
