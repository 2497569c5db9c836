import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, heldTool, linesOf, logOf, only, startRun, tools, transcriptOf } from '../../support/memory-bed';

describe('a run that goes over a continue-as-new', () => {
  it('runs settled effects once', async () => {
    const counts = { model: 0, tool: 0, before: 0, layer: 0 };
    const counted = defineTool({ description: 'Counts.', inputSchema: z.object({}), execute: () => ++counts.tool });
    const layer: AgentMiddleware = {
      name: 'layer',
      beforeModelRewriteState: () => void counts.before++,
      wrapToolCall: async (call, next, ctx) => {
        counts.layer++;
        const output = await next(call);
        await ctx.interrupt('Keep it?');
        return output;
      },
    };
    const run = await startRun(
      agentWith({ tools: ['counted'], middleware: [layer] }),
      [() => (counts.model++, { toolCalls: [{ name: 'counted', input: {} }] }), { text: 'Done.' }],
      { tools: { counted } },
    );
    const before = only(await run.interrupts());
    await run.goOnAsNew();
    await run.goOnAsNew();
    expect(only(await run.interrupts())).toEqual(before);
    await run.resume(before.id, true);
    expect((await transcriptOf(run))[2]).toBe('tool: 1');
    // The layer is entered three times, its tool called once; finished hooks are not entered again until the next turn.
    expect(counts).toEqual({ model: 1, tool: 1, before: 2, layer: 3 });
  });

  it('keeps values, usage, deadlines and what was answered', async () => {
    const keeping: AgentMiddleware = {
      name: 'keeping',
      beforeAgent: (_, ctx) => (ctx.session.set('s', 1), { values: { v: 2 }, instructions: 'New.', tools: ['echo'] }),
      beforeModelRewriteState: async (_, ctx) => {
        if (ctx.iteration !== 2) return;
        const answer = await ctx.interrupt<string>('Go?', { deadline: '2h', onDeadline: 'default' });
        ctx.sendEvent('late', [answer, ctx.session.get('s') ?? null, ctx.values['v'] ?? null, ctx.usage.inputTokens]);
      },
    };
    const model = scriptedModel([{ toolCalls: [echo('a')], usage: { inputTokens: 7, outputTokens: 1 } }, { text: 'Done.' }]);
    const run = await startRun(agentUnder(keeping), model);
    await run.advance('1h');
    await run.goOnAsNew();
    await run.advance('1h');
    await run.outcome();
    expect((await logOf(run)).find((event) => event.type === 'custom')).toMatchObject({ data: ['default', 1, 2, 7] });
    expect(model.requests[1]).toMatchObject({ instructions: 'New.', tools: [{ name: 'echo' }] });
    expect(await run.usage()).toEqual({ inputTokens: 7, outputTokens: 1 });
  });

  it('counts model calls on', async () => {
    const stopping: AgentMiddleware = { name: 'stopping', afterToolCalls: async (_, ctx) => void (await ctx.interrupt('Go?')) };
    const run = await startRun(agentWith({ middleware: [stopping], maxIterations: 2 }), [
      { toolCalls: [echo('a')] },
      { toolCalls: [echo('b')] },
    ]);
    for (let turn = 0; turn < 2; turn++) {
      await run.goOnAsNew();
      await run.resume(only(await run.interrupts()).id, true);
    }
    expect(await run.outcome()).toMatchObject(failureSaying('max-iterations'));
  });

  it('goes over where an iteration ends, and the view shows each message once', async () => {
    const { held: slow, door } = heldTool();
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeModelRewriteState: async (_, ctx) => void (ctx.iteration === 2 && (await ctx.interrupt('Go?'))),
    };
    const run = await startRun(
      agentWith({ tools: ['slow'], middleware: [asking] }),
      [{ toolCalls: [{ name: 'slow', input: {} }] }, { text: 'Done.' }],
      { tools: { slow } },
    );
    const over = run.goOnAsNew();
    door.open();
    await over;
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: slow({})', 'tool: held']);
    await run.resume(only(await run.interrupts()).id, true);
    expect((await run.outcome()).status).toBe('completed');
    expect((await logOf(run)).map(({ offset }) => offset)).toEqual((await logOf(run)).map((_, position) => position));
  });

  it.each<[string, AgentMiddleware['wrapToolCall'], AgentMiddleware['wrapToolCall']]>([
    [
      'asks for something else',
      async (call, next, ctx) => (await ctx.interrupt('Go?'), next(call)),
      async (call, next, ctx) => (await ctx.sleep('1s'), await ctx.interrupt('Go?'), next(call)),
    ],
    ['no longer asks', async (call, next, ctx) => (await ctx.interrupt('Go?'), next(call)), async (call, next) => next(call)],
    ['asks no more and answers itself', async (call, next, ctx) => (await ctx.interrupt('Go?'), next(call)), async () => 'nothing'],
    [
      'leaves something out',
      async (call, next, ctx) => (ctx.sendEvent('note', 1), await ctx.call('add', { a: 1 }), await ctx.interrupt('Go?'), next(call)),
      async () => 'nothing',
    ],
  ])('is told that the code of an open frame changed when it %s', async (_, before, after) => {
    const layer = (wrapToolCall: AgentMiddleware['wrapToolCall']): AgentMiddleware => ({
      name: 'layer',
      ...(wrapToolCall === undefined ? {} : { wrapToolCall }),
    });
    const run = await startRun(agentUnder(layer(before)), [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    await run.interrupts();
    await run.goOnAsNew(agentUnder(layer(after)));
    expect(await run.outcome()).toMatchObject(failureSaying('frame-changed', 'agent/t1/echo.0/layer changed'));
  });

  it('is told so too when a layer that hands on what next gives asks for less than before', async () => {
    const layer = (wrapToolCall: NonNullable<AgentMiddleware['wrapToolCall']>): ReturnType<typeof agentUnder> =>
      agentUnder({ name: 'layer', wrapToolCall }, approval({ tools: { echo: true } }));
    const noting = layer((call, next, ctx) => {
      const output = next(call);
      ctx.sendEvent('note', 1);
      return output;
    });
    const run = await startRun(noting, [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    await run.interrupts();
    await run.goOnAsNew(layer((call, next) => next(call)));
    for (const { id } of await run.interrupts()) await run.approve(id);
    expect(await run.outcome()).toMatchObject(failureSaying('frame-changed', 'agent/t1/echo.0/layer changed: it asked for 1 effects'));
  });

  it.each<[string, AgentMiddleware[]]>([
    ['a layer', []],
    ['a hook', [approval({ tools: { echo: true } })]],
  ])('is told so when %s that waits is gone, and the tool does not run', async (_, left) => {
    const asking: AgentMiddleware = { name: 'asking', afterModelRewriteState: async (__, ctx) => void (await ctx.interrupt('Go?')) };
    const echoed = jest.fn(() => 'echoed');
    const own = { ...tools, echo: defineTool({ description: 'Echoes.', inputSchema: z.object({ text: z.string() }), execute: echoed }) };
    const run = await startRun(
      agentUnder(left.length === 0 ? approval({ tools: { echo: true } }) : asking, ...left),
      [{ toolCalls: [echo('a')] }],
      { tools: own },
    );
    await run.interrupts();
    await run.goOnAsNew(agentUnder(...left));
    expect(await run.outcome()).toMatchObject(failureSaying('frame-changed'));
    expect(echoed).not.toHaveBeenCalled();
  });

  it('goes on under new code where no frame is open', async () => {
    const rule = approval({ tools: { echo: true } });
    const run = await startRun(agentUnder(rule), [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew(agentWith({ middleware: [rule, { name: 'added', afterAgent: (_, ctx) => ctx.sendEvent('added', true) }] }));
    await run.approve(id);
    expect((await run.outcome()).status).toBe('completed');
    expect(await linesOf(run)).toContain('custom added');
  });
});
