import { approval, defineAgent } from '../workflows/index';

const model = 'bench/model';

export const worker = defineAgent({
  name: 'worker',
  description: 'Works.',
  instructions: 'You work.',
  model,
  tools: ['look', 'words'],
  maxIterations: 10_000,
});

export const careful = defineAgent({
  name: 'careful',
  description: 'Asks.',
  instructions: 'You ask.',
  model,
  tools: ['refund'],
  middleware: [approval({ tools: { refund: true } })],
});

export const talks = defineAgent({ name: 'talks', description: 'Talks.', instructions: 'You talk.', model, tools: [] });
