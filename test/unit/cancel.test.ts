import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentUnder, agentWith, echo, gate, linesOf, only, startRun } from '../support/memory-bed';

const call = (name: string) => ({ name, input: {} });

describe('a cancelled run', () => {
  it('ends while it waits for somebody', async () => {
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?', { deadline: '1d' })),
    };
    const run = await startRun(agentUnder(asking), []);
    const { id } = only(await run.interrupts());
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(await run.interrupts()).toEqual([]);
    expect((await linesOf(run)).at(-1)).toBe('run-end');
    await expect(run.resume(id, 'late')).rejects.toMatchObject({ code: 'run-ended' });
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run-ended' });
  });

  it('tells a running tool by its signal and does not wait for it', async () => {
    const begun = gate();
    let told = false;
    const slow = defineTool({
      description: 'Waits.',
      inputSchema: z.object({}),
      execute: async (_, { signal }): Promise<string> => {
        signal.addEventListener('abort', () => (told = true));
        begun.open();
        return new Promise(() => undefined);
      },
    });
    const run = await startRun(agentWith({ tools: ['slow'] }), [{ toolCalls: [call('slow')] }], { tools: { slow } });
    await begun.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(told).toBe(true);
  });

  it('starts no tool of a message that comes after', async () => {
    const model = scriptedModel([() => ({ toolCalls: [echo('x')] })]);
    const stopping: AgentMiddleware = { name: 'stopping', afterModelRewriteState: async (_, ctx) => void (await ctx.interrupt('Now?')) };
    const run = await startRun(agentUnder(stopping), model);
    await run.interrupts();
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await linesOf(run)).some((line) => line.startsWith('tool-start'))).toBe(false);
  });
});
