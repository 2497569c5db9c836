import { agentsFor, supervisor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

const head = defineAgent({
  name: 'head',
  description: 'Runs the office.',
  instructions: 'Give each part of a request to the specialist for it. When all is done, tell the customer what was done.',
  model: 'default',
  tools: [],
});

const stock = defineAgent({
  name: 'stock',
  description: 'Knows what is in stock.',
  instructions: 'Look up what you are asked about, and say how much of it there is.',
  model: 'default',
  tools: ['findItem'],
});

const billing = defineAgent({
  name: 'billing',
  description: 'Writes bills.',
  instructions: 'Write the bill for what was ordered.',
  model: 'default',
  tools: ['writeBill'],
  middleware: [approval({ tools: { writeBill: { when: ({ amount }) => amount > 500, expires: '3d', onExpiry: 'reject' } } })],
});

const shipping = defineAgent({
  name: 'shipping',
  description: 'Sends parcels.',
  instructions: 'Send what was ordered, once the bill is written.',
  model: 'default',
  tools: ['sendParcel'],
});

export const office = supervisor({
  name: 'office',
  description: 'Takes orders and sees to them.',
  supervisor: head,
  agents: [stock, billing, shipping],
});
