import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';

export const paid: number[] = [];

export const refund = defineTool({
  description: 'Pays money back.',
  inputSchema: z.object({ orderId: z.string().optional(), amount: z.coerce.number() }),
  effect: 'idempotent',
  execute: ({ amount }) => (paid.push(amount), `paid ${amount}`),
});
