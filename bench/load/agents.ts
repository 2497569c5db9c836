import { approval } from 'holdfast/middleware';
import { defineAgent, parallel } from 'holdfast/workflow';

const model = 'load/model';

/** Its model does what the job says that is its input. */
export const jobs = defineAgent({
  name: 'jobs',
  description: 'Does jobs.',
  instructions: 'jobs',
  model,
  tools: ['look', 'note', 'refund', 'pay', 'stamp', 'flaky'],
  maxIterations: 100,
  middleware: [approval({ tools: { refund: true } })],
});

const side = (name: string) => defineAgent({ name, description: `The ${name} one.`, instructions: name, model, tools: ['look', 'note'] });

export const pair = parallel({ name: 'pair', agents: [side('left'), side('right')], isolate: true });
