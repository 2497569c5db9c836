import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { scriptedModel, testRun } from 'holdfast/testing';
import { cachedResponses, defineTool, directoryResponses } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentsFor } from 'holdfast/workflow';
import { middlewareExamples, middlewareNames, runExamples } from '../../support/document-examples';

const examplesOf = (name: string) => runExamples(middlewareExamples(name), require);

let failures = 0;
const tools = {
  findOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => {
      if (failures-- > 0) throw new Error('The shop is closed.');
      return { orderId, total: 80, contact: 'bob@example.com', ticket: 'TCK-123456' };
    },
  }),
  refund: defineTool({ description: 'Pays back.', inputSchema: z.object({}), execute: () => 'paid' }),
  cancel: defineTool({ description: 'Cancels an order.', inputSchema: z.object({}), execute: () => 'cancelled' }),
};

const { defineAgent } = agentsFor<typeof tools>();
const agentWith = (...middleware: readonly AgentMiddleware<typeof tools>[]) =>
  defineAgent({
    name: 'support',
    description: 'Answers.',
    instructions: 'Be careful.',
    model: 'openai/gpt-5',
    tools: ['findOrder', 'refund', 'cancel'],
    middleware,
  });

const find = { toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }], usage: { inputTokens: 1000, outputTokens: 100 } };
const down = { error: 'down', retryable: true };
const start = async (middleware: AgentMiddleware<typeof tools>, steps: Parameters<typeof scriptedModel>[0]) => {
  const model = scriptedModel(steps);
  const run = await testRun(agentWith(middleware), { input: 'Where is 42?', model, tools });
  await run.outcome();
  return { run, model };
};

beforeEach(() => (failures = 0));

describe('the examples of docs/middleware', () => {
  it('limit calls of the model', async () => {
    const { run } = await start(examplesOf('model-call-limit').short, [find, find]);
    expect(await run.result()).toBe('I could not find out in time.');
  });

  it('limit calls of a tool', async () => {
    const { run } = await start(examplesOf('tool-call-limit').fewLookups, [find, find, find, { text: 'Done.' }]);
    expect(JSON.stringify(await run.transcript())).toContain("The call of 'findOrder' did not run.");
  });

  it('ask for more money', async () => {
    const { run } = await start(examplesOf('budget').pocketMoney, [
      { ...find, usage: { inputTokens: 395_000, outputTokens: 100 } },
      { text: 'Done.' },
    ]);
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ by: ['ada'], info: { limit: { money: 0.5 }, spent: { money: 0.49475 } } });
    await run.resume(interrupt?.id ?? '', { money: 1 }, { by: 'ada' });
    expect(await run.result()).toBe('Done.');
  });

  it('remove personal data', async () => {
    const { run } = await start(examplesOf('pii').discreet, [find, { text: 'Ask bob@example.com about TCK-123456.' }]);
    expect(await run.result()).toBe('Ask [email removed] about [ticket removed].');
    expect(JSON.stringify(await run.view())).not.toMatch(/bob@|TCK/);
  });

  it('say that the model is down', async () => {
    const { run } = await start(examplesOf('model-retry').patient, [down, down, down, down]);
    await run.advance('1h');
    expect(await run.result()).toBe('Our model is down. Please come back later.');
  });

  it('ask other models', async () => {
    const { run, model } = await start(examplesOf('model-fallback').otherModels, [down, down, { text: 'Done.' }]);
    expect(await run.result()).toBe('Done.');
    expect(model.requests.map((request) => request.model)).toEqual([
      'openai/gpt-5',
      'anthropic/claude-sonnet-4-5',
      'google/gemini-2.5-pro',
    ]);
  });

  it('call a tool again', async () => {
    failures = 3;
    const { run } = await start(examplesOf('tool-retry').stubborn, [find, { text: 'Done.' }]);
    await run.advance('5m');
    expect(await run.result()).toBe('Done.');
    expect(failures).toBe(-1);
  });

  it('choose tools', async () => {
    const { run, model } = await start(examplesOf('tool-selector').choosy, [{ text: '["refund"]' }, { text: 'Done.' }]);
    expect(await run.result()).toBe('Done.');
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['findOrder', 'refund']);
  });

  it('keep answers', async () => {
    const half = cachedResponses({ store: directoryResponses(mkdtempSync(join(tmpdir(), 'holdfast-answers-'))) });
    const { onDisk, remembered } = examplesOf('response-cache');
    expect(half.name).toBe(onDisk.name);
    for (const steps of [[{ text: 'Done.' }], []]) {
      const run = await testRun(agentWith(remembered), { input: 'Hi', model: scriptedModel(steps), tools, middleware: [half] });
      expect(await run.result()).toBe('Done.');
    }
  });
});

it('the table of docs/reference/middleware/README.md has each page', () => {
  const table = readFileSync(resolve(__dirname, '../../../docs/reference/middleware/README.md'), 'utf8');
  expect(middlewareNames.filter((name) => !table.includes(`](${name}.md)`))).toEqual([]);
});
