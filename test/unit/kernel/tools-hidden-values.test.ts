import { z } from 'zod';
import { defineTool } from '../../../activities/tools/define-tool';
import { ToolRegistry } from '../../../activities/tools/tools';
import { limits } from '../../../contract/limits';
import { approval } from '../../../middleware/approval/workflow';
import { scriptedModel, testRun } from '../../../testing/index';
import { agentWith } from '../../support/memory-bed';

describe('arguments that a schema turns into what JSON cannot hold', () => {
  const seen: unknown[] = [];
  const tools = {
    close: defineTool({
      description: 'Closes accounts.',
      inputSchema: z.object({
        accounts: z.array(z.string()).transform((names) => new Set(names)),
        limit: z.number().transform((limit) => (limit > 10 ? Infinity : limit)),
        big: z.coerce.bigint().optional(),
      }),
      effect: 'once',
      execute: (input) => {
        seen.push(input);
        return 'closed';
      },
    }),
  };
  const input = { accounts: ['a', 'b'], limit: 99, big: 7 };

  it('have a hash of their own for each of what was given', async () => {
    const registry = new ToolRegistry(tools);
    const hashes = new Set<string>();
    for (const accounts of [['a'], ['b'], ['a', 'b'], []]) {
      const parsed = await registry.parse('close', { ...input, accounts });
      if (parsed.ok) hashes.add(parsed.hash);
    }
    expect(hashes.size).toBe(4);
  });

  it('are shown to people as they were given, and the tool gets what they mean', async () => {
    const run = await testRun(agentWith({ tools: ['close'], middleware: [approval({ tools: { close: true } })] }), {
      input: 'Close.',
      model: scriptedModel([{ toolCalls: [{ name: 'close', input }] }, { text: 'Done.' }]),
      tools,
    });
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ input });
    await run.approve(interrupt?.id ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([{ accounts: new Set(['a', 'b']), limit: Infinity, big: 7n }]);
  });
});

describe('a tool that shows or keeps too much when it asks', () => {
  const tools = {
    ask: defineTool({
      description: 'Asks.',
      inputSchema: z.object({ what: z.enum(['info', 'state']) }),
      effect: 'once',
      execute: ({ what }, call) => {
        const large = 'x'.repeat(limits.interrupt);
        return call.interrupt(what === 'info' ? large : 'Why?', what === 'state' ? { state: large } : {});
      },
    }),
  };

  it.each(['info', 'state'])('fails before anybody is asked: %s', async (what) => {
    const run = await testRun(agentWith({ tools: ['ask'] }), {
      input: 'Ask.',
      model: scriptedModel([{ toolCalls: [{ name: 'ask', input: { what } }] }, { text: 'Done.' }]),
      tools,
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(await run.transcript())).toContain(`bytes of ${what}; at most ${limits.interrupt} fit`);
  });
});
