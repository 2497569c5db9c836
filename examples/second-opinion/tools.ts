import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  findRule: defineTool({
    description: 'Finds the rules about something.',
    inputSchema: z.object({ about: z.string() }),
    execute: ({ about }) => ({ about, rule: 'Up to 100 without a bill, else with one.' }),
  }),
};
