import type { TestRun } from 'holdfast/testing';
import type { HookContext } from 'holdfast/workflow';
import { customAgent } from 'holdfast/workflow';
import { agentUnder, agentWith, before, echo, logOf, startRun } from '../../support/memory-bed';

type Act = (ctx: HookContext) => Promise<void>;

const handings: Readonly<Record<string, (promise: () => Promise<unknown>) => Promise<unknown>>> = {
  bare: (ask) => ask(),
  'async function': async (ask) => await ask(),
  'two then': (ask) =>
    ask()
      .then((value) => value)
      .then((value) => value),
  'async functions in async functions': async (ask) => {
    const inner = async (): Promise<unknown> => ask();
    const middle = async (): Promise<unknown> => inner();
    const outer = async (): Promise<unknown> => middle();
    return outer();
  },
};
const names = Object.keys(handings);
const through = (name: string, ask: () => Promise<unknown>): Promise<unknown> => {
  const handing = handings[name];
  if (handing === undefined) throw new Error(name);
  return handing(ask);
};

const done = { text: 'Done.' };
const start = {
  'a hook': (act: Act) => startRun(agentUnder(before(act)), [done]),
  'a wrap of a tool': (act: Act) =>
    startRun(agentUnder({ name: 'wrap', wrapToolCall: async (call, next, ctx) => (await act(ctx), next(call)) }), [
      { toolCalls: [echo('a')] },
      done,
    ]),
  'a custom agent': (act: Act) => {
    const agent = customAgent({
      name: 'agent',
      description: 'Acts.',
      agents: [],
      async *run(_, ctx) {
        await act(ctx);
        yield { output: 'Done.' };
      },
    });
    return startRun(agent, []);
  },
  'a tool of the run': (act: Act) => {
    const execute = async (_: unknown, ctx: HookContext): Promise<string> => (await act(ctx), 'done');
    const decide = { name: 'decide', description: 'Acts.', inputSchema: { type: 'object' }, execute };
    return startRun(agentWith({ tools: [], middleware: [{ name: 'own', tools: [decide] }] }), [
      { toolCalls: [{ name: 'decide', input: {} }] },
      done,
    ]);
  },
} satisfies Record<string, (act: Act) => Promise<TestRun>>;
const places = Object.keys(start) as (keyof typeof start)[];

async function answer(run: TestRun, info: string): Promise<void> {
  const open = await run.interrupts();
  const asked = open.find((one) => 'info' in one && one.info === info);
  if (asked === undefined)
    throw new Error(`Nobody asks "${info}": ${JSON.stringify(open.map((one) => ('info' in one ? one.info : one.id)))}`);
  await run.resume(asked.id, info);
}

async function said(run: TestRun): Promise<unknown> {
  const log = await logOf(run);
  const outcome = await run.outcome();
  return {
    said: log.flatMap((event) => (event.type === 'custom' && typeof event.data === 'string' ? [event.data] : [])),
    end: outcome.status,
    ...('error' in outcome ? { error: outcome.error } : {}),
  };
}

function interleaved(left: readonly string[], right: readonly string[]): readonly (readonly string[])[] {
  const [first, ...lefts] = left;
  const [second, ...rights] = right;
  if (first === undefined || second === undefined) return [[...left, ...right]];
  return [...interleaved(lefts, right).map((rest) => [first, ...rest]), ...interleaved(left, rights).map((rest) => [second, ...rest])];
}

describe.each(places)('the order in which effects end, in %s', (place) => {
  const races = names.flatMap((slept) => names.flatMap((asked) => [true, false].map((sleepFirst) => [slept, asked, sleepFirst] as const)));

  it.each(races)(
    'decides a race again as it was: sleep by %s, question by %s, sleep first in the list: %s',
    async (slept, asked, sleepFirst) => {
      const run = await start[place](async (ctx) => {
        const sleep = (): Promise<unknown> => through(slept, () => ctx.sleep('1h').then(() => 'late'));
        const question = (): Promise<unknown> => through(asked, () => ctx.interrupt('Quick?'));
        const won = await Promise.race(sleepFirst ? [sleep(), question()] : [question(), sleep()]);
        ctx.sendEvent('won', String(won));
        await ctx.interrupt(won === 'late' ? 'Too late?' : 'Thanks?');
        ctx.sendEvent('end', String(won));
      });
      await run.advance('1h');
      await answer(run, 'Quick?');
      await run.goOnAsNew();
      await run.goOnAsNew();
      await answer(run, 'Too late?');
      expect(await said(run)).toEqual({ said: ['late', 'late'], end: 'completed' });
    },
  );

  const orders = interleaved(['a0', 'a1', 'a2'], ['b0', 'b1', 'b2']);

  it.each(names.flatMap((left) => names.map((right) => [left, right] as const)))(
    'goes on in two branches as they did, by %s and by %s, in whatever order they were answered',
    async (left, right) => {
      const branch = async (ctx: HookContext, name: string, handing: string, order: string[]): Promise<void> => {
        for (const n of [0, 1, 2]) {
          const value = await through(handing, () => ctx.interrupt(`${name}${n}`));
          order.push(String(value));
          ctx.sendEvent('so far', `${order.join()} ${ctx.random()}`.slice(0, order.join().length));
          ctx.now();
        }
      };
      for (const [position, order] of orders.entries()) {
        const run = await start[place](async (ctx) => {
          const seen: string[] = [];
          await Promise.all([branch(ctx, 'a', left, seen), branch(ctx, 'b', right, seen)]);
          ctx.sendEvent('all', seen.join());
        });
        for (const [step, info] of order.entries()) {
          await answer(run, info);
          if (step < order.length - 1 && (position % 2 === 0 || step % 2 === 1)) await run.goOnAsNew();
        }
        expect(await said(run)).toEqual({
          said: [...order.map((_, step) => order.slice(0, step + 1).join()), order.join()],
          end: 'completed',
        });
      }
    },
  );
});

describe('the order in which effects end', () => {
  const idOf = async (run: TestRun, info: string): Promise<string> =>
    (await run.interrupts()).find((one) => 'info' in one && one.info === info)?.id ?? '';

  it.each(names.flatMap((left) => names.map((right) => [left, right] as const)))(
    'is kept also for what ends in one moment, by %s and by %s',
    async (left, right) => {
      const winners = async (isBordered: boolean): Promise<unknown> => {
        const run = await start['a hook'](async (ctx) => {
          const ask = (info: string): Promise<unknown> => ctx.interrupt(info);
          ctx.sendEvent('won', String(await Promise.race([through(left, () => ask('a')), through(right, () => ask('b'))])));
          await ctx.interrupt('Then?');
          ctx.sendEvent('end', String(ctx.iteration));
        });
        const ids = [await idOf(run, 'b'), await idOf(run, 'a')];
        await Promise.all(ids.map((id, position) => run.resume(id, ['b', 'a'][position] ?? '')));
        if (isBordered) await run.goOnAsNew();
        await answer(run, 'Then?');
        return said(run);
      };
      expect(await winners(true)).toEqual(await winners(false));
    },
  );

  it.each(interleaved(['a0', 'a1'], ['b0', 'b1']).map((order) => [order.join(), order] as const))(
    'is kept over the branches of ctx.race: %s',
    async (_, order) => {
      const run = await start['a hook'](async (ctx) => {
        const seen: string[] = [];
        const branch = (name: string) => async (inner: HookContext) => {
          for (const n of [0, 1, 2]) {
            seen.push(await inner.interrupt<string>(`${name}${n}`));
            inner.sendEvent('so far', seen.join());
          }
          return name;
        };
        const { first } = await ctx.race({ a: branch('a'), b: branch('b') });
        ctx.sendEvent('won', first);
      });
      for (const info of order) {
        await answer(run, info);
        await run.goOnAsNew();
      }
      await answer(run, 'b2');
      const all = [...order, 'b2'];
      expect(await said(run)).toEqual({ said: [...all.map((__, step) => all.slice(0, step + 1).join()), 'b'], end: 'completed' });
    },
  );

  it('holds up no error of code that was changed and asks for less', async () => {
    const racing = (fewer: boolean) =>
      agentUnder(
        before(async (ctx) => {
          const first = ctx.interrupt('a');
          await (fewer ? first : Promise.race([first, ctx.interrupt('b')]));
          if (!fewer) await ctx.interrupt('c');
        }),
      );
    const run = await startRun(racing(false), [done]);
    await answer(run, 'b');
    await answer(run, 'a');
    await run.goOnAsNew(racing(true));
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'frame-changed' } });
  });
});
