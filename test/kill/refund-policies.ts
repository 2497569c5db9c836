import { policy } from 'holdfast/middleware';

const ada = { name: 'support', by: { users: ['ada'] } };

export const refundPolicies = {
  old: policy({ name: 'refunds', tools: ['refund'], stages: [ada] }),
  new: policy({ name: 'refunds', tools: ['refund'], stages: [ada, { name: 'finance', by: { users: ['bob'] } }] }),
};

export type RefundPolicy = keyof typeof refundPolicies;
