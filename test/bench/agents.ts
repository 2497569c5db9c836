import { approval } from '../../middleware/index';
import { defineAgent } from '../../workflows/index';

const shared = { description: 'Works.', instructions: 'You work.', model: 'bench/model', maxIterations: 10_000 };

export const worker = defineAgent({ ...shared, name: 'worker', tools: ['look'] });

export const careful = defineAgent({
  ...shared,
  name: 'careful',
  tools: ['look', 'refund'],
  middleware: [approval({ tools: { refund: true } })],
});

export const talks = defineAgent({ ...shared, name: 'talks', tools: [] });
