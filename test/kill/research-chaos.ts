import { join } from 'node:path';
import type { Scenario } from './chaos-bed';
import { notesIn } from './research-process';

export const research: Scenario = {
  program: 'research-process',
  agents: join('examples', 'research', 'agents.ts'),
  agent: 'research',
  input: 'What became of the canal?',
  placeOf: (directory, queue) => join(directory, `${queue}.notes`),
  effectsIn: (file) => notesIn(file).map(({ key, subject }) => `${key} ${subject}`),
};
