import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  findTrain: defineTool({
    description: 'Finds a train.',
    inputSchema: z.object({ to: z.string() }),
    execute: ({ to }) => ({ train: 'EC 7', to, leaves: '07:12' }),
  }),
  chooseSeat: defineTool({
    description: 'Lets the customer choose a seat.',
    inputSchema: z.object({ train: z.string() }),
    execute: ({ train }, call) => {
      if (call.resumed === undefined)
        return call.interrupt(
          { question: `Window or aisle in ${train}?` },
          { answerSchema: z.object({ seat: z.enum(['window', 'aisle']) }), deadline: '7d' },
        );
      const { seat } = call.resumed.answer as { seat: string };
      return { train, seat: seat === 'window' ? '61' : '62' };
    },
  }),
};
