import { agentsFor } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

export const support = defineAgent({
  name: 'support',
  description: 'Answers order questions and issues refunds.',
  instructions: 'You are a careful support agent. Look an order up before you refund it.',
  model: 'default',
  tools: ['lookupOrder', 'refund'],
  middleware: [approval({ tools: { refund: { when: (input) => input.amount > 50, expires: '3d', onExpiry: 'reject' } } })],
});

export const orders = defineAgent({
  name: 'orders',
  description: 'Says how an order stands.',
  instructions: 'You tell customers how their order stands.',
  model: 'default',
  tools: ['lookupOrder'],
  inputSchema: { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'], additionalProperties: false },
  prompt: (job: { orderId: string }) => `How does order ${job.orderId} stand?`,
});
