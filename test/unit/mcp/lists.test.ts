import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { defineAgent } from '../../../kernel/define/agent';
import { approval } from '../../../middleware/index';
import { calls, script, text } from '../../support/answers';
import { McpSchema } from '../../../activities/mcp/options';
import { ToolServerBed, newServer, oldServer, served, textOf } from '../../support/mcp/tool-server-bed';

const done = () => ({ content: [{ type: 'text' as const, text: 'done' }] });

it('shows a changed list to new runs, and old runs keep the list of their start', async () => {
  let amount: 'number' | 'string' = 'number';
  const server = await newServer(() => {
    const made = new McpServer({ name: 'shop', version: '1' });
    const inputSchema = z.object({ amount: amount === 'number' ? z.number() : z.string() });
    made.registerTool('pay', { description: `Takes a ${amount}.`, inputSchema }, done);
    return made;
  });
  const bed = new ToolServerBed({ shop: { url: server.url } });
  const before = await bed.prepared('shop_pay');
  amount = 'string';
  const after = await bed.prepared('shop_pay');
  expect([before, after].map(({ mcp }) => mcp?.['shop_pay']?.description)).toEqual(['Takes a number.', 'Takes a string.']);
  expect(textOf(await bed.call(before, 'shop_pay', { amount: '5' }))).toContain('amount: must be number');
  expect(textOf(await bed.call(after, 'shop_pay', { amount: '5' }))).toBe('done');
  await bed.close();
  await server.close();
});

it('asks no server again for a run that continues, which needs the server only for calls', async () => {
  let isGone = false;
  let open = true;
  const handler = createMcpHandler(() => {
    const made = new McpServer({ name: 'shop', version: '1' });
    made.registerTool(isGone ? 'other' : 'pay', { description: 'Pays.', annotations: { idempotentHint: true } }, done);
    return made;
  });
  const server = await served((request) => (open ? handler.fetch(request) : Promise.resolve(new Response('', { status: 503 }))));
  const bed = new ToolServerBed({ shop: { url: server.url } });
  const layer = approval({ tools: { shop_pay: true } });
  const seller = defineAgent({
    name: 'seller',
    description: 'Sells.',
    instructions: '',
    model: 'test/model',
    tools: ['shop_pay'],
    middleware: [layer],
  });
  const pays = calls({ name: 'shop_pay', input: {} });
  const run = bed.run(seller, script(pays, pays, text('Done.')));
  const [first] = await run.interrupts();
  open = false;
  await run.goOnAsNew();
  open = true;
  await run.approve(first?.id ?? '');
  const [second] = await run.interrupts();
  isGone = true;
  await run.goOnAsNew();
  await run.approve(second?.id ?? '');
  expect(await run.result()).toBe('Done.');
  const results = (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part] : [])));
  expect(results.map(({ output }) => JSON.stringify(output))).toEqual([
    expect.stringContaining('done'),
    expect.stringContaining("The tool 'shop_pay' failed: Tool pay not found"),
  ]);
  await bed.close();
  await server.close();
});

it('keeps effects for a run that continues, and names a tool whose server left the configuration', async () => {
  const server = await newServer(() => {
    const made = new McpServer({ name: 'shop', version: '1' });
    made.registerTool('pay', { description: 'Pays.' }, done);
    return made;
  });
  const first = new ToolServerBed({ shop: { url: server.url, effects: { pay: 'once' } } });
  const manifest = await first.prepared('shop_pay');
  const kept = { shop_pay: { ...manifest.mcp!['shop_pay']!, effect: 'once' as const } };
  const other = new ToolServerBed({ shop: { url: 'http://127.0.0.1:9/mcp' } });
  expect(await other.preparedAgain(['shop_pay'], kept)).toEqual(manifest);
  const none = new ToolServerBed({});
  const unknown = { code: 'tool-unknown', message: 'The agent names the tool "shop_pay". The worker has: none.' };
  await expect(none.preparedAgain(['shop_pay'], kept)).rejects.toMatchObject(unknown);
  await expect(none.call(manifest, 'shop_pay')).rejects.toMatchObject({ message: 'This worker has no tool "shop_pay".' });
  await first.close();
  await server.close();
});

it('refuses names that models cannot call or that are not alone, and the run that needs one', async () => {
  const server = await oldServer(() => {
    const made = new OldServer({ name: 'shop', version: '1' });
    made.registerTool('any', { description: 'Makes it a server of tools.' }, done);
    made.server.setRequestHandler(z.object({ method: z.literal('tools/list') }) as never, () => ({
      tools: ['pay.v2', 'find order', 'find_order', 'x'.repeat(70), 'pay\u001b[2K', 'pay\u202e'].map((name) => ({
        name,
        description: name,
        inputSchema: { type: 'object' },
        annotations: name === 'pay.v2' ? { destructiveHint: true } : {},
      })),
    }));
    return made;
  });
  const bed = new ToolServerBed({ shop: { url: server.url } });
  const { tools, refused } = await bed.mcp.offerOf('shop', 'default');
  expect(tools).toMatchObject([{ name: 'shop_pay_v2', tool: 'pay.v2', effect: 'once', effectBy: 'hint' }]);
  expect(refused.map(({ problem }) => problem)).toEqual([
    'another tool would also be "shop_find_order"',
    'another tool would also be "shop_find_order"',
    expect.stringContaining('use at most 64 characters'),
    'its name has control characters: "pay\\u001b[2K"',
    expect.stringContaining('its name has control characters'),
  ]);
  await expect(bed.prepared('shop_find_order')).rejects.toMatchObject({
    code: 'tool-unknown',
    message: expect.stringContaining('The agent names the tool "shop_find_order". The MCP server "shop" offers: shop_pay_v2.') as string,
  });
  await bed.close();
  await server.close();
});

it('refuses long descriptions, and a run whose tools are too large together', async () => {
  const names = Array.from({ length: 80 }, (_, at) => `tool${at}`);
  const server = await newServer(() => {
    const made = new McpServer({ name: 'shop', version: '1' });
    for (const name of names) made.registerTool(name, { description: 'x'.repeat(16 * 1024) }, done);
    made.registerTool('long', { description: 'x'.repeat(16 * 1024 + 1) }, done);
    return made;
  });
  const bed = new ToolServerBed({ shop: { url: server.url } });
  await expect(bed.prepared('shop_long')).rejects.toThrow('Refused is "long": its description has more than 16 KB.');
  expect(Object.keys((await bed.prepared('shop_tool1')).mcp ?? {})).toEqual(['shop_tool1']);
  await expect(bed.prepared(...names.map((name) => `shop_${name}`))).rejects.toMatchObject({
    code: 'agent-invalid',
    message: expect.stringMatching(/ at most 1048576 fit\. Give the agent fewer tools\.$/) as string,
  });
  await bed.close();
  await server.close();
});

it.each([
  [{ a: { command: 'x', url: 'http://a' } }, 'needs a command or a url, and not both'],
  [{ a: {} }, 'needs a command or a url, and not both'],
  [{ 'a b': { command: 'x' } }, 'is no name of a server'],
  [{ a: { command: 'x' }, a_b: { command: 'x' } }, 'tools of "a_b" could be tools of "a"'],
  [{ a: { url: 'ftp://a' } }, 'is no URL such as'],
  [{ a: { command: 'x', timeout: 'soon' } }, 'is no duration'],
  [{ a: { command: 'x', effects: { pay: 'twice' } } }, 'is wrong'],
  [{ a: { command: 'x', headers: {} } }, 'has no field `headers`'],
  [{ a: { url: 'http://a', oauth: { clientId: 'x', clientSecret: 'y' } } }, 'without it the server would say who gets the secret'],
])('refuses the configuration %j', (given, problem) => {
  expect(
    McpSchema.safeParse(given)
      .error?.issues.map(({ message }) => message)
      .join(),
  ).toContain(problem);
});
