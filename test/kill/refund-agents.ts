import { askHuman, policy } from 'holdfast/middleware';
import { agentsFor } from 'holdfast/workflow';

interface RefundTools extends Record<string, { execute: (input: { readonly orderId: string; readonly amount: number }) => unknown }> {
  readonly refund: { execute: (input: { readonly orderId: string; readonly amount: number }) => unknown };
}

const { defineAgent } = agentsFor<RefundTools>();

export const refunds = defineAgent({
  name: 'refunds',
  description: 'Pays money back.',
  instructions: 'Pay back what is owed.',
  model: 'default',
  tools: ['refund'],
  middleware: [
    askHuman({ by: { roles: ['support'] }, expires: '1h' }),
    policy({
      name: 'refunds',
      tools: ['refund'],
      when: ({ input }) => input.amount > 50,
      amount: 'amount',
      stages: [
        { name: 'support', by: { roles: ['support'] }, fourEyes: true, remind: ['30m'] },
        {
          name: 'finance',
          by: { users: ['ada', 'bob', 'cleo'] },
          need: 2,
          fourEyes: true,
          escalate: { after: '1h', to: { users: ['dora'] } },
        },
      ],
    }),
  ],
});
