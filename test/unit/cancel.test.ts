import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentUnder, agentWith, echo, gate, linesOf, only, tools } from '../support/memory-bed';

const call = (name: string) => ({ name, input: {} });

describe('a cancelled run', () => {
  it('ends while it waits for somebody', async () => {
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeAgent: async (_, ctx) => void (await ctx.interrupt('Go?', { deadline: '1d' })),
    };
    const run = await testRun(agentUnder(asking), { input: 'Hi', model: scriptedModel([]), tools });
    const { id } = only(await run.interrupts());
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(await run.interrupts()).toEqual([]);
    expect((await linesOf(run)).at(-1)).toBe('run-end');
    await expect(run.resume(id, 'late')).rejects.toMatchObject({ code: 'run-ended' });
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run-ended' });
  });

  it('ends while it sleeps', async () => {
    const sleeping: AgentMiddleware = { name: 'sleeping', beforeAgent: (_, ctx) => ctx.sleep('1d') };
    const run = await testRun(agentUnder(sleeping), { input: 'Hi', model: scriptedModel([]), tools });
    expect((await run.outcome()).status).toBe('running');
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
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
    const run = await testRun(agentWith({ tools: ['slow'] }), {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [call('slow')] }]),
      tools: { slow },
    });
    await begun.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect(told).toBe(true);
  });

  it('waits for a once tool, keeps its result and calls nothing after', async () => {
    const begun = gate();
    const door = gate();
    const pay = defineTool({
      description: 'Pays.',
      inputSchema: z.object({}),
      effect: 'once',
      execute: async () => {
        begun.open();
        await door.opened;
        return 'paid';
      },
    });
    const model = scriptedModel([{ toolCalls: [call('pay')] }]);
    const run = await testRun(agentWith({ tools: ['pay'] }), { input: 'Hi', model, tools: { pay } });
    await begun.opened;
    await run.cancel();
    expect((await run.view()).status).toBe('running');
    door.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await linesOf(run)).slice(-2)).toEqual(['tool-end pay', 'run-end']);
  });

  it('stops a model call', async () => {
    const begun = gate();
    const run = await testRun(agentWith(), { input: 'Hi', model: { generate: () => (begun.open(), new Promise(() => undefined)) }, tools });
    await begun.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
  });

  it('starts no tool of a message that comes after', async () => {
    const model = scriptedModel([() => ({ toolCalls: [echo('x')] })]);
    const stopping: AgentMiddleware = { name: 'stopping', afterModelRewriteState: async (_, ctx) => void (await ctx.interrupt('Now?')) };
    const run = await testRun(agentUnder(stopping), { input: 'Hi', model, tools });
    await run.interrupts();
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await linesOf(run)).some((line) => line.startsWith('tool-start'))).toBe(false);
  });

  it('ends as cancelled also when a layer swallows that', async () => {
    const stubborn: AgentMiddleware = {
      name: 'stubborn',
      wrapToolCall: async (toolCall, next, ctx) => {
        await ctx.interrupt('Go?').catch(() => undefined);
        return next(toolCall);
      },
    };
    const run = await testRun(agentUnder(stubborn), { input: 'Hi', model: scriptedModel([{ toolCalls: [echo('x')] }]), tools });
    await run.interrupts();
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
  });
});
