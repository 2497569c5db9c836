import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  countWords: defineTool({
    description: 'Counts the words of a text.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => ({ words: text.split(/\s+/).filter((word) => word !== '').length }),
  }),
};
