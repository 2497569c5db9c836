import { z } from 'zod';

export const Ticket = z.strictObject({
  ticket: z.string().min(1).max(40),
  order: z.string().min(1),
  wish: z.enum(['refund', 'voucher']),
  text: z.string().max(4000),
});
export type Ticket = z.infer<typeof Ticket>;
