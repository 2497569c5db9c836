import { agentsFor, customAgent, supervisor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { Ticket } from './jobs';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

/** Settles tickets, at night two hundred of them. People decide about much money. */
export const clerk = defineAgent({
  name: 'clerk',
  description: 'Settles a ticket of a customer.',
  instructions:
    'You are the clerk. Look up the order and the customer. Grant the wish: a refund of all that was paid, or a voucher of 10. Then write to the customer and close the ticket.',
  model: 'default',
  tools: ['findOrder', 'findCustomer', 'refund', 'sendVoucher', 'sendMail', 'closeTicket'],
  inputSchema: Ticket,
  prompt: ({ ticket, order, wish, text }) => `Ticket ${ticket}, order ${order}. The customer wishes a ${wish} and writes:\n${text}`,
  middleware: [approval({ tools: { refund: { when: ({ amount }) => amount > 100, expires: '3d', onExpiry: 'reject' } } })],
});

const head = defineAgent({
  name: 'head',
  description: 'Runs the complaints desk.',
  instructions: 'You are the head of complaints. Have the order looked up, then have a letter written. Say what was done.',
  model: 'default',
  tools: [],
});

const finder = defineAgent({
  name: 'finder',
  description: 'Knows the orders.',
  instructions: 'You are the finder. Look up the order of the complaint, and say what was bought.',
  model: 'default',
  tools: ['findOrder'],
});

const author = defineAgent({
  name: 'author',
  description: 'Writes to customers.',
  instructions: 'You are the author. Write a friendly letter about the complaint.',
  model: 'default',
  tools: ['sendMail'],
});

/** A team: what is no ticket yet. */
export const complaints = supervisor({
  name: 'complaints',
  description: 'Answers a complaint.',
  supervisor: head,
  agents: [finder, author],
});

const reporter = defineAgent({
  name: 'reporter',
  description: 'Writes the report of a night.',
  instructions: 'You are the reporter. Say in two sentences how the night was.',
  model: 'default',
  tools: [],
  inputSchema: {
    type: 'object',
    properties: { payments: { type: 'integer', minimum: 0 }, total: { type: 'number' } },
    required: ['payments', 'total'],
  },
  prompt: (night: { payments: number; total: number }) => `There were ${night.payments} payments, ${night.total} in all.`,
});

/** A custom agent: its figures are counted, and only the words come from a model. */
export const nightReport = customAgent<'nightReport', typeof tools>({
  name: 'nightReport',
  description: 'Reports how a night was.',
  agents: [reporter],
  async *run(_, ctx) {
    const { payments, total } = await ctx.call('countPayments', {});
    const { text } = await ctx.runAgent('reporter', { payments, total });
    yield { message: { role: 'assistant', parts: [{ type: 'text', text: `${payments} payments, ${total} in all. ${text}` }] } };
  },
});
