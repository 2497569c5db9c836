import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

const items: Record<string, { price: number; left: number }> = {
  teapot: { price: 80, left: 12 },
  samovar: { price: 900, left: 1 },
};

export const tools = {
  findItem: defineTool({
    description: 'Finds an item in stock.',
    inputSchema: z.object({ item: z.string() }),
    execute: ({ item }) => {
      const found = items[item];
      if (found === undefined) throw new Error(`There is no item "${item}".`);
      return { item, ...found };
    },
  }),
  writeBill: defineTool({
    description: 'Writes a bill.',
    inputSchema: z.object({ item: z.string(), amount: z.number().positive() }),
    effect: 'idempotent',
    execute: ({ item, amount }, call) => ({ item, amount, number: call.idempotencyKey }),
  }),
  sendParcel: defineTool({
    description: 'Sends an item.',
    inputSchema: z.object({ item: z.string() }),
    effect: 'idempotent',
    execute: ({ item }, call) => ({ sent: item, label: call.idempotencyKey }),
  }),
};
