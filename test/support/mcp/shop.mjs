// A server by stdin and stdout (2025-11-25) with a tool that pays. The file LEDGER gets a line for each payment. CRASH: when the process ends.
// The file STARTS gets a line for each process. STRICT: the process ends if anything comes before `initialize`.
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

if (process.env.STARTS !== undefined) appendFileSync(process.env.STARTS, 'started\n');
if (process.env.STRICT !== undefined) process.stdin.once('data', (first) => String(first).includes('"initialize"') || process.exit(1));
const server = new McpServer({ name: 'shop', version: '1' });
const text = (said) => ({ content: [{ type: 'text', text: said }] });
let count = 0;
server.registerTool('pay', { description: 'Pays.', inputSchema: { crash: z.string().optional() } }, ({ crash }) => {
  if (crash === 'before') process.kill(process.pid, 'SIGKILL');
  appendFileSync(process.env.LEDGER, 'paid\n');
  if (crash === 'after') process.kill(process.pid, 'SIGKILL');
  return text('paid');
});
server.registerTool('count', { description: 'Counts in the session.', inputSchema: {} }, () => text(String(++count)));
server.registerTool('hang', { description: 'Never answers.', inputSchema: {} }, (_, { signal }) => {
  signal.addEventListener('abort', () => appendFileSync(process.env.LEDGER, 'aborted\n'));
  return new Promise(() => undefined);
});
server.registerTool('sell', { description: 'Asks before it pays.', inputSchema: {} }, async () => {
  const { action, content } = await server.server.elicitInput({
    message: 'Pay 80?',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  });
  if (action !== 'accept' || content.ok !== true) return text('not paid');
  appendFileSync(process.env.LEDGER, 'paid\n');
  return text('paid');
});
await server.connect(new StdioServerTransport());
