import { approval } from 'holdfast/middleware';
import { agentsFor } from 'holdfast/workflow';

interface TalkTools extends Record<string, { execute: (input: { readonly orderId: string; readonly amount: number }) => unknown }> {
  readonly refund: { execute: (input: { readonly orderId: string; readonly amount: number }) => unknown };
}

const { defineAgent } = agentsFor<TalkTools>();

export const talks = defineAgent({
  name: 'talks',
  description: 'Pays money back.',
  instructions: 'Pay back what people ask for.',
  model: 'default',
  tools: ['refund'],
  middleware: [approval({ tools: { refund: { when: ({ amount }) => amount > 50 } } })],
});
