import type { TestRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { parallel } from 'holdfast/workflow';
import { codeOf } from '../../../contract/errors';
import { latenessOf } from '../../../contract/interrupts';
import { agentUnder, agentWith, echo, logOf, startRun } from '../../support/memory-bed';

const code = (answering: Promise<unknown>): Promise<unknown> => answering.then(() => 'was taken', codeOf);
const started = (...middleware: readonly AgentMiddleware[]): Promise<TestRun> =>
  startRun(agentUnder(...middleware), [{ toolCalls: [echo('paid')] }, { text: 'Done.' }]);
const first = async (run: TestRun): Promise<string> => (await run.interrupts())[0]?.id ?? '';
const ends = async (run: TestRun): Promise<unknown> =>
  (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.reason, event.answer]] : []));

describe('an answer behind its deadline', () => {
  it.each(['approve', 'reject'] as const)('is interrupt-expired, and what the rule says happens: %s', async (onExpiry) => {
    const run = await started(approval({ tools: { echo: { expires: '6s', onExpiry } } }));
    const id = await first(run);
    await run.advance('36s');
    expect(await code(run.approve(id))).toBe('run-ended');
    expect(await ends(run)).toMatchObject([['deadline', { type: onExpiry }]]);
  });

  it('is interrupt-expired while the run goes on, also after a continue-as-new', async () => {
    const question: AgentMiddleware = {
      name: 'asks',
      wrapToolCall: async (_, __, ctx) => [
        await ctx.interrupt<string>('one', { deadline: '6s', onDeadline: 'none' }),
        await ctx.interrupt<string>('two'),
      ],
    };
    const run = await started(question);
    const id = await first(run);
    await run.advance('6s');
    expect(await code(run.resume(id, 'late'))).toBe('interrupt-expired');
    await run.goOnAsNew();
    expect(await code(run.resume(id, 'late'))).toBe('interrupt-expired');
    await run.resume(await first(run), 'in time');
    expect(await code(run.resume(id, 'late'))).toBe('run-ended');
  });

  it('is taken a millisecond before, and not at the deadline itself', async () => {
    const early = await started(approval({ tools: { echo: { expires: '6s' } } }));
    await early.advance('5999ms');
    expect(await code(early.approve(await first(early)))).toBe('was taken');
    expect(latenessOf({ id: 'a', deadline: 6000 }, 5999)).toBeUndefined();
    expect(latenessOf({ id: 'a', deadline: 6000 }, 6000)).toMatchObject({ code: 'interrupt-expired' });
    expect(latenessOf({ id: 'a' }, 1e15)).toBeUndefined();
  });

  it('meets the stage of its time when several have passed', async () => {
    const run = await started({
      name: 'escalation',
      async wrapToolCall(_, __, ctx) {
        const said: string[] = [];
        for (const who of ['clerk', 'lead', 'director'])
          said.push(await ctx.interrupt<string>({ who }, { deadline: '6s', onDeadline: `no ${who}` }));
        return said;
      },
    });
    const clerk = await first(run);
    await run.advance('6s');
    const lead = await first(run);
    await run.advance('9s');
    expect(await code(run.resume(clerk, 'yes'))).toBe('interrupt-expired');
    expect(await code(run.resume(lead, 'yes'))).toBe('interrupt-expired');
    expect(await code(run.resume(await first(run), 'yes'))).toBe('was taken');
    expect(await ends(run)).toEqual([
      ['deadline', 'no clerk'],
      ['deadline', 'no lead'],
      ['answer', 'yes'],
    ]);
  });

  it('is refused in both runs when an isolated agent had asked', async () => {
    const asks: AgentMiddleware = {
      name: 'asks',
      wrapModel: async (request, next, ctx) => {
        await ctx.interrupt('Well?', { deadline: '6s', onDeadline: 'nobody' });
        await ctx.interrupt('And now?');
        return next(request);
      },
    };
    const inner = agentWith({ name: 'agent', middleware: [asks] });
    const team = parallel({ name: 'team', isolate: true, agents: [inner] });
    const run = await startRun(team, [{ text: 'Done.' }]);
    const here = await first(run);
    const child = [...run.children.values()][0] as TestRun;
    const there = await first(child);
    await run.advance('6s');
    expect(await code(run.resume(here, 'late'))).toBe('interrupt-expired');
    expect(await code(child.resume(there, 'late'))).toBe('interrupt-expired');
  });
});

it('a run that was cancelled takes no answer while a call of it comes to its end', async () => {
  const run = await started({
    name: 'asks',
    wrapToolCall: async (_, __, ctx) => {
      await ctx.interrupt('Well?');
      return 'well';
    },
  });
  const id = await first(run);
  await run.cancel();
  expect(await code(run.resume(id, 'yes'))).toBe('run-ended');
  expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
  expect(await code(run.resume(id, 'yes'))).toBe('run-ended');
});
