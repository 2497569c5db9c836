import { approval, askHuman, policy } from 'holdfast/middleware';
import { agentsFor, customAgent } from 'holdfast/workflow';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

const desk = {
  description: 'Makes the calls that it is told to make.',
  instructions: 'Do as you are told.',
  model: 'script/desk',
} as const;

export const support = defineAgent({
  ...desk,
  name: 'support',
  tools: ['refund', 'sendLetter'],
  middleware: [approval({ tools: { refund: { expires: '3d', onExpiry: 'reject' }, sendLetter: true } })],
});

export const payments = defineAgent({
  ...desk,
  name: 'payments',
  tools: ['refund'],
  middleware: [
    policy<typeof tools, 'refund'>({
      name: 'refunds',
      tools: ['refund'],
      amount: 'amount',
      stages: [
        { name: 'support', by: { roles: ['support'] }, remind: ['1d', '2d'], escalate: { after: '3d', to: { users: ['olga'] } } },
        { name: 'finance', by: { users: ['ada', 'bob'] }, expires: '30d' },
      ],
    }),
  ],
});

export const asker = defineAgent({ ...desk, name: 'asker', tools: [], middleware: [askHuman({ files: true })] });

export const shipping = defineAgent({
  ...desk,
  name: 'shipping',
  tools: [],
  middleware: [
    askHuman({
      form: {
        type: 'object',
        title: 'Where to send it',
        properties: {
          street: { type: 'string', title: 'Street and number', minLength: 3 },
          boxes: { type: 'integer', title: 'Boxes', minimum: 1, maximum: 20 },
          carrier: { type: 'string', title: 'Carrier', enum: ['dhl', 'ups'], default: 'dhl' },
          extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['gift', 'express'] } },
          insured: { type: 'boolean', title: 'Insured' },
        },
        required: ['street', 'boxes', 'insured'],
      },
    }),
  ],
});

export const payer = defineAgent({ ...desk, name: 'payer', tools: ['payOut'] });

export const reviewer = customAgent({
  name: 'reviewer',
  description: 'Asks what should be different.',
  async *run(_, ctx) {
    const wish = await ctx.interrupt<string>({ question: 'What should be different?', text: 'A first version.' });
    yield { message: { role: 'assistant', parts: [{ type: 'text', text: wish }] } };
  },
});
