import { agentTool, defineAgent, sequential, supervisor } from 'holdfast/workflow';
import { scriptedModel, testRun } from 'holdfast/testing';
import { z } from 'zod';
import { startInputOf } from '../../../client/runs/start-input';
import type { Json } from '../../../contract/messages/messages';
import { textOf } from '../../../contract/messages/messages';
import type { Agent } from '../../../kernel/define/agent-ref';
import { definitionOf } from '../../../kernel/define/definition';
import { MemoryRun } from '../../../testing/memory/run';
import type { MemoryWork } from '../../../testing/memory/work';
import { byHand, heard, member, play } from '../../support/team-bed';
import { errorSaying } from '../../support/failures';

const basics = { description: 'Says how an order stands.', instructions: 'You are the orders.', model: 'test/orders', tools: [] } as const;
const schema = {
  type: 'object',
  properties: {
    order: { type: 'object', properties: { id: { type: 'string', pattern: '^[0-9]+$' } }, required: ['id'] },
    note: { type: 'string' },
  },
  required: ['order'],
  additionalProperties: false,
} as const;
interface Job {
  readonly order: { readonly id: string };
}
const orders = defineAgent({
  ...basics,
  name: 'orders',
  inputSchema: schema,
  prompt: (job: { order: { id: string }; note?: string }) => `How does order ${job.order.id} stand?`,
});
const job = { order: { id: '42' } };
const unfit = { order: {} } as { order: { id: string } };
const refused = (path: string, agent = 'orders'): object => ({
  code: 'input-invalid',
  message: expect.stringMatching(new RegExp(`^The input of agent "${agent}" does not fit its inputSchema: ${path}`)) as string,
});
const begin = (agent: unknown, input: unknown) =>
  testRun(agent as Agent<string, Json>, { input: input as Json, model: scriptedModel([{ text: 'Sent.' }]) });
const asked = async (agent: unknown, input: unknown): Promise<string | undefined> => {
  const run = await begin(agent, input);
  await run.outcome();
  const [first] = await run.transcript();
  return first && textOf(first);
};

describe('an agent with an inputSchema', () => {
  it('begins with the job as JSON when it has no prompt', async () => {
    expect(await asked(defineAgent({ ...basics, name: 'orders', inputSchema: schema }), job)).toBe('{"order":{"id":"42"}}');
  });

  it.each<[string, unknown, string]>([
    ['a field that is missing', unfit, 'order\\.id is missing\\. It is \\{"order":\\{\\}\\}\\.$'],
    ['a field of another type', { order: { id: 42 } }, 'order\\.id is no string'],
    ['a misspelt field', { ...job, nite: 'x' }, 'nite is not wanted; there is order, note'],
    ['all that does not fit', { note: 1, nite: 'x' }, 'order is missing; note is no string; nite is not wanted'],
    ['a text', '42', 'it is no object\\. It is "42"\\.$'],
    ['messages', [{ role: 'user', parts: [{ type: 'text', text: '42' }] }], 'it is no object'],
    ['a pattern, where there is time to look', { order: { id: 'teapot' } }, 'order\\.id: '],
  ])('refuses a job by its place before the run begins: %s', async (_, input, path) => {
    await expect(begin(orders, input)).rejects.toMatchObject(refused(path));
  });

  it('is refused its job by the run itself, too, before anything is asked of a worker', async () => {
    const nothing = new Proxy({} as MemoryWork, {
      get: (_, name) => {
        throw new Error(`The worker was asked for ${String(name)}.`);
      },
    });
    const settle = { settle: () => new Promise<void>((resolve) => setImmediate(resolve)), ending: () => undefined };
    const start = startInputOf({ tenant: 'default', agent: 'orders' }, unfit, {});
    const run = new MemoryRun(
      new Map([['orders', definitionOf(orders as unknown as Agent)]]),
      { start },
      Object.assign(Object.create(nothing) as MemoryWork, settle),
      0,
    );
    await run.idle();
    expect(run.view()).toMatchObject({ status: 'failed', error: refused('order\\.id is missing') });
  });

  it('checks the job of a sequence and of a team that it begins', async () => {
    const head = defineAgent({ ...basics, name: 'orders', inputSchema: schema });
    for (const group of [
      sequential({ name: 'both', agents: [orders, member('second')] }),
      supervisor({ name: 'desk', supervisor: head, agents: [member('second')] }),
    ])
      await expect(begin(group, unfit)).rejects.toMatchObject(refused('order\\.id is missing', group.name));
  });

  it('takes a schema that tells its JSON Schema, such as one of zod', async () => {
    const byZod = defineAgent({
      ...basics,
      name: 'orders',
      inputSchema: z.object({ order: z.object({ id: z.string() }), note: z.string().optional() }),
      prompt: ({ order }) => `Order ${order.id.trim()}?`,
    });
    expect(await asked(byZod, job)).toBe('Order 42?');
    await expect(begin(byZod, unfit)).rejects.toMatchObject(refused('order\\.id is missing'));
  });

  it.each<[string, unknown, string]>([
    [
      'no schema',
      'orders',
      'inputSchema must be a JSON Schema of an object, such as { type: "object", properties: { … } }. It is "orders".',
    ],
    ['a wrong type', { type: 'objekt' }, 'inputSchema must be a JSON Schema: it has a type "objekt"'],
    ['what is no JSON', z.object({ at: z.date() }), 'inputSchema must be a schema of JSON. This one cannot be told as a JSON Schema: Date'],
    [
      'a schema that tells nothing',
      { '~standard': { version: 1, vendor: 'other' } },
      'inputSchema must be a JSON Schema, or a schema that tells its own, such as one of zod 4.2 or newer. This one does not.',
    ],
  ])('is not defined with %s', (_, inputSchema, message) => {
    expect(() => defineAgent({ ...basics, name: 'orders', inputSchema: inputSchema as never })).toThrow(
      errorSaying('agent-invalid', `Agent "orders": ${message}`),
    );
  });
});

describe.each([{ isolate: false }, { isolate: true }])('an agent with an inputSchema as a tool %j', (options) => {
  const lead = member('lead', { tools: [agentTool(orders, options)] });
  const ask = (input: Json): object => ({ toolCalls: [{ name: 'orders', input }] });

  it('has its jobs as arguments, and begins with what its prompt makes of them', async () => {
    const { outcome, model } = await play(lead, { lead: [ask(job), { text: 'Told.' }] as never, orders: [{ text: 'Sent.' }] });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Told.' });
    expect(model.requests('lead')[0]?.tools.map(({ inputSchema }) => inputSchema)).toEqual([schema]);
    expect(heard(model.requests('orders')[0]!)).toEqual(['user: How does order 42 stand?']);
  });

  const spoiling = {
    name: 'spoiling',
    wrapToolCall: (call: object, next: (call: never) => unknown) => next({ ...call, input: unfit } as never),
  };
  it.each<[string, readonly unknown[], Json]>([
    ['does not fit', [], { order: {} }],
    ['a layer has spoilt', [spoiling], job],
  ])('does not begin with a job that %s, and the model hears where', async (_, middleware, input) => {
    const layered = member('lead', { tools: [agentTool(orders, options)], middleware: middleware as never });
    const { model } = await play(layered, { lead: [ask(input), { text: 'Told.' }] as never, orders: [] });
    expect(model.requests('orders')).toEqual([]);
    expect(JSON.stringify(model.requests('lead')[1]?.messages)).toContain('order.id is missing');
  });
});

it('an agent with an inputSchema and another one for its calls is refused when it is made a tool', () => {
  expect(() => agentTool(orders, { inputSchema: { type: 'object' } })).toThrow('the agent has an inputSchema of its own');
  const list = defineAgent({ ...basics, name: 'orders', inputSchema: { type: 'array' } });
  expect(() => agentTool(list)).toThrow('the inputSchema of an agent must be that of an object for the agent to become a tool');
});

describe('code that runs an agent with an inputSchema', () => {
  const byCode = (input: Job) =>
    byHand(
      'hand',
      async function* (_, ctx) {
        return (await ctx.runAgent('orders', { ...input })).text;
      },
      [orders],
    );
  const byTool = (input: Job) =>
    member('lead', {
      tools: [
        {
          name: 'ask',
          description: 'Asks.',
          inputSchema: { type: 'object' },
          agents: [orders],
          execute: (_, ctx) => ctx.runAgent('orders', { ...input }),
        },
      ],
    });

  it('gives it a job', async () => {
    const hand = await play(byCode(job), { orders: [{ text: 'Sent.' }] });
    expect([hand.outcome, heard(hand.model.requests('orders')[0]!)]).toEqual([
      expect.objectContaining({ text: 'Sent.' }),
      ['user: How does order 42 stand?'],
    ]);
    const tool = await play(byTool(job), {
      lead: [{ toolCalls: [{ name: 'ask', input: {} }] }, { text: 'Told.' }],
      orders: [{ text: 'Sent.' }],
    });
    expect(heard(tool.model.requests('orders')[0]!)).toEqual(['user: How does order 42 stand?']);
  });

  it('is refused one that does not fit', async () => {
    const { outcome } = await play(byCode(unfit), { orders: [] });
    expect(outcome).toMatchObject({ status: 'failed', error: refused('order\\.id is missing') });
    const tool = await play(byTool(unfit), { lead: [{ toolCalls: [{ name: 'ask', input: {} }] }, { text: 'Told.' }], orders: [] });
    expect(JSON.stringify(tool.model.requests('lead')[1]?.messages)).toContain('order.id is missing');
  });
});
