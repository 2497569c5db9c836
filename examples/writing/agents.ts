import { agentsFor, breakLoopAction, loop } from 'holdfast/workflow';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

const writer = defineAgent({
  name: 'writer',
  description: 'Writes short texts.',
  instructions: 'Write what you are asked for. When the critic named a fault, write the text again without it.',
  model: 'default',
  tools: [],
});

const critic = defineAgent({
  name: 'critic',
  description: 'Finds faults in texts.',
  instructions: 'Count the words of the text and read it. Name its worst fault. When it has none, call accept.',
  model: 'default',
  tools: [
    'countWords',
    {
      name: 'accept',
      description: 'Takes the text as it is.',
      inputSchema: { type: 'object', properties: {} },
      execute(_, ctx) {
        ctx.sendToolAction(breakLoopAction());
        return 'It is taken.';
      },
    },
  ],
});

/** The output is the last word of the critic; the text stands before it in the transcript. */
export const writing = loop({
  name: 'writing',
  description: 'Writes a text and mends it until the critic takes it.',
  agents: [writer, critic],
  maxIterations: 5,
});
