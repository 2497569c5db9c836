import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { tools } from './memory-bed';

export const desk = { payments: [] as string[], calls: 0, broken: true };

export function resetDesk(): void {
  Object.assign(desk, { payments: [], calls: 0, broken: true });
}

export const brokenKit = {
  ...tools,
  pay: defineTool({
    description: 'Pays once.',
    inputSchema: z.object({}),
    effect: 'once',
    execute: (_, call) => {
      desk.payments.push(call.idempotencyKey);
      return 'paid';
    },
  }),
  notify: defineTool({
    description: 'Fails as long as it is broken.',
    inputSchema: z.object({}),
    execute: () => {
      desk.calls += 1;
      if (desk.broken) throw new Error('no mail server');
      return 'sent';
    },
  }),
};
