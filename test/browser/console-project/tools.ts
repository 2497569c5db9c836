import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  refund: defineTool({
    description: 'Pays money back for an order.',
    inputSchema: z.object({
      orderId: z.string().min(1),
      amount: z.number().positive().max(500),
      reason: z.string().max(2000).optional(),
    }),
    execute: ({ orderId, amount }) => ({ orderId, amount, paid: true }),
  }),
  sendLetter: defineTool({
    description: 'Writes to a customer.',
    inputSchema: z.object({ text: z.string() }),
    execute: () => 'sent',
  }),
  payOut: defineTool({
    description: 'Pays out, and never says so.',
    inputSchema: z.object({ account: z.string(), amount: z.number() }),
    effect: 'once',
    timeout: '1s',
    reconcile: () => 'unknown' as const,
    execute: () => new Promise<string>(() => undefined),
  }),
};
