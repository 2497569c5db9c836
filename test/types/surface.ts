/** Compiled, never run: what types must accept and refuse. A line that no longer fails is itself an error. */
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import { agentsFor, approval, onWorker } from '../../workflows/index';
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
  // @ts-expect-error wrong input type
  await client.start('invoices', 'text');
  // @ts-expect-error no such agent
  await client.start('suport', 'text');
}
