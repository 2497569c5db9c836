import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

const orders: Record<string, { item: string; total: number; status: string }> = {
  '42': { item: 'Teapot', total: 80, status: 'delivered' },
  '43': { item: 'Tea', total: 12, status: 'on its way' },
};

export const tools = {
  lookupOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
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
    // A real tool passes the key to the payment provider, which then pays once.
    execute: ({ orderId, amount }, call) => ({ paid: amount, orderId, reference: call.idempotencyKey }),
  }),
};
