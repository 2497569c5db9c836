import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { policiesOf } from '../../../activities/policies';
import { ToolRegistry, defineTool } from '../../../activities/tools/tools';
import type { WorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry, defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import type { Json } from '../../../contract/messages/messages';
import { defineAgent } from '../../../kernel/define/agent';
import type { AgentMiddleware } from '../../../kernel/define/middleware';
import {
  approval,
  approvalsBy,
  pii,
  policy,
  reduction,
  toolCallLimit,
  toolRetry,
  toolSearch,
  toolSelector,
} from '../../../middleware/index';
import { offloadTools, reductionOnWorker } from '../../../middleware/reduction/worker';
import { toolSearchTool } from '../../../middleware/tool-search/worker';
import { scriptedModel, testRun } from '../../../testing/index';
import type { TestRun } from '../../../testing/test-run';
import { builtInWorkerMiddleware } from '../../../worker/built-in-worker-middleware';
import type { Answerer } from '../../support/answers';
import { calls, script, text } from '../../support/answers';
import { runExamples } from '../../support/document-examples';
import { keptTexts } from '../../support/compaction-bed';
import { ToolServerBed, newServer } from '../../support/mcp/tool-server-bed';

let paid: unknown[] = [];
let failures = 0;

function shop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1' });
  const inputSchema = z.object({ amount: z.number(), to: z.string().optional() });
  server.registerTool('pay', { description: 'Sends money to a customer.', inputSchema }, (input) => {
    paid.push(input);
    if (failures-- > 0) throw new Error('Out of order.');
    return { content: [{ type: 'text', text: `Paid ${input.amount} to bob@example.com.` }] };
  });
  server.registerTool('list', { description: 'Lists orders.' }, () => ({ content: [{ type: 'text', text: 'o'.repeat(5_000) }] }));
  server.registerTool('say', { description: 'Says the price.' }, () => ({
    content: [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }],
  }));
  return server;
}

const served = newServer(shop);
const beds: ToolServerBed[] = [];
beforeEach(() => {
  paid = [];
  failures = 0;
});
afterAll(async () => {
  await Promise.all(beds.map((bed) => bed.close()));
  await (await served).close();
});

interface More {
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly middleware?: readonly WorkerMiddleware[];
  readonly policies?: Readonly<Record<string, unknown>>;
  readonly named?: readonly string[];
}

async function run(
  layer: AgentMiddleware,
  answer: Answerer,
  { tools = {}, middleware = [], policies = {}, named }: More = {},
): Promise<TestRun> {
  const { url } = await served;
  const bed = new ToolServerBed(
    { shop: { url } },
    {
      tools: new ToolRegistry(tools),
      middleware: new WorkerMiddlewareRegistry(middleware, builtInWorkerMiddleware()),
      policies: policiesOf(policies),
    },
  );
  beds.push(bed);
  const agent = defineAgent({
    name: 'seller',
    description: 'Sells.',
    instructions: 'Sell.',
    model: 'test/model',
    tools: named ?? ['shop_pay', 'shop_list', 'shop_say', ...Object.keys(tools)],
    middleware: [layer],
  });
  return bed.run(agent, answer);
}

const pay = (input: Json = { amount: 80 }) => calls({ name: 'shop_pay', input });
const outputs = async (of: TestRun): Promise<string> => {
  const parts = (await of.transcript()).flatMap((message) => message.parts).filter((part) => part.type === 'tool-result');
  return JSON.stringify(parts.map(({ output }) => output));
};

it('approval shows the schema of the server, and the edited call is made', async () => {
  const of = await run(approval({ tools: { shop_pay: true } }), script(pay(), text('Done.')));
  const [asked] = await of.interrupts();
  expect(asked).toMatchObject({ kind: 'approval', tool: 'shop_pay', input: { amount: 80 }, inputSchema: { required: ['amount'] } });
  await of.approve(asked?.id ?? '', { editedInput: { amount: 5 } });
  expect([await of.result(), paid]).toEqual(['Done.', [{ amount: 5 }]]);
});

it.each([
  [
    'policy',
    policy({ name: 'money', tools: ['shop_pay'], when: ({ input }) => (input as { amount: number }).amount > 50, stages: [{}] }),
    {},
  ],
  [
    'approvalsBy',
    approvalsBy('money'),
    {
      policies: {
        money: policy({ name: 'money', tools: ['shop_pay'], when: ({ input }) => (input as { amount: number }).amount > 50, stages: [{}] }),
      },
    },
  ],
])('%s decides by the arguments', async (_, layer, more) => {
  const of = await run(layer, script(pay({ amount: 20 }), pay(), text('Done.')), more);
  const [asked] = await of.interrupts();
  expect([asked?.kind, paid]).toEqual(['approval', [{ amount: 20 }]]);
  await of.reject(asked?.id ?? '', 'Too much.', { by: 'ann' });
  expect([await of.result(), paid]).toEqual(['Done.', [{ amount: 20 }]]);
});

it('toolCallLimit counts its calls', async () => {
  const of = await run(toolCallLimit({ tools: ['shop_pay'], perRun: 1, exceeded: 'fail' }), script(pay(), pay(), text('Done.')));
  expect((await of.outcome()).status).toBe('failed');
  expect(paid).toHaveLength(1);
});

it('toolRetry makes a failed call again', async () => {
  failures = 1;
  const of = await run(toolRetry({ tools: ['shop_pay'], attempts: 2 }), script(pay(), text('Done.')));
  await of.outcome();
  await of.advance('10s');
  expect([await of.result(), paid.length]).toEqual(['Done.', 2]);
});

it('pii holds for arguments and results', async () => {
  const layer = pii({ email: 'redact', applyTo: ['arguments', 'tools'] });
  const of = await run(layer, script(pay({ amount: 1, to: 'ann@example.com' }), text('Done.')));
  expect(await of.result()).toBe('Done.');
  expect(await outputs(of)).toContain('Paid 1 to [email removed].');
  expect(paid).toEqual([{ amount: 1, to: '[email removed]' }]);
});

it('reduction stores large results', async () => {
  const backend = keptTexts();
  const of = await run(reduction({ maxLengthForTrunc: 100 }), script(calls({ name: 'shop_list', input: {} }), text('Done.')), {
    tools: offloadTools(backend),
    middleware: [reductionOnWorker({ backend })],
  });
  expect(await of.result()).toBe('Done.');
  expect((await outputs(of)).length).toBeLessThan(2_000);
  expect([...backend.texts.values()].join()).toContain('o'.repeat(5_000));
});

it('toolSelector tells the other model what its tools do', async () => {
  const seen: string[] = [];
  const answer: Answerer = (request) => {
    if (request.instructions.includes('Choose the tools')) {
      seen.push(request.instructions);
      return text('["shop_pay"]');
    }
    seen.push(request.tools.map(({ name }) => name).join());
    return text('Done.');
  };
  const of = await run(toolSelector({ model: 'test/small', maxTools: 1 }), answer);
  expect(await of.result()).toBe('Done.');
  expect(seen).toEqual([expect.stringContaining('Sends money to a customer.'), 'shop_pay']);
});

it.each([false, true])(
  'toolSearch finds its tools by their descriptions, and the model calls them (modelSearch: %s)',
  async (modelSearch) => {
    const lists: string[] = [];
    const answer: Answerer = (request) => {
      lists.push(request.tools.map(({ name }) => name).join());
      return script(calls({ name: 'tool_search', input: { query: 'money' } }), pay({ amount: 3 }), text('Done.'))(request);
    };
    const of = await run(toolSearch({ tools: ['shop_pay', 'shop_list'], modelSearch }), answer, {
      tools: { tool_search: toolSearchTool() },
      named: [],
    });
    expect([await of.result(), paid]).toEqual(['Done.', [{ amount: 3 }]]);
    expect(await outputs(of)).toContain(modelSearch ? '"required":["amount"]' : '{"selectedTools":["shop_pay"]}');
    expect(lists[1]).toBe(modelSearch ? '' : 'tool_search,shop_pay');
  },
);

it('worker middleware wraps its calls, and a tool of the worker with the name wins', async () => {
  const wrapped: string[] = [];
  const noting = defineWorkerMiddleware('noting', () => ({
    wrapInvokableToolCall: (input, next, { tool }) => (wrapped.push(tool), next(input)),
    wrapEnhancedInvokableToolCall: (input, next, { tool }) => (wrapped.push(tool), next(input)),
  }));
  const own = defineTool({ description: 'Own.', inputSchema: z.object({}), execute: () => 'own' });
  const of = await run(
    { name: 'noted', onWorker: { name: 'noting' } },
    script(pay(), calls({ name: 'shop_list', input: {} }), text('Done.')),
    {
      middleware: [noting],
      tools: { shop_list: own },
      named: ['shop_pay', 'shop_list'],
    },
  );
  expect(await of.result()).toBe('Done.');
  expect([paid.length, await outputs(of)]).toEqual([1, expect.stringContaining('"own"')]);
  expect(wrapped).toEqual(['shop_pay', 'shop_list']);
});

it('a sound is a file of the result', async () => {
  const of = await run({ name: 'none' }, script(calls({ name: 'shop_say', input: {} }), text('Done.')));
  expect(await of.result()).toBe('Done.');
  expect(await outputs(of)).toBe('[[{"type":"file","mediaType":"audio/wav","data":"UklGRg=="}]]');
});

it('docs/guides/mcp-tools.md shows an agent that pays after an approval, and a test needs no server', async () => {
  const { payer } = runExamples(['guides/mcp-tools'], require);
  const of = (execute: () => string) => defineTool({ description: 'A stand-in.', inputSchema: z.looseObject({}), execute });
  const model = scriptedModel([{ toolCalls: [{ name: 'company_pay', input: { amount: 80 } }] }, { text: 'Paid.' }]);
  const tools = { company_blacklist: of(() => 'clean'), company_pay: of(() => (paid.push('stand-in'), 'paid')) };
  const test = await testRun(payer, { input: 'Pay.', model, tools });
  expect(paid).toEqual([]);
  await test.approve((await test.interrupts())[0]?.id ?? '');
  expect([await test.result(), paid]).toEqual(['Paid.', ['stand-in']]);
  const company = await newServer(() => {
    const server = new McpServer({ name: 'company', version: '1' });
    for (const name of ['blacklist', 'pay'])
      server.registerTool(name, { description: name }, () => (paid.push(name), { content: [{ type: 'text', text: 'done' }] }));
    return server;
  });
  const bed = new ToolServerBed({ company: { url: company.url, effects: { blacklist: 'none', pay: 'once' } } });
  beds.push(bed);
  const steps = ['company_blacklist', 'company_pay'].map((name) => calls({ name, input: {} }));
  const real = bed.run(payer, script(...steps, text('Paid.')));
  const [asked] = await real.interrupts();
  expect([asked?.kind, paid]).toEqual(['approval', ['stand-in', 'blacklist']]);
  await real.approve(asked?.id ?? '');
  expect([await real.result(), paid]).toEqual(['Paid.', ['stand-in', 'blacklist', 'pay']]);
  await company.close();
});
