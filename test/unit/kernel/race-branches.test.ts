import type { TestRun } from 'holdfast/testing';
import type { AgentMiddleware, HookContext, Json, Message, ToolCall } from 'holdfast/workflow';
import { customAgent } from 'holdfast/workflow';
import { agentUnder, before, echo, logOf, only, startRun, transcriptOf, withHook } from '../../support/memory-bed';
import { member } from '../../support/team-bed';
import { failure } from '../../support/failures';

const inMemory = (...layers: readonly AgentMiddleware[]): Promise<TestRun> =>
  startRun(agentUnder(...layers), [{ toolCalls: [echo('as shown')] }, { text: 'Done.' }]);
const answerOnly = async (run: TestRun, answer: Json = true): Promise<void> => run.resume(only(await run.interrupts()).id, answer);
const changes: AgentMiddleware = { name: 'changes', wrapToolCall: (call, next) => next({ ...call, input: { text: 'changed' } }) };

describe.each([false, true])('what a branch of a race leaves (continued as new: %s)', (isBordered) => {
  const pause = async (run: TestRun): Promise<void> => void (await run.interrupts(), isBordered && (await run.goOnAsNew()));

  it.each<[string, (ctx: HookContext, call: ToolCall) => Promise<unknown>]>([
    ['no race', (ctx, call) => ctx.approve(call)],
    ['a race', (ctx, call) => ctx.race({ decided: (inner) => inner.approve(call), late: (inner) => inner.sleep('1h') })],
    ['a limit of time', (ctx, call) => ctx.within('1h', (inner) => inner.approve(call))],
    ['a race in a race', (ctx, call) => ctx.within('1h', (inner) => inner.race({ only: (inmost) => inmost.approve(call) }))],
  ])('binds the call to an approval asked in %s', async (_, asks) => {
    const approving = withHook('approving', 'wrapToolCall', async (call, next, ctx) => {
      await asks(ctx, call);
      await ctx.interrupt('And now?');
      return next(call);
    });
    const run = await inMemory(approving, changes);
    await run.approve(only(await run.interrupts()).id);
    await pause(run);
    await answerOnly(run);
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /changed its arguments/));
  });

  it('keeps the id of a message, in the hook that made it and in a later one', async () => {
    const made = withHook('made', 'beforeModelRewriteState', async (_, ctx) => {
      const { value } = await ctx.race({
        note: async (inner) => inner.ensureMessageId({ role: 'user', parts: [{ type: 'text', text: 'A note.' }] }),
      });
      const note = value as unknown as Json;
      ctx.session.set('note', note);
      ctx.sendEvent('noted', note);
      await ctx.interrupt('Go on?');
    });
    const added = withHook('added', 'beforeModelRewriteState', async ({ messages }, ctx) => {
      await ctx.interrupt('Add it?');
      return { messages: [...messages, ctx.session.get('note') as unknown as Message] };
    });
    const run = await startRun(agentUnder(made, added), [{ text: 'Done.' }]);
    await pause(run);
    await answerOnly(run);
    await pause(run);
    await answerOnly(run);
    const sent = (await logOf(run)).find(({ type }) => type === 'custom');
    expect((await run.transcript())[1]).toEqual((sent as { data?: unknown } | undefined)?.data);
  });

  it('lets a run end whose losing branch catches what it is told and asks again', async () => {
    const racing = before((ctx) =>
      ctx.race({
        stop: (inner) => inner.interrupt('Stop?'),
        sleeps: (inner) => again(() => inner.sleep('1m')),
        calls: (inner) => again(() => inner.call('echo', { text: 'x' }).then(() => inner.sleep('1m'))),
        looks: (inner) => again(() => (inner.now() === 0 ? undefined : inner.sleep('1m'))),
        sends: (inner) => again(() => (inner.sendEvent('polled', 1), inner.session.set('n', 1), inner.sleep('1m'))),
      }),
    );
    const run = await startRun(agentUnder(racing), [{ text: 'Done.' }]);
    await pause(run);
    await answerOnly(run);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toHaveLength(1);
  });
});

/** Gives up after far more rounds than a run reports. */
async function again(act: () => Promise<unknown> | undefined): Promise<never> {
  for (let rounds = 0; rounds < 100_000; rounds++) {
    try {
      await act();
    } catch {
      // It tries again.
    }
  }
  throw new Error('It went round without end.');
}

describe('code that is left at work and catches what it is told', () => {
  it('comes to rest in a wrap around which another one has thrown', async () => {
    const left: AgentMiddleware = { name: 'left', wrapToolCall: (_, next, ctx) => again(() => ctx.sleep('1m')).then(() => next(_)) };
    const throws = withHook('throws', 'wrapToolCall', async (call, next, ctx) => {
      void next(call);
      await ctx.sleep('90s');
      throw new Error('enough');
    });
    const run = await inMemory(throws, left);
    await run.advance('2m');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('enough') } });
  });

  it('comes to rest in an agent that a custom agent has left', async () => {
    const inner = member('inner', { middleware: [before((ctx) => again(() => ctx.sleep('1m')))] });
    const leaves = customAgent({
      name: 'leaves',
      description: 'Leaves.',
      agents: [inner],
      async *run(_, ctx) {
        void ctx.runAgent('inner', 'Go.').catch(() => undefined);
        await ctx.sleep('90s');
        yield { message: { role: 'assistant', parts: [{ type: 'text', text: 'Enough.' }] } };
        throw new Error('enough');
      },
    });
    const run = await startRun(leaves, [{ text: 'Done.' }]);
    await run.advance('2m');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('enough') } });
  });

  it('sets no action of a call that has ended', async () => {
    const run = await inMemory(
      withHook('acts', 'wrapToolCall', async (call, next, ctx) => {
        await ctx.race({
          first: (inner) => inner.sleep('1m'),
          lost: async (inner) => {
            try {
              return await inner.sleep('1h');
            } finally {
              inner.sendToolAction({ from: 'the lost branch' });
            }
          },
        });
        return next(call);
      }),
    );
    await run.advance('2m');
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).not.toHaveProperty('action');
  });
});

describe('approvals of calls beside each other', () => {
  it('bind each its own call, in whatever order people answer', async () => {
    const both = withHook('both', 'wrapToolCall', async (call, next) =>
      Promise.all([next(call), next({ ...call, input: { text: 'second' } })]),
    );
    const asks = withHook('asks', 'wrapToolCall', async (call, next, ctx) => {
      await ctx.approve(call);
      await ctx.interrupt('And now?');
      return next(call);
    });
    const seen: string[] = [];
    const sees = withHook('sees', 'wrapToolCall', (call, next) => {
      const { text } = call.input as { text: string };
      seen.push(text);
      return text === 'second' ? next(call) : next({ ...call, input: { text: 'changed' } });
    });
    const run = await inMemory(both, asks, sees);
    for (const { id } of await run.interrupts()) await run.approve(id);
    for (const { id } of [...(await run.interrupts())].reverse()) await run.resume(id, true);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('changed its arguments') } });
    expect([...seen].sort()).toEqual(['as shown', 'second']);
  });

  it('do not bind a later call of an outer layer, for which nobody was asked', async () => {
    const twice: AgentMiddleware = {
      name: 'twice',
      wrapToolCall: async (call, next) => [await next(call), await next({ ...call, input: { text: 'harmless' } })],
    };
    const asks = withHook('asks', 'wrapToolCall', async (call, next, ctx) => {
      if ((call.input as { text: string }).text !== 'harmless') await ctx.approve(call);
      return next(call);
    });
    const run = await inMemory(twice, asks);
    await run.approve(only(await run.interrupts()).id);
    expect((await run.outcome()).status).toBe('completed');
    expect(await transcriptOf(run)).toContain('tool: ["as shown","harmless"]');
  });
});

describe('a branch that acts outside of it', () => {
  const refused = {
    status: 'failed',
    error: { code: 'hook-failed', message: expect.stringContaining('acts through the ctx that it gets') },
  };

  it.each<[string, (ctx: HookContext) => unknown]>([
    ['a call', (ctx) => ctx.call('echo', { text: 'x' })],
    ['a question', (ctx) => ctx.interrupt('x')],
    ['an event', (ctx) => ctx.sendEvent('x', 1)],
    ['the time', (ctx) => ctx.now()],
    ['the usage', (ctx) => ctx.usage],
  ])('is refused at once with %s of the outer ctx', async (_, act) => {
    const run = await inMemory(before((ctx) => ctx.race({ outer: async () => (await act(ctx), 1), late: (inner) => inner.sleep('1h') })));
    expect(await run.outcome()).toMatchObject(refused);
  });

  it('is refused with the ctx of a branch around it', async () => {
    const run = await inMemory(before((ctx) => ctx.race({ middle: (inner) => inner.within('1h', () => inner.interrupt('x')) })));
    expect(await run.outcome()).toMatchObject(refused);
  });

  it('is refused with next, and may await one that was begun before', async () => {
    const bad = await inMemory(
      withHook('hurries', 'wrapToolCall', async (call, next, ctx) => (await ctx.within('1h', () => next(call))) ?? ''),
    );
    expect(await bad.outcome()).toMatchObject(refused);
    const good = await inMemory(
      withHook('hurries', 'wrapToolCall', async (call, next, ctx) => {
        const begun = next(call);
        const inTime = await ctx.within('1h', async () => begun);
        await ctx.interrupt('Go on?');
        return [inTime ?? 'late', await begun];
      }),
    );
    await good.interrupts();
    await good.goOnAsNew();
    await answerOnly(good);
    expect(await transcriptOf(good)).toContain('tool: ["as shown","as shown"]');
  });

  it('is refused with ctx.runAgent, and says how else', async () => {
    const outer = customAgent({
      name: 'outer',
      description: 'Hurries.',
      agents: [member('inner')],
      async *run(_, ctx) {
        await ctx.within('1h', async () => (await ctx.runAgent('inner', 'Go.')).text);
        yield { output: 1 };
      },
    });
    const run = await startRun(outer, [{ text: 'Done.' }]);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('before the race') } });
  });

  it('says so where it is found only behind a continue-as-new', async () => {
    const run = await inMemory(
      before(async (ctx) => {
        await ctx.race({ outer: async (inner) => (await inner.sleep('1ms'), await ctx.call('echo', { text: 'x' }), 1) });
        await ctx.interrupt('Go on?');
      }),
    );
    await run.advance('1s');
    await run.interrupts();
    await run.goOnAsNew();
    expect(await run.outcome()).toMatchObject(failure('frame-changed', /another ctx than the one that it gets/));
  });
});
