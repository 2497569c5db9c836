import { z } from 'zod';
import { defineTool } from '../../activities/tools';

/** Counts how often something has been done, also over the death of a process. */
export type Count = (what: string) => number;

let count: Count = () => 1;

/** Says where the tools count. */
export function countWith(given: Count): void {
  count = given;
}

export const rowTools = {
  echo: defineTool({ description: 'Says it again.', inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text }),
  flaky: defineTool({
    description: 'Fails the first time.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, call) => {
      if (count(`flaky:${call.idempotencyKey}`) === 1) throw new Error('out of order');
      return text;
    },
  }),
  contact: defineTool({
    description: 'Finds a contact.',
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }) => `${name}@example.com, card 4111 1111 1111 1111`,
  }),
};
