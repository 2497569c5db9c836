import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { scriptedModel, testRun } from 'holdfast/testing';
import { cachedResponses, defineTool, directoryResponses } from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import { agentsFor } from 'holdfast/workflow';
import { budget as budgetOf, modelCallLimit, modelFallback, modelRetry, pii, responseCache } from 'holdfast/middleware';
import { toolCallLimit, toolRetry, toolSelector } from 'holdfast/middleware';
import { tmpdir } from 'node:os';
import { z } from 'zod';

/** The examples of these documents of docs/reference/middleware, word for word; imports stand above. The last tests compare. */
const documents = [
  ...['budget', 'model-call-limit', 'model-fallback', 'model-retry', 'pii', 'response-cache', 'tool-call-limit', 'tool-retry'],
  'tool-selector',
];

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

export const short = modelCallLimit({ perRun: 2, message: 'I could not find out in time.' });

export const fewLookups = toolCallLimit<typeof tools>({ tools: ['findOrder'], perRun: 2 });

export const pocketMoney = budgetOf({
  money: 0.5,
  prices: { 'openai/gpt-5': { input: 1.25, cachedInput: 0.13, output: 10 }, '*': { input: 3, output: 15 } },
  whenSpent: { ask: { deadline: '1d', by: ['ada'] } },
});

export const discreet = pii({
  email: 'redact',
  creditCard: 'mask',
  ip: 'hash',
  custom: { ticket: { pattern: 'TCK-[0-9]{6}', strategy: 'redact' } },
});

export const patient = modelRetry({
  attempts: 4,
  backoff: { first: '2s', most: '5m' },
  whenExhausted: { answer: 'Our model is down. Please come back later.' },
});

export const otherModels = modelFallback({ models: ['anthropic/claude-sonnet-4-5', 'google/gemini-2.5-pro'] });

export const stubborn = toolRetry<typeof tools>({ tools: ['findOrder'], attempts: 5, backoff: { first: '5s', most: '10m' } });

const statusOf = (result: Json): unknown => (result as { status?: unknown } | null)?.status;

export const expectant = toolRetry<typeof tools>({
  tools: ['findOrder'],
  attempts: 10,
  retryResult: (result) => (statusOf(result) === 'pending' ? 'The order is not there yet.' : undefined),
  whenExhausted: { answer: ({ message }) => `${message} Ask again tomorrow.` },
});

export const choosy = toolSelector<typeof tools>({ model: 'openai/gpt-5-nano', maxTools: 1, alwaysInclude: ['findOrder'] });

export const remembered = responseCache({ maxAge: '1d' });

export const onDisk = cachedResponses({ store: directoryResponses('.holdfast/answers') });

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
    const { run } = await start(short, [find, find]);
    expect(await run.result()).toBe('I could not find out in time.');
  });

  it('limit calls of a tool', async () => {
    const { run } = await start(fewLookups, [find, find, find, { text: 'Done.' }]);
    expect(JSON.stringify(await run.transcript())).toContain("The call of 'findOrder' did not run.");
  });

  it('ask for more money', async () => {
    const { run } = await start(pocketMoney, [{ ...find, usage: { inputTokens: 395_000, outputTokens: 100 } }, { text: 'Done.' }]);
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ by: ['ada'], info: { limit: { money: 0.5 }, spent: { money: 0.49475 } } });
    await run.resume(interrupt?.id ?? '', { money: 1 }, { by: 'ada' });
    expect(await run.result()).toBe('Done.');
  });

  it('remove personal data', async () => {
    const { run } = await start(discreet, [find, { text: 'Ask bob@example.com about TCK-123456.' }]);
    expect(await run.result()).toBe('Ask [email removed] about [ticket removed].');
    expect(JSON.stringify(await run.view())).not.toMatch(/bob@|TCK/);
  });

  it('say that the model is down', async () => {
    const { run } = await start(patient, [down, down, down, down]);
    await run.advance('1h');
    expect(await run.result()).toBe('Our model is down. Please come back later.');
  });

  it('ask other models', async () => {
    const { run, model } = await start(otherModels, [down, down, { text: 'Done.' }]);
    expect(await run.result()).toBe('Done.');
    expect(model.requests.map((request) => request.model)).toEqual([
      'openai/gpt-5',
      'anthropic/claude-sonnet-4-5',
      'google/gemini-2.5-pro',
    ]);
  });

  it('call a tool again', async () => {
    failures = 3;
    const { run } = await start(stubborn, [find, { text: 'Done.' }]);
    await run.advance('5m');
    expect(await run.result()).toBe('Done.');
    expect(failures).toBe(-1);
  });

  it('choose tools', async () => {
    const { run, model } = await start(choosy, [{ text: '["refund"]' }, { text: 'Done.' }]);
    expect(await run.result()).toBe('Done.');
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['findOrder', 'refund']);
  });

  it('keep answers', async () => {
    const half = cachedResponses({ store: directoryResponses(mkdtempSync(join(tmpdir(), 'holdfast-answers-'))) });
    expect(half.name).toBe(onDisk.name);
    for (const steps of [[{ text: 'Done.' }], []]) {
      const run = await testRun(agentWith(remembered), { input: 'Hi', model: scriptedModel(steps), tools, middleware: [half] });
      expect(await run.result()).toBe('Done.');
    }
  });
});

describe.each(documents)('docs/reference/middleware/%s.md', (name) => {
  const root = resolve(__dirname, '..', '..');
  const here = readFileSync(__filename, 'utf8');
  const text = readFileSync(join(root, 'docs', 'reference', 'middleware', `${name}.md`), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();

  it('shows code that is compiled and run here', () => {
    expect(blocks.length).toBeGreaterThan(0);
    const body = (code: string): string => code.replace(/^\/\/ example: .*\n/, '').replace(/^import .*\n/gm, '');
    expect(blocks.filter((code) => !/^\/\/ example: \S+\n/.test(code) || !flat(here).includes(flat(body(code))))).toEqual([]);
  });

  it('links to files that there are', () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => join('reference', 'middleware', link));
    const files = readdirSync(join(root, 'docs'), { recursive: true }) as string[];
    expect(links.filter((link) => !files.includes(link))).toEqual([]);
  });

  it('is in the table of docs/reference/middleware/README.md', () => {
    expect(readFileSync(join(root, 'docs', 'reference', 'middleware', 'README.md'), 'utf8')).toContain(`](${name}.md)`);
  });
});
