import { z } from 'zod';
import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { errorSaying, failureSaying } from '../../support/failures';
import { agentUnder, agentWith, linesOf, logOf, only, startRun, toolOf, transcriptOf } from '../../support/memory-bed';

const call = (name: string) => ({ name, input: {} });
const entries: unknown[] = [];
const ask = toolOf((_, context): string => {
  const { resumed } = context;
  entries.push(resumed ?? 'first');
  if (resumed === undefined)
    return context.interrupt({ question: 'Which?' }, { state: { step: 1 }, answerSchema: z.object({ choice: z.string() }) });
  if ((resumed.state as { step: number }).step === 1)
    context.interrupt({ question: 'Sure?' }, { state: { step: 2, choice: (resumed.answer as { choice: string }).choice }, deadline: '1h' });
  return `${(resumed.state as { choice: string }).choice}, ${String(resumed.answer)}`;
});

beforeEach(() => {
  entries.length = 0;
});

describe('a tool that asks', () => {
  it('is entered again with the answer and its state, as often as it asks, and shown once', async () => {
    const run = await startRun(agentWith({ tools: ['ask'] }), [{ toolCalls: [call('ask')] }, { text: 'Done.' }], { tools: { ask } });
    const first = only(await run.interrupts());
    expect(first).toMatchObject({ kind: 'question', info: { question: 'Which?' }, answerSchema: { type: 'object' }, agent: 'agent' });
    await run.resume(first.id, { choice: 'tea' });
    await run.goOnAsNew();
    const second = only(await run.interrupts());
    expect(second).toMatchObject({ info: { question: 'Sure?' }, deadline: Date.UTC(2026, 0, 1, 1) });
    expect(second.id).not.toBe(first.id);
    await run.resume(second.id, 'yes');
    expect((await transcriptOf(run))[2]).toBe('tool: tea, yes');
    expect(entries).toEqual([
      'first',
      { answer: { choice: 'tea' }, state: { step: 1 } },
      { answer: 'yes', state: { step: 2, choice: 'tea' } },
    ]);
    expect((await linesOf(run)).filter((line) => line.startsWith('tool'))).toEqual(['tool-start ask', 'tool-end ask']);
  });

  it('takes no answer of another shape', async () => {
    const run = await startRun(agentWith({ tools: ['ask'] }), [{ toolCalls: [call('ask')] }, { text: 'Done.' }], { tools: { ask } });
    const { id } = only(await run.interrupts());
    await expect(run.resume(id, { choice: 1 })).rejects.toMatchObject({
      code: 'answer-invalid',
      message: `The answer to "${id}" does not fit: choice is no string.`,
    });
    await expect(run.resume(id, { when: new Date(0) } as never)).rejects.toMatchObject(errorSaying('answer-invalid', 'not JSON'));
    await expect(run.resume(id, 'x'.repeat(300_000))).rejects.toMatchObject(errorSaying('answer-invalid', 'bytes'));
    expect(entries).toEqual(['first']);
  });

  it('ends the run when nobody answers in time', async () => {
    const run = await startRun(agentWith({ tools: ['ask'] }), [{ toolCalls: [call('ask')] }, { text: 'Done.' }], { tools: { ask } });
    await run.resume(only(await run.interrupts()).id, { choice: 'tea' });
    await run.advance('1h');
    expect(await run.outcome()).toMatchObject(failureSaying('interrupt-expired'));
  });

  it('refuses state that is no JSON', async () => {
    const bad = toolOf((_, context): string => context.interrupt('Go?', { state: new Map() as never }));
    const run = await startRun(agentWith({ tools: ['bad'] }), [{ toolCalls: [call('bad')] }, { text: 'Done.' }], { tools: { bad } });
    expect((await transcriptOf(run))[2]).toMatch(/error The interrupt of the tool is not JSON/);
  });

  it('asks also when it catches its own interrupt', async () => {
    const catching = toolOf((_, context): string => {
      if (context.resumed !== undefined) return 'resumed';
      try {
        return context.interrupt('Go?');
      } catch {
        return 'swallowed';
      }
    });
    const run = await startRun(agentWith({ tools: ['catching'] }), [{ toolCalls: [call('catching')] }, { text: 'Done.' }], {
      tools: { catching },
    });
    await run.resume(only(await run.interrupts()).id, true);
    expect((await transcriptOf(run))[2]).toBe('tool: resumed');
  });
});

describe('a hook that asks', () => {
  const asking = (
    options: Parameters<Parameters<NonNullable<AgentMiddleware['beforeModelRewriteState']>>[1]['interrupt']>[1] = {},
  ): [AgentMiddleware, unknown[]] => {
    const answers: unknown[] = [];
    return [
      { name: 'asking', beforeModelRewriteState: async (_, ctx) => void answers.push(await ctx.interrupt({ go: 'on?' }, options)) },
      answers,
    ];
  };

  it('goes on exactly there with the answer', async () => {
    const [hook, answers] = asking();
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await startRun(agentUnder(hook), model);
    expect(model.requests).toHaveLength(0);
    const { id, address } = only(await run.interrupts());
    expect(address).toEqual(['agent', 't1', 'beforeModelRewriteState:asking']);
    await run.resume(id, { yes: true }, { by: 'ada' });
    expect((await run.outcome()).status).toBe('completed');
    expect(answers).toEqual([{ yes: true }]);
    expect((await linesOf(run)).slice(0, 4)).toEqual(['run-start', 'interrupt-start', 'interrupt-end', 'model-start']);
  });

  it('may ask several at once and again, under ids that differ', async () => {
    const many: AgentMiddleware = {
      name: 'many',
      beforeAgent: async (_, ctx) => {
        const both = await Promise.all([ctx.interrupt('one'), ctx.interrupt('two')]);
        const last = await ctx.interrupt('three');
        ctx.sendEvent('answers', [...both, last] as never);
      },
    };
    const run = await startRun(agentUnder(many), [{ text: 'Done.' }]);
    const [one, two] = await run.interrupts();
    expect([one?.id, two?.id]).toEqual(['agent.setup.beforeAgent-many', 'agent.setup.beforeAgent-many.1']);
    await run.resume(two?.id ?? '', 2);
    await run.resume(one?.id ?? '', 1);
    await run.resume(only(await run.interrupts()).id, 3);
    await run.outcome();
    expect((await logOf(run)).find((event) => event.type === 'custom')).toMatchObject({ data: [1, 2, 3] });
  });

  it('keeps an interrupt of its own kind, which takes any answer', async () => {
    const [hook, answers] = asking({ kind: 'custom', answerSchema: { type: 'number' } });
    const run = await startRun(agentUnder(hook), [{ text: 'Done.' }]);
    const interrupt = only(await run.interrupts());
    expect(interrupt).toMatchObject({ kind: 'custom', info: { go: 'on?' } });
    await expect(run.resume(interrupt.id, 'text')).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(interrupt.id, 7);
    await run.outcome();
    expect(answers).toEqual([7]);
  });
});
