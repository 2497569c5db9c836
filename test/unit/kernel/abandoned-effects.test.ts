import type { TestRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import type { MemoryRun } from '../../../testing/memory/run';
import { failureSaying } from '../../support/failures';
import { agentUnder, before, echo, logOf, only, startRun } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

const begin = (layer: AgentMiddleware, calls = false): Promise<TestRun> =>
  startRun(agentUnder(layer), [...(calls ? [{ toolCalls: [echo('a')] }] : []), { text: 'Done.' }]);

const borders = (run: TestRun): number =>
  (run as unknown as { readonly run: MemoryRun }).run.facts.filter(({ kind }) => kind === 'continued').length;

async function endsOf(run: TestRun): Promise<readonly unknown[]> {
  return (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [event.reason] : []));
}

const day = 24 * 3_600_000;

describe('what code waited for and nobody waits for any more', () => {
  it('holds up no continue-as-new: a sleep beside a question that was answered', async () => {
    const run = await begin(
      before(async (ctx) => {
        await Promise.race([ctx.interrupt('Quick?'), ctx.sleep('30d')]);
        await ctx.interrupt('Slow?');
      }),
    );
    await run.resume(only(await run.interrupts()).id, true);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    expect(borders(run)).toBe(1);
    await run.resume(id, true);
    expect((await run.outcome()).status).toBe('completed');
  });

  it('lets a run go on as new in the middle of a sleep, which ends when it was to end', async () => {
    const run = await begin(
      before(async (ctx) => {
        const began = ctx.now();
        await ctx.sleep('2d');
        ctx.sendEvent('slept', ctx.now() - began);
      }),
    );
    await run.advance('1d');
    await run.goOnAsNew();
    await run.goOnAsNew();
    expect(borders(run)).toBe(2);
    await run.advance('1d');
    expect((await run.outcome()).status).toBe('completed');
    expect((await logOf(run)).find(({ type }) => type === 'custom')).toMatchObject({ data: 2 * day });
  });

  it('is withdrawn with its hook: a question that the time was quicker than', async () => {
    const run = await begin(before((ctx) => Promise.race([ctx.interrupt('Quick?'), ctx.sleep('1h')])));
    expect(await run.interrupts()).toHaveLength(1);
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(await endsOf(run)).toEqual(['cancel']);
  });

  it.each<[string, AgentMiddleware]>([
    ['a hook', before((ctx) => void ctx.interrupt('Anybody?'))],
    ['a wrap of a model', { name: 'hook', wrapModel: (request, next, ctx) => (void ctx.interrupt('Anybody?'), next(request)) }],
    ['a wrap of a tool', { name: 'hook', wrapToolCall: async (call, next, ctx) => (void ctx.interrupt('Anybody?'), next(call)) }],
    ['an observer', { name: 'hook', onStart: ({ kind }, ctx) => void (kind === 'agent' && ctx.interrupt('Anybody?')) }],
  ])('is withdrawn with its code: a question that nobody waits for, of %s', async (_, layer) => {
    const run = await begin(layer, true);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(new Set(await endsOf(run))).toEqual(new Set(['cancel']));
    expect(await run.interrupts()).toEqual([]);
  });

  it('ends also for code in the background, which goes on no more, and the clock of the run has nothing left', async () => {
    const woken: string[] = [];
    const run = await startRun(
      byHand('agent', async function* (_, ctx) {
        void ctx.sleep('30d').then(() => woken.push('sleep'));
        void ctx.interrupt('Anybody?').then(() => woken.push('interrupt'));
        yield { output: 'Done.' };
      }),
      [],
    );
    await run.advance('31d');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(woken).toEqual([]);
    expect(await endsOf(run)).toEqual(['cancel']);
  });

  it('is withdrawn also deep inside of a call that a wrap does not wait for', async () => {
    const hasty: AgentMiddleware = {
      name: 'hasty',
      wrapToolCall: (call, next, ctx) => Promise.race([next(call), ctx.sleep('1h').then(() => 'Too late.')]),
    };
    const run = await startRun(agentUnder(hasty, approval({ tools: { echo: true } })), [{ toolCalls: [echo('a')] }]);
    expect(await run.interrupts()).toHaveLength(1);
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject(failureSaying('next-left-running'));
    expect(await endsOf(run)).toEqual(['cancel']);
    expect((await logOf(run)).at(-1)).toMatchObject({ type: 'run-end' });
  });

  it('leaves a question that is still waited for alone, whatever ends beside it', async () => {
    const run = await begin(
      before(async (ctx) => {
        const answer = ctx.interrupt<string>('Still?');
        await ctx.sleep('1h');
        ctx.sendEvent('answer', await answer);
      }),
    );
    await run.goOnAsNew();
    await run.advance('1h');
    await run.goOnAsNew();
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect((await logOf(run)).find(({ type }) => type === 'custom')).toMatchObject({ data: 'yes' });
  });
});
