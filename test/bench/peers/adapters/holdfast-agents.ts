import { approval } from '../../../../middleware/index';
import { defineAgent } from '../../../../workflows/index';

const shared = { instructions: 'You work.', model: 'bench/fake', tools: ['words', 'pay', 'refund'], maxIterations: 10_000 };

export const worker = defineAgent({ ...shared, name: 'worker', description: 'Works.' });

export const careful = defineAgent({
  ...shared,
  name: 'careful',
  description: 'Asks.',
  middleware: [approval({ tools: { refund: true } })],
});
