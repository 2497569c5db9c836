/** Compiled, never run: types must accept and refuse these lines. */
import { jsonSchema, tool } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { scriptedModel, testRun } from '../../testing/index';
import type { AgentMiddleware, InputOf, ObservedEnd, Observer, OutputOf, Part } from '../../workflows/index';
import type { AgenticMessage } from '../../middleware/forms/index';
import { agenticMiddleware, chatMiddleware } from '../../middleware/forms/index';
import { agentsFor, onWorker } from '../../workflows/index';
import { approval } from '../../middleware/index';
import type { ToolCallContext } from '../../worker/index';
import { defineTool, defineWorkerMiddleware } from '../../worker/index';

export const tools = {
  lookupOrder: defineTool({
    description: 'Finds an order',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => ({ id: orderId, total: 80 }),
  }),
  lookupRole: defineTool({
    description: 'Role of a user',
    inputSchema: z.object({ userId: z.string() }),
    execute: async (): Promise<string> => 'admin',
  }),
  refund: defineTool({
    description: 'Pays money back',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    effect: 'once',
    reconcile: async () => 'unknown' as const,
    execute: (input, call) => `${call.idempotencyKey}: ${input.amount}`,
  }),
};

export const ownOrders = defineTool({
  description: 'Orders of the customer whom the run works for.',
  inputSchema: z.object({}),
  concurrency: 3,
  execute: (_, { values, tags }: ToolCallContext<{ customer: string }>) => {
    // @ts-expect-error -- no such value
    void values.client;
    // @ts-expect-error -- nobody changes what the run was started with
    values.customer = 'ada';
    return `${values.customer.trim()} ${tags.join()}`;
  },
});

export const audit = defineWorkerMiddleware('audit', (options: { level: string }) => ({
  wrapModel: {
    async generate(request, next, call) {
      const response = await next(request);
      console.log(options.level, call.id, response.usage);
      return response;
    },
  },
  async wrapInvokableToolCall(input, next, call) {
    console.log(call.tool, call.callId);
    return next(input);
  },
}));

const { defineAgent, defineMiddleware } = agentsFor<typeof tools>();

const perUserTools = defineMiddleware({
  name: 'per-user-tools',
  async beforeAgent(setup, ctx) {
    const role = await ctx.call('lookupRole', { userId: String(ctx.values['userId']) });
    return { tools: role === 'admin' ? setup.tools : setup.tools.filter((name) => name !== 'refund'), values: { role } };
  },
  wrapModel: (request, next, ctx) => next({ ...request, model: ctx.values['role'] === 'admin' ? request.model : 'cheap' }),
});

export const support = defineAgent({
  name: 'support',
  description: 'Answers.',
  instructions: 'Careful.',
  model: 'default',
  tools: ['lookupOrder', 'refund'],
  middleware: [
    perUserTools,
    onWorker('audit', { level: 'full' }),
    approval({ tools: { refund: { when: (input) => input.amount > 50, expires: '3d', onExpiry: 'reject' } } }),
  ],
});
export const invoices = defineAgent({
  name: 'invoices',
  description: 'Checks an invoice.',
  instructions: '…',
  model: 'default',
  prompt: (job: { invoiceId: string }) => `Check ${job.invoiceId}`,
  tools: ['lookupOrder'],
});

// @ts-expect-error a misspelt tool in an approval does not compile
defineAgent({ name: 'x', description: '', instructions: '', model: 'm', tools: [], middleware: [approval({ tools: { refnd: true } })] });
// @ts-expect-error nor does an unknown tool
defineAgent({ name: 'x', description: '', instructions: '', model: 'm', tools: ['refnd'] });

export async function use(client: HoldfastClient<{ support: typeof support; invoices: typeof invoices }>): Promise<void> {
  const run = await client.start('support', 'Refund order 42', { id: 'ticket-981', values: { userId: 'u1' } });
  const outcome = await run.outcome();
  if (outcome.status === 'waiting')
    for (const interrupt of outcome.interrupts) if (interrupt.kind === 'approval') await run.approve(interrupt.id);
  await client.start('invoices', { invoiceId: 'in_7' }, { id: 'invoice-in_7' });
  await client.start('support', 'Hi', {
    options: { tools: ['refund'], toolOptions: { refund: { dryRun: true } }, agents: { support: { settings: { temperature: 0 } } } },
  });
  // @ts-expect-error options have no such field
  await client.start('support', 'Hi', { options: { tool: ['refund'] } });
  // @ts-expect-error options of a tool are an object
  await client.start('support', 'Hi', { options: { toolOptions: { refund: 'dry' } } });
  // @ts-expect-error wrong input type
  await client.start('invoices', 'text');
  // @ts-expect-error no such agent
  await client.start('suport', 'text');
}

export const shaped = defineAgent({
  name: 'shaped',
  description: '',
  instructions: '',
  model: 'm',
  tools: ['lookupOrder'],
  middleware: [
    agenticMiddleware<typeof tools>({
      name: 'agentic',
      async beforeModelRewriteState({ messages }, ctx) {
        const { total } = await ctx.call('lookupOrder', { orderId: '42' });
        return { messages: [...messages, { role: 'user', blocks: [{ type: 'text', text: String(total) }] }] };
      },
    }),
    chatMiddleware({
      name: 'chat',
      wrapModel: async (request, next) => {
        const { message, ...rest } = await next(request);
        return { ...rest, message: message.role === 'assistant' ? { ...message, content: 'Done.' } : message };
      },
    }),
    // @ts-expect-error a middleware for another shape has to be made one
    { name: 'bare', beforeModelRewriteState: ({ messages }: { messages: readonly AgenticMessage[] }) => ({ messages }) },
  ],
});
agenticMiddleware({
  name: 'mixed',
  // @ts-expect-error nor does a hook return messages of another shape
  beforeModelRewriteState: () => ({ messages: [{ role: 'user', content: 'Hi' }] }),
});

export const observer = {
  name: 'times',
  onEnd(seen: ObservedEnd) {
    console.log(seen.id, seen.endedAt - seen.startedAt, seen.kind === 'model' ? seen.response.usage : seen.output);
  },
};
export const onBothHalves: readonly [Observer, AgentMiddleware] = [observer, observer];
// @ts-expect-error an end has no request
export const wrongObserver: Observer = { name: 'x', onEnd: (seen) => console.log(seen.request) };

const city = z.object({ city: z.string() });
export const kinds = {
  report: defineTool({
    description: 'Writes a report.',
    inputSchema: city,
    async *stream({ city: name }, call) {
      call.progress({ percent: 10 });
      yield name;
    },
  }),
  chart: defineTool({
    description: 'Draws a chart.',
    inputSchema: city,
    enhanced: true,
    execute: ({ city: name }) => [
      { type: 'text', text: name },
      { type: 'file', mediaType: 'image/png', data: '' },
    ],
  }),
  film: defineTool({
    description: 'Draws while it goes.',
    inputSchema: city,
    enhanced: true,
    async *stream({ city: name }) {
      yield { type: 'text' as const, text: name };
    },
  }),
  byJson: defineTool({
    description: 'Takes a JSON Schema; its type stands where it is used.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute: ({ city: name }: { city: string }) => name.length,
  }),
  bySdkSchema: defineTool({
    description: 'Takes a schema of the AI SDK.',
    inputSchema: jsonSchema<{ city: string }>({ type: 'object' }),
    execute: async ({ city: name }) => ({ name }),
  }),
  sdk: tool({ description: 'A tool of the AI SDK.', inputSchema: city, execute: async ({ city: name }) => ({ name }) }),
  preliminary: tool({
    description: 'Gives preliminary results.',
    inputSchema: city,
    async *execute({ city: name }) {
      yield { name };
    },
  }),
};

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
type Kinds = typeof kinds;
type In = { city: string };
type TypesOf<Name extends keyof Kinds> = [InputOf<Kinds[Name]>, OutputOf<Kinds[Name]>];
export const typesOfKinds: readonly [
  Same<TypesOf<'report'>, [In, string]>,
  Same<TypesOf<'chart'>, [In, readonly Part[]]>,
  Same<TypesOf<'film'>, [In, readonly Part[]]>,
  Same<TypesOf<'byJson'>, [In, number]>,
  Same<TypesOf<'bySdkSchema'>, [In, { name: string }]>,
  Same<TypesOf<'sdk'>, [In, { name: string }]>,
  Same<TypesOf<'preliminary'>, [In, { name: string }]>,
] = [true, true, true, true, true, true, true];

// @ts-expect-error a stream of numbers is no stream of texts
defineTool({ description: '', inputSchema: city, stream: async function* () { yield 1; } }); // prettier-ignore
// @ts-expect-error an enhanced tool returns parts
defineTool({ description: '', inputSchema: city, enhanced: true, execute: () => 'text' });
// @ts-expect-error the argument has no such field
defineTool({ description: '', inputSchema: city, execute: ({ town }) => town });
// @ts-expect-error there is no such effect
defineTool({ description: '', inputSchema: city, effect: 'twice', execute: () => 1 });

export const followed = agentsFor<Kinds>().defineMiddleware({
  name: 'followed',
  onlyTools: ['chart'],
  async beforeAgent(_, ctx) {
    const parts: readonly Part[] = await ctx.call('chart', { city: 'Oslo' });
    const report: string = await ctx.call('report', { city: 'Oslo' });
    ctx.sendEvent('drawn', [parts.length, report]);
    // @ts-expect-error wrong argument
    await ctx.call('film', { town: 'Oslo' });
  },
});

export const outputs = {
  order: z.object({ id: z.string(), total: z.number().default(0) }),
  note: z.string(),
  sdkOrder: jsonSchema<{ id: string }>({ type: 'object' }),
  plain: { type: 'object', properties: {} },
};
const typed = agentsFor<Kinds, typeof outputs>();
const basics = { description: '', instructions: '', model: 'default', tools: ['chart'] } as const;
export const orders = typed.defineAgent({ ...basics, name: 'orders', output: 'order' });
export const notes = typed.defineAgent({ ...basics, name: 'notes', output: 'note', prompt: (job: { topic: string }) => job.topic });
export const sdkOrders = typed.defineAgent({ ...basics, name: 'sdk-orders', output: 'sdkOrder' });
export const anything = typed.defineAgent({ ...basics, name: 'anything', output: 'plain' });
export const texts = typed.defineAgent({ ...basics, name: 'texts' });
// @ts-expect-error a misspelt output does not compile
typed.defineAgent({ ...basics, name: 'x', output: 'ordr' });
// @ts-expect-error nor does a schema in place of its name
typed.defineAgent({ ...basics, name: 'x', output: outputs.order });

type Typed = { orders: typeof orders; notes: typeof notes; sdkOrders: typeof sdkOrders; texts: typeof texts; anything: typeof anything };
export async function useOutputs(client: HoldfastClient<Typed>): Promise<void> {
  const order: { id: string; total: number } = await (await client.start('orders', 'Order 42')).result();
  const note: string = await (await client.start('notes', { topic: 'tea' })).result();
  const sdkOrder: { id: string } = await (await client.start('sdk-orders', 'Order 42')).result();
  const text: string = await (await client.start('texts', 'Hi')).result();
  console.log(order.total, note.length, sdkOrder.id, text.length);
  // @ts-expect-error an order has no such field
  console.log((await (await client.start('orders', 'Order 42')).result()).amount);
  const run = await testRun(orders, { input: 'Order 42', model: scriptedModel([]), tools: kinds, outputs });
  const outcome = await run.outcome();
  if (outcome.status === 'completed') console.log(outcome.output.total.toFixed(), outcome.text);
}
