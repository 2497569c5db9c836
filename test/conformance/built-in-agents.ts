import { agentsFor, planTask, skill, toolSearch } from '../../workflows/index';

/** Agents with built-in middlewares, for the cases that run on both engines. */
const { defineAgent } = agentsFor();

const base = { description: 'Under test.', instructions: 'Be a test.', model: 'test/model' };

export const planning = defineAgent({ ...base, name: 'planning', tools: [], middleware: [planTask()], maxIterations: 50 });

export const planningInFiles = defineAgent({
  ...base,
  name: 'planningInFiles',
  tools: [],
  middleware: [planTask({ keptIn: 'worker' })],
  maxIterations: 50,
});

export const searching = defineAgent({
  ...base,
  name: 'searching',
  tools: ['echo'],
  middleware: [toolSearch({ tools: ['add', 'optioned'] })],
});

export const searchingByItself = defineAgent({
  ...base,
  name: 'searchingByItself',
  tools: ['echo'],
  middleware: [toolSearch({ tools: ['add', 'optioned'], modelSearch: true })],
});

export const skilled = defineAgent({ ...base, name: 'skilled', tools: ['echo'], middleware: [skill()] });
