import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool, directoryOffload, offloadTools, reductionOnWorker } from 'holdfast/worker';
import type { Json } from 'holdfast/workflow';
import { called, result, user } from '../../support/compaction-bed';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { member } from '../../support/team-bed';
import { startRun } from '../../support/memory-bed';

const examplesOf = (name: string) => runExamples(middlewareExamples(name), require);

const orders = Array.from({ length: 2000 }, (_, n) => `Order ${n}: a teapot.`).join('\n');
const tools = {
  findOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => (orderId === 'all' ? orders : { orderId, item: 'Teapot' }),
  }),
};

const outputsOf = async (run: TestRun): Promise<readonly Json[]> =>
  (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

describe('the examples of middlewares that keep messages short', () => {
  it('a dangling call gets the text of the function', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const input = [called('findOrder:c1'), user('Hi')] as never;
    const run = await testRun(examplesOf('patch-tool-calls').patched, { input, model, tools });
    expect(await outputsOf(run)).toEqual(['Nobody knows what became of findOrder (c1).']);
  });

  it('401 messages become a summary and the newest of them', async () => {
    const model = scriptedModel([{ text: 'The sum.' }, { text: 'Done.' }]);
    const agent = member('long', { model: 'default', middleware: [examplesOf('summarization').compact] });
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
    const { librarian, stores } = examplesOf('reduction');
    const elsewhere = directoryOffload(directory);
    const run = await startRun(librarian, model, {
      tools: { ...tools, ...offloadTools(elsewhere) },
      middleware: [reductionOnWorker({ backend: elsewhere })],
    });
    expect(Object.keys(stores.tools)).toEqual(['findOrder', 'refund', 'reduction_offload', 'read_file']);
    const [notice, page] = await outputsOf(run);
    expect(notice).toContain(`Full output saved to: ${path}`);
    expect(page).toMatch(/^9: a teapot\.\n/);
    await rm(directory, { recursive: true });
  });

  it('instructions are made for each call', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const middleware = [examplesOf('context-editing').tidy, examplesOf('dynamic-prompt').polite];
    const agent = member('polite', { instructions: 'Be kind.', tools: ['findOrder'], middleware });
    const input = [called('findOrder:c1'), result('findOrder:c1', 'x')] as never;
    await (await testRun(agent, { input, model, tools, values: { customer: 'Ada' } })).outcome();
    expect(model.requests[0]?.instructions).toBe('Be kind.\n\nThe customer is Ada.');
  });
});
