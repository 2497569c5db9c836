import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

const notes = new Map<string, { subject: string; text: string }>();

export const tools = {
  search: defineTool({
    description: 'Searches the library.',
    inputSchema: z.object({ query: z.string() }),
    execute: ({ query }) => ({ found: [`What the library has about ${query}.`] }),
  }),
  fileNote: defineTool({
    description: 'Files a note for the report.',
    inputSchema: z.object({ subject: z.string(), text: z.string() }),
    effect: 'once',
    // A real tool stores the key with the note.
    execute: ({ subject, text }, call) => {
      notes.set(call.idempotencyKey, { subject, text });
      return { filed: subject };
    },
    reconcile: (_, call) => {
      const note = notes.get(call.idempotencyKey);
      return note === undefined ? { happened: false } : { happened: true, result: { filed: note.subject } };
    },
  }),
};
