import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

export const support = defineAgent({
  name: 'support',
  description: 'Answers questions about orders and pays money back.',
  instructions: 'You are a careful support agent. Look an order up before you refund it.',
  model: 'default',
  tools: ['lookupOrder', 'refund'],
  middleware: [approval({ tools: { refund: { when: ({ amount }) => amount > 50, expires: '3d' } } })],
});
