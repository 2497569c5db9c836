import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ToolServerBed, newServer, oldServer, textOf } from '../../support/mcp/tool-server-bed';

const adder = { description: 'Adds.', inputSchema: z.object({ a: z.number(), b: z.number() }) };
const sum = ({ a, b }: { a: number; b: number }) => ({ content: [{ type: 'text' as const, text: String(a + b) }] });

function modern(): McpServer {
  const server = new McpServer({ name: 'lab', version: '1' });
  server.registerTool('add', { ...adder, annotations: { readOnlyHint: true } }, sum);
  return server;
}

function legacy(): OldServer {
  const server = new OldServer({ name: 'lab', version: '1' });
  server.registerTool('add', { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } } as never, sum as never);
  return server;
}

it.each([
  ['2026-07-28', () => newServer(modern)],
  ['2025-11-25', () => oldServer(legacy)],
] as const)('calls tools of a server of %s, as negotiated', async (protocol, open) => {
  const server = await open();
  const bed = new ToolServerBed({ lab: { url: server.url, effects: { add: 'idempotent' } } });
  try {
    expect((await bed.mcp.offerOf('lab', 'default')).protocol).toBe(protocol);
    const manifest = await bed.prepared('lab_add');
    expect(manifest.tools['lab_add']).toMatchObject({ kind: 'enhanced', effect: 'idempotent' });
    expect(textOf(await bed.call(manifest, 'lab_add', { a: 1, b: 2 }))).toBe('3');
    expect(textOf(await bed.call(manifest, 'lab_add', { a: 'one' }))).toContain("The arguments of 'lab_add' do not fit");
  } finally {
    await bed.close();
    await server.close();
  }
});
