import { defineTool } from 'holdfast/worker';
import type { ToolCallContext } from 'holdfast/worker';
import { z } from 'zod';
import { findOrder } from './orders';

/** Values of the run, set at the start. */
type Call = ToolCallContext<{ customer?: string }>;

const shop = (): string => process.env['SHOP_URL'] ?? 'http://127.0.0.1:4001';

async function post(path: string, body: object): Promise<unknown> {
  const url = `${shop()}${path}`;
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function paidUnder(key: string): Promise<{ happened: true; result: Paid } | { happened: false }> {
  const response = await fetch(`${shop()}/payments/${encodeURIComponent(key)}`);
  if (response.status === 404) return { happened: false };
  return { happened: true, result: (await response.json()) as Paid };
}

/** Refuses foreign orders, whatever the model asks for. */
function ownOrder(order: string, { values }: Call): { total: number } {
  const found = findOrder(order);
  if (found === undefined) throw new Error(`There is no order ${order}.`);
  if (values.customer !== undefined && found.customer !== values.customer) throw new Error(`Order ${order} is none of ${values.customer}.`);
  return found;
}

interface Paid {
  readonly payment: string;
  readonly amount: number;
}

export const tools = {
  findOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }) => {
      const found = findOrder(order);
      if (found === undefined) throw new Error(`There is no order ${order}.`);
      return found;
    },
  }),
  findCustomer: defineTool({
    description: 'The customer whom this is about.',
    inputSchema: z.object({}),
    execute: (_, { values }: Call) => ({ customer: values.customer ?? 'nobody in particular', since: 2019 }),
  }),
  refund: defineTool({
    description: 'Pays money back for an order.',
    inputSchema: z.object({ order: z.string(), amount: z.number().positive() }),
    effect: 'once',
    reconcile: (_, call) => paidUnder(call.idempotencyKey),
    execute: async ({ order, amount }, call: Call) => {
      if (amount > ownOrder(order, call).total) throw new Error('That is more than the customer has paid.');
      return (await post('/payments', { key: call.idempotencyKey, kind: 'refund', order, amount })) as Paid;
    },
  }),
  sendVoucher: defineTool({
    description: 'Gives the customer of an order a voucher.',
    inputSchema: z.object({ order: z.string(), amount: z.number().positive().max(50) }),
    effect: 'once',
    reconcile: (_, call) => paidUnder(call.idempotencyKey),
    execute: async ({ order, amount }, call: Call) => {
      ownOrder(order, call);
      return (await post('/payments', { key: call.idempotencyKey, kind: 'voucher', order, amount })) as Paid;
    },
  }),
  sendMail: defineTool({
    description: 'Writes to the customer.',
    inputSchema: z.object({ text: z.string() }),
    effect: 'idempotent',
    execute: ({ text }, call: Call) => post('/mails', { key: call.idempotencyKey, to: call.values.customer ?? 'customer-0', text }),
  }),
  closeTicket: defineTool({
    description: 'Closes a ticket, and records how it ended.',
    inputSchema: z.object({ ticket: z.string(), result: z.string() }),
    effect: 'idempotent',
    execute: ({ ticket }) => ({ closed: ticket }),
  }),
};
