import type { AgentMiddleware, HookContext } from 'holdfast/workflow';
import type { TestRun } from '../../../testing/index';
import { atDesk, desk, failed, failsOften, goesOn, mended, resetDesk } from '../../support/broken-desk';
import { agentWith, answerAnew, echo, logOf, transcriptOf } from '../../support/memory-bed';

beforeEach(resetDesk);

function runOf(act: (ctx: HookContext) => Promise<unknown>): Promise<TestRun> {
  const racing: AgentMiddleware = { name: 'racing', wrapToolCall: async (_, __, ctx) => String(await act(ctx)) };
  return atDesk(agentWith({ tools: ['pay', 'notify', 'echo'], toolErrors: 'fail', middleware: [racing] }), [
    { toolCalls: [echo('a')] },
    { text: 'Done.' },
  ]);
}

async function ends(run: TestRun, result: string): Promise<void> {
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  expect((await transcriptOf(run))[2]).toBe(`tool: ${result}`);
}

describe('a failed run in which a branch of a race had failed', () => {
  it('enters the branches again, which get what had come back: one payment in five retries', async () => {
    const run = await runOf((ctx) =>
      ctx.within('5m', async (inner) => {
        const paid = await inner.call('pay', {});
        return `${String(paid)}, ${String(await inner.call('notify', {}))}`;
      }),
    );
    await failsOften(run);
    await goesOn(run, 'Done.');
    expect(desk.payments).toHaveLength(1);
    expect(desk.calls).toBe(6);
    expect((await transcriptOf(run))[2]).toBe('tool: paid, sent');
  });

  it('gives ctx.within all of its time again', async () => {
    const run = await runOf((ctx) =>
      ctx.within('5m', async (inner) => {
        await inner.call('notify', {});
        return inner.interrupt('Well?');
      }),
    );
    await failed(run);
    await run.advance('1h');
    desk.broken = false;
    await run.retry();
    const [open] = await run.interrupts();
    expect(open?.deadline).toBeGreaterThan(0);
    await run.advance('4m');
    await run.resume(open?.id ?? '', 'yes');
    await ends(run, 'yes');
  });

  it('asks again what the other branch had asked, under the same id, and takes the answer', async () => {
    const run = await runOf(async (ctx) => {
      const { first, value } = await ctx.race({
        person: (inner) => inner.interrupt('Shall we?'),
        machine: async (inner) => {
          await inner.call('notify', {});
          return inner.sleep('1h');
        },
      });
      return `${first}: ${String(value)}`;
    });
    await failed(run);
    const asked = (await logOf(run)).flatMap((event) => (event.type === 'interrupt-start' ? [event.interrupt.id] : []));
    desk.broken = false;
    await run.retry();
    const [open] = await run.interrupts();
    expect([open?.id]).toEqual(asked);
    await run.resume(open?.id ?? '', 'yes');
    await ends(run, 'person: yes');
  });

  it('keeps an answer that the other branch had, and is not asked again', async () => {
    const run = await runOf(async (ctx) => {
      const { first } = await ctx.race({
        person: async (inner) => {
          const answer = await inner.interrupt('Shall we?');
          await inner.call('notify', {});
          return answer;
        },
        late: (inner) => inner.sleep('1d'),
      });
      return first;
    });
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    await mended(run);
    expect(await run.interrupts()).toEqual([]);
    await ends(run, 'person');
  });

  it('does not make a once call again whose branch ended with what is not JSON', async () => {
    const run = await runOf((ctx) =>
      ctx.within('5m', async (inner) => {
        await inner.call('pay', {});
        return new Map();
      }),
    );
    await failed(run, 'value-not-json');
    await run.retry();
    await failed(run, 'value-not-json');
    expect(desk.payments).toHaveLength(1);
  });

  it('goes over a continue-as-new behind the retry, with a log without gaps', async () => {
    const run = await runOf((ctx) =>
      ctx.within('5m', async (inner) => {
        await inner.call('pay', {});
        await inner.call('notify', {});
        return inner.interrupt('Well?');
      }),
    );
    await mended(run);
    await answerAnew(run, 'yes');
    await ends(run, 'yes');
    expect(desk.payments).toHaveLength(1);
    const log = await logOf(run);
    expect(log.map(({ offset }) => offset)).toEqual(log.map((_, position) => position));
  });

  it.each<[string, (ctx: HookContext) => Promise<unknown>]>([
    ['a branch', (ctx) => ctx.within('5m', (inner) => inner.call('notify', {}))],
    ['a call', (ctx) => ctx.call('notify', {})],
  ])('stays failed for code that caught the error of %s and went on', async (_, notify) => {
    const run = await runOf(async (ctx) => {
      const first = await notify(ctx).catch(() => 'no mail');
      await ctx.call('pay', {});
      return `${String(first)}, ${String(await ctx.call('notify', {}))}`;
    });
    await goesOn(run);
    expect((await transcriptOf(run))[2]).toBe('tool: no mail, sent');
    expect(desk.calls).toBe(3);
    expect(desk.payments).toHaveLength(1);
  });
});
