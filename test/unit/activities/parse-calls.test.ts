import { z } from 'zod';
import { parsedCalls } from '../../../activities/schemas/parse-calls';
import { defaultToolFacts, ToolRegistry } from '../../../activities/tools/tools';
import { defineTool } from '../../../activities/tools/define-tool';
import type { Json, Message } from '../../../contract/messages/messages';
import { scriptedModel, testRun } from 'holdfast/testing';
import { agentsFor } from 'holdfast/workflow';
import { withHook } from '../../support/memory-bed';

const tools = {
  refund: defineTool({
    description: 'Refunds.',
    inputSchema: z.object({ amount: z.coerce.number(), currency: z.string().default('EUR') }),
    execute: ({ amount, currency }) => `${amount} ${currency}`,
  }),
  look: defineTool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' }),
  stuck: defineTool({
    description: 'Is never understood.',
    inputSchema: z.object({}).refine(() => new Promise<boolean>(() => undefined)),
    execute: () => 'never',
  }),
};
const registry = new ToolRegistry(tools, defaultToolFacts);

const saying = (...calls: readonly (readonly [name: string, input: Json])[]): Message => ({
  role: 'assistant',
  parts: calls.map(([name, input], position) => ({ type: 'tool-call', id: `c${position}`, name, input })),
});

describe('the arguments in an answer', () => {
  it('come parsed for the tools that are asked about, in the order of the calls', async () => {
    const message = saying(
      ['refund', { amount: '80' }],
      ['look', {}],
      ['refund', { amount: 'much' }],
      ['refund', { amount: 5, currency: 'USD' }],
    );
    const { parsed } = await parsedCalls(registry, ['refund'], message);
    expect(parsed).toEqual([
      { ok: true, input: { amount: 80, currency: 'EUR' }, hash: expect.any(String) },
      null,
      { ok: false, message: expect.stringContaining("The arguments of 'refund' do not fit") },
      { ok: true, hash: expect.any(String) },
    ]);
  });

  it('are left out where nobody asks, where parsing takes long or the tool is missing, and where they are large', async () => {
    expect(await parsedCalls(registry, undefined, saying(['refund', {}]))).toEqual({});
    expect(await parsedCalls(registry, null, saying(['refund', {}]))).toEqual({});
    expect(await parsedCalls(registry, ['refund'], saying(['look', {}]))).toEqual({});
    expect(await parsedCalls(registry, ['stuck', 'missing'], saying(['stuck', {}], ['missing', {}]))).toEqual({});
    const large = { amount: '1', currency: 'x'.repeat(70_000) };
    expect(await parsedCalls(registry, ['refund'], saying(['refund', large]))).toEqual({});
  });
});

describe('layers of a tool', () => {
  const seen: Json[] = [];
  const { defineAgent } = agentsFor<typeof tools>();
  const agent = defineAgent({
    name: 'layered',
    description: 'Refunds.',
    instructions: 'You refund.',
    model: 'default',
    tools: ['refund'],
    middleware: [
      withHook('outer', 'wrapToolCall', (call, next) => {
        seen.push(call.input);
        return next({ ...call, input: { amount: '7' } });
      }),
      withHook('inner', 'wrapToolCall', (call, next) => {
        seen.push(call.input);
        return next(call);
      }),
    ],
  });

  it('see what came with the answer, and what the worker makes of arguments that one of them changed', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c1', name: 'refund', input: { amount: '80' } }] }, { text: 'Done.' }]);
    const run = await testRun(agent, { input: 'Refund', model, tools });
    expect(await run.result()).toBe('Done.');
    expect(seen).toEqual([
      { amount: 80, currency: 'EUR' },
      { amount: 7, currency: 'EUR' },
    ]);
  });
});

describe('an answer of an agent with an output', () => {
  const { defineAgent } = agentsFor<Record<string, never>>();
  let reads = 0;
  const outputs = { number: z.object({ id: z.number() }).refine(() => ((reads += 1), true)) };
  const shared = { description: 'Answers.', instructions: 'You answer.', model: 'default', tools: [], output: 'number' } as const;

  it('is read where it is made, and by the worker a second time only where a layer changed it', async () => {
    const read = async (agent: Parameters<typeof testRun>[0]): Promise<unknown> => {
      reads = 0;
      const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ text: '{"id":1}' }]), outputs });
      return [await run.result(), reads];
    };
    const plain = defineAgent({ name: 'plain', ...shared });
    const changing = defineAgent({
      name: 'changing',
      ...shared,
      middleware: [
        withHook('changes', 'wrapModel', async (request, next) => {
          const response = await next(request);
          return { ...response, message: { ...response.message, parts: [{ type: 'text', text: '{"id":2}' }] } };
        }),
      ],
    });
    expect(await read(plain)).toEqual([{ id: 1 }, 1]);
    expect(await read(changing)).toEqual([{ id: 2 }, 2]);
  });
});
