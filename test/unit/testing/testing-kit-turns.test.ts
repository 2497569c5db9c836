import { z } from 'zod';
import type { LanguageModel } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import { gate } from '../../support/gate';
import { agentWith, startRun } from '../../support/memory-bed';

function counting(concurrency: number, hold?: () => Promise<void>) {
  const seen = { calls: [] as number[], atOnce: 0, most: 0 };
  const tool = defineTool({
    description: 'Counts.',
    inputSchema: z.object({ n: z.number() }),
    concurrency,
    execute: async ({ n }) => {
      seen.calls.push(n);
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await (hold?.() ?? new Promise((resolve) => setImmediate(resolve)));
      seen.atOnce -= 1;
      return n;
    },
  });
  return { seen, tool };
}

const five = { toolCalls: [0, 1, 2, 3, 4].map((n) => ({ name: 'count', input: { n } })) };

it('a run that is resumed settles at once, as on a server, while its model takes its time', async () => {
  const doors = [gate(), gate()] as const;
  let calls = 0;
  const model: LanguageModel = {
    generate: async ({ signal }) => {
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      await Promise.race([doors[calls++]?.pass(), aborted]);
      return { parts: [{ type: 'text', text: 'Done.' }] };
    },
  };
  const run = await startRun(agentWith(), model);
  await doors[0].reached;
  await (await run.cancel()).settled();
  await run.resume();
  await doors[1].reached;
  expect((await run.view()).status).toBe('running');
  doors[1].open();
  expect(await run.result()).toBe('Done.');
});

describe('a tool with concurrency in a run in memory', () => {
  it.each([1, 2])('has at most %i calls at a time, first come first served', async (concurrency) => {
    const { seen, tool } = counting(concurrency);
    const run = await startRun(agentWith({ tools: ['count'] }), [five, { text: 'Done.' }], { tools: { count: tool } });
    expect(await run.result()).toBe('Done.');
    expect(seen).toMatchObject({ calls: [0, 1, 2, 3, 4], most: concurrency });
  });

  it('is not called any more for calls that waited when the run was cancelled', async () => {
    const held = gate();
    const { seen, tool } = counting(1, held.pass);
    const run = await startRun(agentWith({ tools: ['count'] }), [five], { tools: { count: tool } });
    await held.reached;
    await run.cancel();
    held.open();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(seen.calls).toEqual([0]);
  });
});
