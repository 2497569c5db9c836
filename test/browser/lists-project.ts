import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');

const config = `import { defineConfig } from 'holdfast';
import { tools } from './tools';

export default defineConfig({
  agents: './agents.ts',
  tools,
  models: {
    names: { default: 'demo/rules', dear: 'openai/gpt-5' },
    limits: { 'openai/*': { concurrent: 5, perMinute: 300 }, 'demo/*': { concurrent: 40, perMinute: 6000 } },
    prices: { 'demo/rules': { input: 2, output: 10 } },
  },
});
`;

const tools = `import { defineTool } from 'holdfast/worker';
import { z } from 'zod';

export const tools = {
  lookupOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: async ({ orderId }) => ({ orderId, total: 80, status: 'delivered' }),
  }),
  refund: defineTool({
    description: 'Pays money back for an order.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    effect: 'idempotent',
    concurrency: 8,
    execute: async ({ orderId, amount }) => ({ orderId, refunded: amount }),
  }),
};
`;

const agents = (words: string): string => `import { agentsFor, parallel } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

export const support = defineAgent({
  name: 'support',
  description: 'Answers order questions and issues refunds.',
  instructions: '${words}',
  model: 'default',
  tools: ['lookupOrder', 'refund'],
  middleware: [approval({ tools: { refund: {} } })],
});

export const ticket = defineAgent({
  name: 'ticket',
  description: 'Settles a ticket.',
  instructions: 'Say how the ticket stands.',
  model: 'default',
  tools: [],
  inputSchema: {
    type: 'object',
    properties: { subject: { type: 'string', minLength: 1 }, urgent: { type: 'boolean' }, wish: { type: 'string', enum: ['refund', 'voucher'] } },
    required: ['subject', 'wish'],
    additionalProperties: false,
  },
  prompt: (job: { subject: string; wish: string }) => 'Ticket: ' + job.subject + ', ' + job.wish,
});

const side = (name: string) =>
  defineAgent({ name, description: 'Looks at one side.', instructions: 'Say one sentence.', model: 'default', tools: [] });

export const panel = parallel({ name: 'panel', description: 'Looks at two sides.', agents: [side('pro'), side('contra')], isolate: true });
`;

export interface ListsProject {
  readonly config: string;
  change(words: string): void;
  remove(): void;
}

/** A project with everything that the lists show. The folder is where imports of the package resolve. */
export function listsProject(): ListsProject {
  mkdirSync(join(root, '.holdfast-tests'), { recursive: true });
  const folder = mkdtempSync(join(root, '.holdfast-tests', 'lists-'));
  const change = (words: string): void => writeFileSync(join(folder, 'agents.ts'), agents(words));
  writeFileSync(join(folder, 'holdfast.config.ts'), config);
  writeFileSync(join(folder, 'tools.ts'), tools);
  change('You are a careful support agent. Look an order up before you refund it.');
  return { config: join(folder, 'holdfast.config.ts'), change, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
