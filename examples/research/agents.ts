import { agentsFor, parallel, sequential } from 'holdfast/workflow';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

export const subjects = ['history', 'people', 'economy', 'law', 'science', 'nature', 'art', 'press', 'numbers', 'future'] as const;

const researcherOf = (subject: (typeof subjects)[number]) =>
  defineAgent({
    name: subject,
    description: `Finds out what there is about the ${subject} of a question.`,
    instructions: `Search for what is known about the ${subject} of the question, and file one note with what you found. Then say it in one sentence.`,
    model: 'default',
    tools: ['search', 'fileNote'],
    maxIterations: 6,
  });

/** Ten at a time, each in a workflow of its own. */
const desks = parallel({ name: 'desks', agents: subjects.map(researcherOf), isolate: true });

const editor = defineAgent({
  name: 'editor',
  description: 'Makes a report of findings.',
  instructions: 'Write a short report from the findings of the others. Say which of them contradict each other.',
  model: 'default',
  tools: [],
});

export const research = sequential({ name: 'research', description: 'Answers a question from ten sides.', agents: [desks, editor] });
