import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
import { randomWords } from './words';

const inputSchema = z.object({ label: z.string() });
type Input = z.infer<typeof inputSchema>;

/** The process outside that counts: it stands for a provider of payments. */
function counter(): string {
  const url = process.env['BENCH_COUNTER'];
  if (url === undefined) throw new Error('BENCH_COUNTER must be the URL of the process that counts.');
  return url;
}

async function count({ label }: Input, { idempotencyKey }: { readonly idempotencyKey: string }): Promise<string> {
  const response = await fetch(`${counter()}/effects`, { method: 'POST', body: JSON.stringify({ label, key: idempotencyKey }) });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
}

/** How often each call has been tried in this process. */
const tries = new Map<string, number>();

export const tools = {
  look: defineTool({ description: 'Looks something up.', inputSchema, effect: 'none', execute: () => randomWords(500) }),
  note: defineTool({
    description: 'Notes something.',
    inputSchema,
    effect: 'idempotent',
    execute: async (input, call) => {
      await count(input, call);
      return randomWords(500);
    },
  }),
  refund: defineTool({ description: 'Pays back.', inputSchema, effect: 'idempotent', execute: count }),
  pay: defineTool({
    description: 'Pays once, and can be asked whether it did.',
    inputSchema,
    effect: 'once',
    execute: count,
    reconcile: async ({ label }) => {
      const response = await fetch(`${counter()}/effects/${encodeURIComponent(label)}`);
      return response.ok ? { happened: true, result: 'counted' } : { happened: false };
    },
  }),
  stamp: defineTool({ description: 'Stamps once, and nobody can say whether it did.', inputSchema, effect: 'once', execute: count }),
  flaky: defineTool({
    description: 'Works when it is called for the third time.',
    inputSchema,
    effect: 'idempotent',
    retry: { attempts: 5 },
    execute: async (input, call) => {
      const times = (tries.get(input.label) ?? 0) + 1;
      tries.set(input.label, times);
      if (times < 3) throw new Error('Not yet.');
      tries.delete(input.label);
      return count(input, call);
    },
  }),
};
