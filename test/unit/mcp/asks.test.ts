import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer, createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import type { Json } from '../../../contract/messages/messages';
import { defineAgent } from '../../../kernel/define/agent';
import { approval } from '../../../middleware/index';
import { calls, script, text } from '../../support/answers';
import { ToolServerBed, newServer, textOf } from '../../support/mcp/tool-server-bed';

const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));
const form = { type: 'object' as const, properties: { ok: { type: 'boolean' as const } }, required: ['ok'] };
const codec = createRequestStateCodec<{ order: number }>({ key: randomBytes(32), ttlSeconds: 7 * 24 * 3600 });
let payments = 0;

function asking(): McpServer {
  const server = new McpServer({ name: 'lab', version: '1' }, { requestState: { verify: codec.verify } });
  server.registerTool('sell', { description: 'Asks before it pays.' }, async (context) => {
    const [answer] = Object.values(context.mcpReq.inputResponses ?? {}) as { action?: string; content?: { ok?: boolean } }[];
    if (answer === undefined)
      return inputRequired({
        inputRequests: { confirm: inputRequired.elicit({ message: 'Pay 80?', requestedSchema: form }) },
        requestState: await codec.mint({ order: 42 }, context),
      });
    const said = answer.action === 'accept' && answer.content?.ok === true ? 'paid' : 'not paid';
    if (said === 'paid') payments += 1;
    return { content: [{ type: 'text' as const, text: said }] };
  });
  return server;
}

interface Scene {
  readonly bed: () => ToolServerBed;
  readonly paid: () => number;
  close(): Promise<void>;
}

async function modern(): Promise<Scene> {
  const server = await newServer(asking);
  payments = 0;
  return { bed: () => new ToolServerBed({ shop: { url: server.url } }), paid: () => payments, close: () => server.close() };
}

function legacy(): Promise<Scene> {
  const ledger = join(folder, `ledger-${randomBytes(4).toString('hex')}`);
  const args = [join(__dirname, '../../support/mcp/shop.mjs')];
  const paid = (): number => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n').length : 0);
  const bed = (): ToolServerBed => new ToolServerBed({ shop: { command: process.execPath, args, env: { LEDGER: ledger }, perRun: true } });
  return Promise.resolve({ bed, paid, close: () => Promise.resolve() });
}

describe.each([
  ['2026-07-28', modern],
  ['2025-11-25', legacy],
] as const)('a form of a server of %s', (_, open) => {
  it('is a question whose answer another worker brings to the server, once', async () => {
    const scene = await open();
    const first = scene.bed();
    const manifest = await first.prepared('shop_sell');
    const asked = await first.call(manifest, 'shop_sell');
    expect(asked).toMatchObject({
      type: 'interrupted',
      info: { question: 'Pay 80?', server: 'shop', tool: 'sell' },
      answerSchema: { properties: { action: { enum: ['accept', 'decline'] }, content: form }, required: ['action'] },
    });
    await first.close();
    const { state } = asked as { readonly state: Json };
    const answered = async (answer: Json): Promise<unknown> => {
      const later = scene.bed();
      const outcome = await later.call(manifest, 'shop_sell', {}, { resumed: { answer, state } });
      await later.close();
      return outcome.type === 'interrupted' ? (outcome.info as { readonly problem?: string }).problem : textOf(outcome);
    };
    expect(await answered({ action: 'accept', content: {} })).toBe('The answer does not fit: ok: is required');
    expect(await answered({ action: 'decline' })).toBe('not paid');
    expect(scene.paid()).toBe(0);
    expect(await answered({ action: 'accept', content: { ok: true } })).toBe('paid');
    expect(scene.paid()).toBe(1);
    await scene.close();
  });
});

it('is answered two days and a restart of the worker later, once, behind an approval', async () => {
  const scene = await modern();
  const seller = defineAgent({
    name: 'seller',
    description: 'Sells.',
    instructions: 'Sell.',
    model: 'test/model',
    tools: ['shop_sell'],
    middleware: [approval({ tools: { shop_sell: true } })],
  });
  const bed = scene.bed();
  const run = bed.run(seller, script(calls({ name: 'shop_sell', input: {} }), text('Sold.')));
  const [first] = await run.interrupts();
  expect(first).toMatchObject({ kind: 'approval', tool: 'shop_sell' });
  await run.approve(first?.id ?? '');
  const [second] = await run.interrupts();
  expect(second).toMatchObject({ kind: 'question', info: { question: 'Pay 80?' } });
  await bed.close();
  await run.advance('2d');
  await run.resume(second?.id ?? '', { action: 'accept', content: { ok: true } });
  expect(await run.result()).toBe('Sold.');
  expect(scene.paid()).toBe(1);
  await bed.close();
  await scene.close();
});

it('is refused with a state that somebody has forged', async () => {
  const scene = await modern();
  const bed = scene.bed();
  const manifest = await bed.prepared('shop_sell');
  const { state } = (await bed.call(manifest, 'shop_sell')) as unknown as { readonly state: { readonly requestState: string } };
  const resumed = { answer: { action: 'accept', content: { ok: true } }, state: { ...state, requestState: `${state.requestState}x` } };
  expect(textOf(await bed.call(manifest, 'shop_sell', {}, { resumed }))).toContain("The tool 'shop_sell' failed");
  expect(scene.paid()).toBe(0);
  await bed.close();
  await scene.close();
});

it.each([
  [3, 'done'],
  [Infinity, 'The server asks again and again, without a question.'],
])('is called again with the state of a server that asks for nothing, %d times', async (times, said) => {
  let calls = 0;
  const server = await newServer(() => {
    const made = new McpServer({ name: 'busy', version: '1' }, { requestState: { verify: (state) => Promise.resolve(state) } });
    made.registerTool('sell', { description: 'Sheds load.' }, ({ mcpReq }) => {
      expect(mcpReq.requestState<string>()).toBe(calls === 0 ? undefined : `round ${calls}`);
      calls += 1;
      if (calls > times) return { content: [{ type: 'text' as const, text: 'done' }] };
      return inputRequired({ requestState: `round ${calls}` });
    });
    return made;
  });
  const bed = new ToolServerBed({ shop: { url: server.url } });
  expect(textOf(await bed.call(await bed.prepared('shop_sell'), 'shop_sell'))).toContain(said);
  expect(calls).toBe(Math.min(times + 1, 11));
  await bed.close();
  await server.close();
});
