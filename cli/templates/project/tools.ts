import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

// In place of a database.
const orders: Record<string, { item: string; total: number }> = {
  '42': { item: 'Teapot', total: 80 },
  '43': { item: 'Tea', total: 12 },
};

export const tools = {
  lookupOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    effect: 'none',
    execute: ({ orderId }) => {
      const order = orders[orderId];
      if (order === undefined) throw new Error(`There is no order ${orderId}.`);
      return { orderId, ...order };
    },
  }),
  refund: defineTool({
    description: 'Pays money back for an order.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number().positive() }),
    effect: 'idempotent',
    // Pass the key to your payment provider, which then pays once.
    execute: ({ orderId, amount }, call) => ({ orderId, paid: amount, reference: call.idempotencyKey }),
  }),
};
