import type { TestRun } from 'holdfast/testing';
import type { AgentMiddleware, HookContext } from 'holdfast/workflow';
import { chatMiddleware } from 'holdfast/eino';
import { agentUnder, before, logOf, only, startRun } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const begin = (layer: AgentMiddleware): Promise<TestRun> => startRun(agentUnder(layer), [{ text: 'Done.' }]);
const lostMessages: string[] = [];

const racing = (ctx: HookContext): Promise<void> =>
  ctx
    .race({
      answer: (inner) => inner.interrupt<string>('Quick?'),
      late: async (inner) => {
        await inner.sleep('1h');
        inner.sendEvent('late', 1);
        return 'nobody';
      },
      lost: async (inner) => {
        try {
          return await inner.interrupt<string>('Anybody?');
        } catch (error) {
          lostMessages.push((error as Error).message);
          inner.sendEvent('never', 1);
          return '';
        }
      },
    })
    .then(async (won) => {
      await ctx.interrupt('And now?');
      ctx.sendEvent('won', { first: won.first, value: won.value });
    });

/** The ends of interrupts and the data of events, in their order. */
async function shown(run: TestRun): Promise<readonly unknown[]> {
  const log = await logOf(run);
  return log.flatMap((event) => (event.type === 'custom' ? [event.data] : event.type === 'interrupt-end' ? [event.reason] : []));
}

describe.each([false, true])('ctx.race (continued as new: %s)', (isBordered) => {
  const pause = async (run: TestRun): Promise<void> => void (isBordered && (await run.interrupts(), await run.goOnAsNew()));

  it('ends with the branch that was first, and what lost is withdrawn at once', async () => {
    lostMessages.length = 0;
    const run = await begin(before(racing));
    await pause(run);
    const quick = (await run.interrupts()).find((open) => 'info' in open && open.info === 'Quick?');
    await run.resume(quick?.id ?? '', 'yes');
    expect(await run.interrupts()).toMatchObject([{ info: 'And now?' }]);
    await pause(run);
    await run.advance('2h');
    await run.resume(only(await run.interrupts()).id, true);
    expect((await run.outcome()).status).toBe('completed');
    expect(await shown(run)).toEqual(['answer', 'cancel', 'answer', { first: 'answer', value: 'yes' }]);
    expect(lostMessages).toEqual([expect.stringContaining('The branch "answer" of the race')]);
  });

  it('takes one of two answers that come at the same moment, and the other question was withdrawn by then', async () => {
    const run = await begin(before(racing));
    await pause(run);
    const ids = (await run.interrupts()).map(({ id }) => id);
    const settled = await Promise.allSettled(ids.map((id) => run.resume(id, 'yes')));
    expect(settled).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'interrupt-withdrawn' } }]);
    const ends = (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [`${event.interruptId} ${event.reason}`] : []));
    expect(ends).toEqual([`${ids[0]} answer`, `${ids[1]} cancel`]);
  });

  it('is decided by the time where nobody answers, and once only', async () => {
    const run = await begin(before(racing));
    await run.advance('30m');
    await pause(run);
    await run.advance('30m');
    expect(await run.interrupts()).toMatchObject([{ info: 'And now?' }]);
    await pause(run);
    await pause(run);
    await run.resume(only(await run.interrupts()).id, true);
    expect(await shown(run)).toEqual([1, 'cancel', 'cancel', 'answer', { first: 'late', value: 'nobody' }]);
  });

  it('gives a question a limit of time with ctx.within, also for hooks that see chat messages', async () => {
    const asks = async (ctx: HookContext): Promise<void> => {
      ctx.sendEvent('first', (await ctx.within('1h', (inner) => inner.interrupt<string>('Quick?'))) ?? 'too late');
      ctx.sendEvent('second', (await ctx.within('1h', (inner) => inner.interrupt<string>('Again?'))) ?? 'too late');
    };
    const run = await begin(chatMiddleware(before(asks) as never));
    await pause(run);
    await run.advance('1h');
    await pause(run);
    await run.resume(only(await run.interrupts()).id, 'in time');
    expect((await run.outcome()).status).toBe('completed');
    expect(await shown(run)).toEqual(['deadline', 'too late', 'answer', 'in time']);
  });

  it('shows the end of ctx.within as the deadline of what is asked inside, unless that has less time', async () => {
    const asks = async (ctx: HookContext): Promise<void> => {
      const said = await ctx.within('1h', (inner) =>
        Promise.all([
          inner.interrupt<string>('Quick?'),
          inner.within('2h', (innermost) => innermost.interrupt<string>('Inside?')),
          inner.interrupt<string>('Quicker?', { deadline: '1m', onDeadline: 'none' }),
        ]),
      );
      ctx.sendEvent('said', said === undefined ? 'too late' : 'in time');
      await ctx.interrupt('And now?');
    };
    const run = await begin(before(asks));
    const asked = await run.interrupts();
    const [soonest = 0] = asked.map(({ deadline }) => deadline ?? 0).sort();
    expect(asked.map(({ deadline }) => (deadline ?? 0) - soonest)).toEqual([59 * 60_000, 59 * 60_000, 0]);
    await pause(run);
    await run.advance('2h');
    for (const { id } of asked) await expect(run.resume(id, 'late')).rejects.toMatchObject({ code: 'interrupt-expired' });
    expect(await shown(run)).toEqual(['deadline', 'deadline', 'deadline', 'too late']);
  });

  it('throws what its first branch throws', async () => {
    const run = await begin(
      before((ctx) =>
        ctx.race({
          asks: (inner) => inner.interrupt('Quick?'),
          fails: async (inner) => {
            await inner.sleep('1m');
            throw new Error('out of order');
          },
        }),
      ),
    );
    await pause(run);
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /out of order/));
    expect(await run.interrupts()).toEqual([]);
  });
});

it.each<[string, unknown, string]>([
  ['nothing', undefined, 'hook-failed'],
  ['no branch', {}, 'hook-failed'],
  ['promises in place of functions', { first: Promise.resolve(1) }, 'hook-failed'],
  ['a branch that ends with what is no JSON', { first: () => () => 1 }, 'value-not-json'],
])('ctx.race refuses %s', async (_, branches, code) => {
  const run = await begin(before((ctx) => ctx.race(branches as never)));
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code } });
});
