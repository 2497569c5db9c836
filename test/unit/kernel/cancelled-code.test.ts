import type { CustomContext, ToolContext } from 'holdfast/workflow';
import { agentTool, parallel, planExecute } from 'holdfast/workflow';
import type { ScriptedAnswer, TestRun } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import type { Json } from '../../../contract/messages/messages';
import type { AgentMiddleware, HookContext } from '../../../kernel/define/middleware';
import { agentUnder, gate, halfAnswer, linesOf, only, startRun, toolOf, tools, withHook } from '../../support/memory-bed';
import { byHand, heard, member, says, scripts } from '../../support/team-bed';

const call = (name: string, input: Json = {}): ScriptedAnswer => ({ toolCalls: [{ name, input }] });

/** A `once` tool that counts its calls. */
function payment() {
  let paid = 0;
  const pay = toolOf(() => `paid ${++paid}`, { effect: 'once' });
  return { pay, paid: () => paid };
}

/** A payment at work until its door is open. It does not obey a cancel. */
function heldPayment() {
  const [begun, door] = [gate(), gate()];
  let paid = 0;
  const pay = toolOf(async () => (begun.open(), await door.opened, `paid ${++paid}`), { effect: 'once' });
  return { pay, begun, door, paid: () => paid };
}

async function cancelAndResume(run: TestRun, answer: () => Promise<void>): Promise<void> {
  await run.interrupts();
  await run.cancel();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  await run.resume();
  await answer();
}

const answered = (run: TestRun) => async (): Promise<void> => {
  for (const { id } of await run.interrupts()) await run.resume(id, 'yes');
};

describe('code that a cancel reaches', () => {
  const reactions: Readonly<Record<string, (ctx: HookContext) => unknown>> = {
    'sends an event': (ctx) => ctx.sendEvent('sorry', 1),
    'calls a tool': (ctx) => ctx.call('echo', { text: 'sorry' }),
    'asks again': (ctx) => ctx.interrupt('Again?'),
    'sets a value': (ctx) => ctx.session.set('was', 'cancelled'),
    answers: () => 'sorry',
    'throws another error': () => {
      throw new Error('sorry');
    },
  };
  const asksAndReacts = async (ctx: HookContext, react: (ctx: HookContext) => unknown, said: unknown[]): Promise<void> => {
    try {
      said.push(await ctx.interrupt('Go on?'));
    } catch {
      said.push('caught', await react(ctx));
    } finally {
      said.push('left');
    }
  };
  const places: Readonly<Record<string, (act: (ctx: HookContext) => Promise<void>) => AgentMiddleware>> = {
    'a hook': (act) => withHook('asks', 'beforeModelRewriteState', async (_, ctx) => act(ctx)),
    'a layer around the model': (act) => withHook('asks', 'wrapModel', async (request, next, ctx) => (await act(ctx), next(request))),
    'a branch of a race': (act) =>
      withHook('asks', 'beforeAgent', async (_, ctx) => {
        await ctx.race({ one: act, other: (inner) => inner.sleep('1d') });
      }),
  };
  const all = Object.keys(places).flatMap((place) => Object.keys(reactions).map((how) => [place, how] as const));

  it.each(all)('in %s, hears nothing: code that %s goes on where it stood', async (place, how) => {
    const said: unknown[] = [];
    const act = (ctx: HookContext): Promise<void> => asksAndReacts(ctx, reactions[how] as never, said);
    const run = await startRun(agentUnder((places[place] as (typeof places)[string])(act)), [{ text: 'Done.' }]);
    await cancelAndResume(run, answered(run));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(said).toEqual(['yes', 'left']);
    expect((await linesOf(run)).filter((line) => line.startsWith('custom') || line.startsWith('tool'))).toEqual([]);
  });

  it('in a custom agent, does not run its finally before it goes on', async () => {
    const order: string[] = [];
    const agent = byHand('hand', async function* (_, ctx) {
      try {
        yield { name: 'begun', output: 1 };
        order.push(await ctx.interrupt<string>('?'));
        return 'Done.';
      } finally {
        order.push('left');
      }
    });
    const run = await startRun(agent, scripts({}));
    await cancelAndResume(run, answered(run));
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(order).toEqual(['yes', 'left']);
  });
});

describe('a run that goes on after a cancel', () => {
  it.each<[string, (ctx: HookContext) => unknown]>([
    ['a hook', async (ctx) => (await ctx.call('pay', {}), await ctx.interrupt('?'))],
    [
      'a branch of a race',
      async (ctx) =>
        ctx.race({ one: async (inner) => (await inner.call('pay', {}), await inner.interrupt('?')), late: (inner) => inner.sleep('1d') }),
    ],
  ])('does not pay again in %s that had paid', async (_, act) => {
    const { pay, paid } = payment();
    const middleware = withHook('pays', 'beforeAgent', async (_, ctx) => void (await act(ctx)));
    const run = await startRun(agentUnder(middleware), [{ text: 'Done.' }], { tools: { ...tools, pay } });
    await cancelAndResume(run, answered(run));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(paid()).toBe(1);
  });

  const both = async function* (_: unknown, ctx: CustomContext) {
    const ends = await Promise.all([ctx.runAgent('quick', 'Go.'), ctx.runAgent('slow', 'Go.')]);
    yield says(ends.map(({ text }) => text).join());
  };
  it.each([
    ['at once', { mode: 'now' as const }],
    ['at a safe point', { mode: 'after-tools' as const }],
  ])('has waited for the payment of an agent beside one that was cancelled %s', async (_, options) => {
    const { pay, begun, door, paid } = heldPayment();
    const asked = gate();
    const quick = member('quick', { tools: ['echo'] });
    const slow = parallel({ name: 'slow', isolate: true, agents: [member('worker', { tools: ['pay'] })] });
    const model = scripts({
      quick: [async () => (await asked.opened, call('echo', { text: 'x' })), { text: 'Quick.' }],
      worker: [call('pay'), { text: 'Slow.' }],
    });
    const run = await startRun(byHand('hand', both, [quick, slow]), model, { tools: { ...tools, pay } });
    await begun.opened;
    await run.cancel(options);
    asked.open();
    for await (const { type } of run.events()) if (type === 'cancel-start') break;
    door.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    expect((await linesOf(run)).slice(-2)).toEqual(['agent-end', 'run-end']);
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Quick.,worker: Slow.' });
    expect(paid()).toBe(1);
  });

  it('has its plan, where the agent that plans was a tool', async () => {
    const asking = withHook('asking', 'beforeModelRewriteState', async (_, ctx) => void (await ctx.interrupt('?')));
    const job = planExecute({
      name: 'job',
      description: 'Does jobs.',
      planner: { model: 'test/planner' },
      executor: member('worker', { middleware: [asking] }),
      replanner: { model: 'test/replanner' },
    });
    const model = scripts({
      boss: [call('job', { request: 'Do it.' }), { text: 'Done.' }],
      planner: [call('plan', { steps: ['one'] })],
      worker: [{ text: 'Did one.' }],
      replanner: [call('respond', { response: 'Answer.' })],
    });
    const run = await testRun(member('boss', { tools: [agentTool(job)] }), { input: 'Go.', model, tools: {} });
    await cancelAndResume(run, answered(run));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(model.requests('planner')).toHaveLength(1);
    expect(heard(only(model.requests('replanner'))).join()).toContain('The user asks:\nDo it.\n\nThe plan was:\n1. one');
  });

  it('asks the model again where a layer had another answer for half of one', async () => {
    const { model, said } = halfAnswer();
    const sorry = withHook('sorry', 'wrapModel', async (request, next) => {
      const response = await next(request);
      return response.finish === 'cancelled' ? { message: { role: 'assistant', parts: [{ type: 'text', text: 'Sorry.' }] } } : response;
    });
    const run = await startRun(agentUnder(sorry), model, { stream: true });
    await said.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('asks the model again where a layer was halted with half an answer', async () => {
    const { model, said, requests } = halfAnswer();
    const acts = withHook('acts', 'wrapModel', async (request, next, ctx) => {
      const { message } = await next(request);
      await ctx.call('echo', { text: 'x' });
      return { message };
    });
    const run = await startRun(agentUnder(acts), model, { stream: true });
    await said.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(requests()).toBe(2);
  });

  it('has no winner of a race from the time of the cancel', async () => {
    const asked = gate();
    const answer = gate();
    const racing = byHand(
      'hand',
      async function* (_, ctx) {
        const ended = ctx.runAgent('quick', 'Go.');
        const { first } = await ctx.race({ done: () => ended.then(({ text }) => text), late: (inner) => inner.sleep('3s') });
        yield says(first);
      },
      [member('quick', { tools: ['echo'] })],
    );
    const model = scripts({ quick: [async () => (asked.open(), await answer.opened, call('echo', { text: 'x' })), { text: 'Quick.' }] });
    const run = await startRun(racing, model);
    await asked.opened;
    await run.cancel({ mode: 'after-model' });
    answer.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await run.advance('1s');
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'done' });
  });
});

describe('a workflow tool that runs agents', () => {
  const boss = (execute: (ctx: ToolContext) => Promise<string>) =>
    member('boss', {
      tools: [{ name: 'own', description: 'Works.', inputSchema: {}, agents: [payer, asker], execute: (_, ctx) => execute(ctx) }],
    });
  const payer = member('payer', { tools: ['pay'] });
  const asker = member('asker', {
    middleware: [withHook('asks', 'beforeModelRewriteState', async (_, ctx) => void (await ctx.interrupt('?')))],
  });
  const started = (execute: (ctx: ToolContext) => Promise<string>) => {
    const { pay, paid } = payment();
    const model = scripts({
      boss: [call('own'), { text: 'Done.' }],
      payer: [call('pay'), { text: 'Paid.' }, { text: 'Paid.' }],
      asker: [{ text: 'Answered.' }],
    });
    return startRun(boss(execute), model, { tools: { pay } }).then((run) => ({ run, paid }));
  };
  const inTurn = async (ctx: ToolContext): Promise<string> => (await ctx.runAgent('payer', 'Pay.')) + (await ctx.runAgent('asker', 'Ask.'));

  it.each<[string, (run: TestRun) => Promise<unknown>]>([
    ['continues as new', (run) => run.goOnAsNew()],
    ['is cancelled and resumed', async (run) => (await run.cancel(), await run.outcome(), await run.resume())],
  ])('does not run an ended agent again when the run %s', async (_, interrupted) => {
    const { run, paid } = await started(inTurn);
    await run.interrupts();
    await interrupted(run);
    await answered(run)();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(paid()).toBe(1);
  });

  const reactions: Readonly<Record<string, (ctx: ToolContext) => Promise<string>>> = {
    'tries again for ever': async (ctx) => {
      for (;;) {
        try {
          return await ctx.runAgent('asker', 'Ask.');
        } catch {
          // Again.
        }
      }
    },
    'has another result': (ctx) => ctx.runAgent('asker', 'Ask.').catch(() => 'Sorry.'),
    'races the agent against a payment': async (ctx) => {
      const asking = ctx.runAgent('asker', 'Ask.');
      const { value } = await ctx.race({
        asking: () => asking,
        paying: async (inner) => (await inner.call('pay', {}), await inner.sleep('9h')),
      });
      return String(value);
    },
  };
  it.each(Object.entries(reactions))('hears nothing of a cancel: code that %s goes on where it stood', async (_, execute) => {
    const { run, paid } = await started(execute);
    await cancelAndResume(run, answered(run));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(paid()).toBeLessThanOrEqual(1);
    expect(
      (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))),
    ).toEqual(['Answered.']);
  });
});
