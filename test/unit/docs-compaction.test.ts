import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool, directoryOffload, offloadTools, reductionOnWorker } from 'holdfast/worker';
import type { Json } from 'holdfast/workflow';
import { agentsFor } from 'holdfast/workflow';
import { chainFinalizers, contextEditing, dynamicPrompt, patchToolCalls } from 'holdfast/middleware';
import { preserveSkills, reduction, summarization } from 'holdfast/middleware';
import { called, result, user } from '../support/compaction-bed';
import { describeExamples } from '../support/document-examples';

/** The examples of these documents, word for word; imports stand above. */
const documents = ['patch-tool-calls', 'summarization', 'reduction', 'context-editing', 'dynamic-prompt'].map(
  (name) => `reference/middleware/${name}`,
);

const orders = Array.from({ length: 2000 }, (_, n) => `Order ${n}: a teapot.`).join('\n');
const tools = {
  findOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => (orderId === 'all' ? orders : { orderId, item: 'Teapot' }),
  }),
};

const { defineAgent } = agentsFor<typeof tools & ReturnType<typeof offloadTools>>();

// patch-tool-calls.md

export const patched = defineAgent({
  name: 'patched',
  description: 'Takes any messages.',
  instructions: 'You are careful.',
  model: 'default',
  tools: ['findOrder'],
  middleware: [patchToolCalls({ content: (tool, callId) => `Nobody knows what became of ${tool} (${callId}).` })],
});

// summarization.md

export const compact = summarization({
  model: 'openai/gpt-5-mini',
  trigger: { tokens: 100_000, messages: 400 },
  keepMessages: 6,
  retry: { maxRetries: 2 },
  failover: { getFailoverModel: () => ({ model: 'anthropic/claude-haiku-4-5' }) },
  finalize: chainFinalizers(preserveSkills({ maxSkills: 3 })),
});

// reduction.md

export const librarian = defineAgent({
  name: 'librarian',
  description: 'Reads much.',
  instructions: 'You find what was asked for.',
  model: 'default',
  tools: ['findOrder', 'read_file'],
  middleware: [reduction({ maxLengthForTrunc: 20_000, clearExcludeTools: ['findOrder'] })],
});

export const backend = directoryOffload('.holdfast/offload');
export const stores = { middleware: [reductionOnWorker({ backend })], tools: { ...tools, ...offloadTools(backend) } };

// context-editing.md

export const tidy = contextEditing({ triggerTokens: 60_000, keep: 5, clearAtLeastTokens: 10_000, excludeTools: ['findOrder'] });

// dynamic-prompt.md

export const polite = dynamicPrompt(
  ({ messages }, ctx) => `The customer is ${String(ctx.values['customer'])}.${messages.length > 20 ? ' Be brief.' : ''}`,
  { append: true },
);

const outputsOf = async (run: TestRun): Promise<readonly Json[]> =>
  (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

describe('the examples of middlewares that keep messages short', () => {
  it('a dangling call gets the text of the function', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const input = [called('findOrder:c1'), user('Hi')] as never;
    const run = await testRun(patched, { input, model, tools });
    expect(await outputsOf(run)).toEqual(['Nobody knows what became of findOrder (c1).']);
  });

  it('401 messages become a summary and the newest of them', async () => {
    const model = scriptedModel([{ text: 'The sum.' }, { text: 'Done.' }]);
    const agent = defineAgent({ name: 'long', description: '', instructions: 'x', model: 'default', tools: [], middleware: [compact] });
    const input = Array.from({ length: 401 }, (_, n) => user(`Message ${n}`)) as never;
    await (await testRun(agent, { input, model })).outcome();
    expect(model.requests.map(({ messages, model: name }) => [name, messages.length])).toEqual([
      ['openai/gpt-5-mini', 396],
      ['default', 7],
    ]);
  });

  it('a long result is cut, and the model reads on in a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'offload-'));
    const path = 'offload/default/test/librarian/t1/findOrder.0/trunc/c1';
    const model = scriptedModel([
      { toolCalls: [{ id: 'c1', name: 'findOrder', input: { orderId: 'all' } }] },
      { toolCalls: [{ name: 'read_file', input: { path, offset: orders.length - 12 } }] },
      { text: 'Done.' },
    ]);
    const elsewhere = directoryOffload(directory);
    const run = await testRun(librarian, {
      input: 'Hi',
      model,
      tools: { ...tools, ...offloadTools(elsewhere) },
      middleware: [reductionOnWorker({ backend: elsewhere })],
    });
    expect(Object.keys(stores.tools)).toEqual(['findOrder', 'reduction_offload', 'read_file']);
    const [notice, page] = await outputsOf(run);
    expect(notice).toContain(`Full output saved to: ${path}`);
    expect(page).toMatch(/^9: a teapot\.\n/);
    await rm(directory, { recursive: true });
  });

  it('instructions are made for each call', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const middleware = [tidy, polite];
    const agent = defineAgent({
      name: 'polite',
      description: '',
      instructions: 'Be kind.',
      model: 'default',
      tools: ['findOrder'],
      middleware,
    });
    const input = [called('findOrder:c1'), result('findOrder:c1', 'x')] as never;
    await (await testRun(agent, { input, model, tools, values: { customer: 'Ada' } })).outcome();
    expect(model.requests[0]?.instructions).toBe('Be kind.\n\nThe customer is Ada.');
  });
});

describeExamples(documents, __filename, 1);
