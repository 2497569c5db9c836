import type { AgentMiddleware, CustomAgentOptions, CustomContext, HookContext } from 'holdfast/workflow';
import { agentTool, loop, parallel, sequential } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import { limits } from '../../../contract/limits';
import { failureSaying } from '../../support/failures';
import { logOf, tools } from '../../support/memory-bed';
import { byHand, member, play, says, scripts } from '../../support/team-bed';

describe('the ctx of an agent that has ended', () => {
  const uses: readonly [string, (ctx: CustomContext) => unknown][] = [
    ['ctx.call', (ctx) => ctx.call('echo' as never, { text: 'x' })],
    ['ctx.model', (ctx) => ctx.model('test/first', { messages: [] })],
    ['ctx.interrupt', (ctx) => ctx.interrupt('Still there?')],
    ['ctx.approve', (ctx) => ctx.approve({ id: 'c', name: 'echo', input: {} })],
    ['ctx.parse', (ctx) => ctx.parse('echo', {})],
    ['ctx.sleep', (ctx) => ctx.sleep('1s')],
    ['ctx.runAgent', (ctx) => ctx.runAgent('leaf')],
    ['ctx.session.set', (ctx) => ctx.session.set('key', 1)],
    ['ctx.session.get', (ctx) => ctx.session.get('key')],
    ['ctx.runLocal.set', (ctx) => ctx.runLocal.set('key', 1)],
    ['ctx.runLocal.get', (ctx) => ctx.runLocal.get('key')],
    ['ctx.runLocal.delete', (ctx) => ctx.runLocal.delete('key')],
    ['ctx.sendEvent', (ctx) => ctx.sendEvent('late', 1)],
    ['ctx.ensureMessageId', (ctx) => ctx.ensureMessageId({ role: 'user', parts: [] })],
    ['ctx.now', (ctx) => ctx.now()],
    ['ctx.random', (ctx) => ctx.random()],
  ];

  let kept: CustomContext | undefined;
  const first = byHand('first', async function* (_, ctx) {
    kept = ctx;
    yield says('First.');
  });

  it.each(uses)('does nothing any more for the code of another one: %s', async (what, use) => {
    const second = byHand('second', async function* () {
      yield says('Second.');
      await use(kept as CustomContext);
    });
    const { outcome } = await play(sequential({ name: 'both', agents: [first, second] }), { first: [], leaf: [] });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        code: 'outside-run',
        message: `${what} failed: it was called through the ctx of agent "first", which has ended. Code acts through the ctx that it was called with.`,
      },
    });
  });

  it.each<[string, (ctx: CustomContext) => Promise<unknown>]>([
    ['ctx.sleep', (ctx) => ctx.sleep('1s')],
    ['ctx.runAgent', (ctx) => ctx.runAgent('leaf')],
  ])('does not hold up the run where code catches what it is told, and asks again for ever: %s', async (_, ask) => {
    let told = 0;
    const second = byHand('second', async function* () {
      yield says('Second.');
      void (async () => {
        for (;;) await ask(kept as CustomContext).catch(() => (told += 1));
      })();
      return 'went on';
    });
    const { outcome } = await play(sequential({ name: 'both', agents: [first, second] }), { first: [], leaf: [] });
    expect(outcome).toMatchObject({ status: 'completed', output: 'went on' });
    expect(told).toBe(100);
  });

  const keeping = (layer: Omit<AgentMiddleware, 'name'>) => member('first', { middleware: [{ name: 'keeping', ...layer }] });
  const observers = [{ name: 'keeping', onStart: (_: unknown, ctx: HookContext) => keep(ctx) }];
  it.each([
    ['a hook', keeping({ beforeAgent: (_, ctx) => void keep(ctx) })],
    ['an observer', keeping({ onStart: (_, ctx) => void keep(ctx) })],
    ['a wrap', keeping({ wrapModel: (request, next, ctx) => (keep(ctx), next(request)) })],
    ['an observer of a group', sequential({ name: 'first', agents: [member('inner')], observers })],
  ])('is also that of its middleware: %s', async (_, agent) => {
    const second = byHand('second', async function* () {
      yield says('Second.');
      await held?.sleep('1s');
    });
    const said = [{ text: 'First.' }];
    const { outcome } = await play(sequential({ name: 'both', agents: [agent, second] }), { first: said, inner: said });
    expect(outcome).toMatchObject(failureSaying('outside-run', 'ctx of agent "first"'));
  });
  let held: HookContext | undefined;
  const keep = (ctx: HookContext): void => void (held = ctx);
});

it.each<[string, (ctx: HookContext) => void]>([
  ['an event', (ctx) => ctx.sendEvent('late', 1)],
  ['a session value', (ctx) => ctx.session.set('late', 1)],
])('%s that code keeps for after the end of the run is dropped without an error', async (_, act) => {
  let late: HookContext | undefined;
  const keeping: AgentMiddleware = { name: 'keeping', beforeAgent: (__, ctx) => void (late = ctx) };
  const { run } = await play(sequential({ name: 'all', agents: [member('first', { middleware: [keeping] })] }), {
    first: [{ text: 'First.' }],
  });
  const before = (await run.view()).nextOffset;
  expect(() => act(late as HookContext)).not.toThrow();
  await run.outcome();
  expect((await run.view()).nextOffset).toBe(before);
});

describe('the ctx of an agent at work', () => {
  it('may be used by others that it works with at the same time', async () => {
    let lent: CustomContext | undefined;
    const lender = byHand('lender', async function* (_, ctx) {
      lent = ctx;
      yield says('Here.');
      await ctx.sleep('1h');
    });
    const borrower = byHand('borrower', async function* (_, ctx) {
      await ctx.sleep('1m');
      lent?.session.set('borrowed', true);
      yield says((await lent?.call('echo' as never, { text: 'Lent.' })) as string);
    });
    const run = await testRun(parallel({ name: 'both', agents: [lender, borrower] }), { input: 'Go.', model: scripts({}), tools });
    await run.advance('2h');
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: { borrower: 'Lent.' } });
  });

  it('is that of a layer also inside of the agents that its tools run', async () => {
    let outer: HookContext | undefined;
    const inner = byHand('inner', async function* () {
      outer?.session.set('seen', 'inside');
      yield says('Inner.');
    });
    const layer: AgentMiddleware = {
      name: 'outer',
      wrapToolCall: (call, next, ctx) => ((outer = ctx), next(call)),
      afterAgent: (_, ctx) => void ctx.sendEvent('seen', ctx.session.get('seen') ?? null),
    };
    const { run } = await play(member('lead', { middleware: [layer], tools: [agentTool(inner)] }), {
      lead: [{ toolCalls: [{ name: 'inner', input: { request: 'Do.' } }] }, { text: 'Done.' }],
    });
    expect((await logOf(run)).flatMap((event) => (event.type === 'custom' ? [event.data] : []))).toEqual(['inside']);
  });

  it('is over for code in the background that waits for the time: its sleep ends with the agent, and nobody wakes', async () => {
    const first = byHand('first', async function* (_, ctx) {
      void ctx.sleep('1m').then(() => ctx.sendEvent('late', ctx.now()));
      yield says('First.');
    });
    const second = byHand('second', async function* (_, ctx) {
      await ctx.sleep('1h');
      yield says('Second.');
    });
    const run = await testRun(sequential({ name: 'both', agents: [first, second] }), { input: 'Go.', model: scripts({}), tools });
    await run.advance('2h');
    expect((await logOf(run)).some((event) => event.type === 'custom' && event.name === 'late')).toBe(false);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });
});

describe('an agent that goes on without end and waits for nothing', () => {
  const most = limits.eventsInARow;
  const endless = {
    status: 'failed',
    error: { code: 'agent-endless', message: expect.stringMatching(/^Agent "endless" made 5000 events, and nothing came back/) },
  };
  const leaf = byHand('leaf', async function* () {
    yield { output: 1 };
  });

  it.each<[string, CustomAgentOptions<'endless'>['run']]>([
    [
      'yields events',
      async function* () {
        for (;;) yield { output: 1 };
      },
    ],
    [
      'yields messages, and dreams between them',
      async function* () {
        for (;;) {
          await Promise.resolve();
          yield says('Again.');
        }
      },
    ],
    [
      'yields where it hears of an error',
      async function* () {
        for (;;) {
          try {
            yield { output: 1 };
          } catch {
            // Again.
          }
        }
      },
    ],
    [
      'yields and starts what it does not wait for',
      async function* (_, ctx) {
        for (;;) {
          void ctx.sleep('1d');
          yield { output: 1 };
        }
      },
    ],
    [
      'sends events',
      async function* (_, ctx) {
        yield { output: 1 };
        for (;;) {
          await Promise.resolve();
          ctx.sendEvent('again', 1);
        }
      },
    ],
  ])('fails: %s', async (_, run) => {
    expect((await play(byHand('endless', run), {})).outcome).toEqual(endless);
  });

  it('fails also where it runs others, which do as little', async () => {
    const runs = byHand(
      'endless',
      async function* (_, ctx) {
        for (;;) yield says((await ctx.runAgent('leaf')).text);
      },
      [leaf],
    );
    expect((await play(runs, {})).outcome).toMatchObject(
      failureSaying('agent-endless', /^Agent "endless" ran the last of 500 agents in a row that ended/),
    );
  });

  it('fails as loops of loops do in which nobody does more', async () => {
    const inner = loop({ name: 'inner', description: 'Turns.', agents: [leaf], maxIterations: 100 });
    const { outcome } = await play(loop({ name: 'outer', agents: [inner], maxIterations: 10_000 }), {});
    expect(outcome).toMatchObject(failureSaying('agent-endless'));
    expect((await play(loop({ name: 'short', agents: [leaf], maxIterations: limits.emptyRuns - 1 }), {})).outcome).toMatchObject({
      status: 'completed',
    });
  });

  it('is no loop that goes on for thousands of rounds, in each of which something happens', async () => {
    const waits = byHand('waits', async function* (_, ctx) {
      yield { output: (await ctx.parse('echo', { text: 'x' })).ok };
    });
    const { outcome } = await play(loop({ name: 'long', agents: [waits], maxIterations: 2 * limits.emptyRuns }), {});
    expect(outcome).toMatchObject({ status: 'completed' });
  });

  it('fails as a tool whose events nobody sees, of which the model is told', async () => {
    const tool = byHand('endless', async function* () {
      for (;;) yield { output: 1 };
    });
    const { outcome, model } = await play(member('lead', { tools: [agentTool(tool)] }), {
      lead: [{ toolCalls: [{ name: 'endless', input: { request: 'Do.' } }] }, { text: 'Without.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Without.' });
    expect(JSON.stringify(model.requests('lead')[1])).toContain('The agent \'endless\' failed: Agent \\"endless\\" made 5000 events');
  });

  it('is another one than one with very many events, which hears from the world between them', async () => {
    const busy = byHand('busy', async function* (_, ctx) {
      for (let n = 0; n < 2.5 * most; n++) {
        if (n % (most / 2) === 0) await (n % most === 0 ? ctx.sleep('1s') : ctx.parse('echo', { text: 'x' }));
        yield { output: 1 };
      }
    });
    const run = await testRun(busy, { input: 'Go.', model: scripts({}), tools });
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('is no agent that people answer, though nothing else comes back to it', async () => {
    const asks = byHand('asks', async function* (_, ctx) {
      for (let asked = 0; asked < 3; asked++) {
        await ctx.interrupt('More?');
        for (let n = 0; n < most - 10; n++) yield { output: n };
      }
    });
    const run = await testRun(asks, { input: 'Go.', model: scripts({}), tools });
    for (let asked = 0; asked < 3; asked++) {
      const [interrupt] = await run.interrupts();
      await run.resume(interrupt?.id ?? '', true);
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('shows no event twice, and counts none twice, after a continue-as-new', async () => {
    const long = byHand('long', async function* (_, ctx) {
      for (let n = 0; n < most / 2; n++) yield { output: n };
      await ctx.sleep('1h');
      await ctx.interrupt('Go on?');
      for (let n = 0; n < most / 2 + 10; n++) yield { output: n };
    });
    const run = await testRun(long, { input: 'Go.', model: scripts({}), tools });
    await run.advance('2h');
    await run.interrupts();
    await run.upgrade(long);
    const [interrupt] = await run.interrupts();
    await run.resume(interrupt?.id ?? '', true);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });
});
