import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { Ticket } from './jobs';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

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
