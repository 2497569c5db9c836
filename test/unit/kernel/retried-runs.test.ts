import type { AgentMiddleware } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { StopError, agentTool, customAgent, parallel, sequential } from 'holdfast/workflow';
import { atDesk, call, desk, failed, failsOften, goesOn, resetDesk } from '../../support/broken-desk';
import { agentWith, answerAnew, echo, linesOf, logOf, startRun, toolOf, transcriptOf, withHook } from '../../support/memory-bed';
import { member, scripts } from '../../support/team-bed';

const names = ['pay', 'notify', 'echo'];
const strict = (...middleware: readonly AgentMiddleware[]) => agentWith({ tools: names, toolErrors: 'fail', middleware });
const done = { text: 'Done.' };

beforeEach(resetDesk);

describe('a failed run that is tried again', () => {
  it('goes on behind its last good step: a payment is made once in five retries', async () => {
    const run = await atDesk(strict(), [call('pay', 'notify'), done]);
    await failsOften(run);
    await failed(run);
    desk.broken = false;
    await run.retry({ by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(desk.payments).toEqual(['default/test/agent/t1/pay.0']);
    expect(desk.calls).toBe(6);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: pay({}) notify({})', 'tool: paid', 'tool: sent', 'assistant: Done.']);
    const log = await logOf(run);
    expect(log.map(({ offset }) => offset)).toEqual(log.map((_, position) => position));
    expect(log.filter(({ type }) => type === 'run-retry' || type === 'run-end')).toHaveLength(11);
    expect(log.filter(({ type }) => type === 'run-retry').at(-1)).toMatchObject({ by: 'ada' });
  });

  it('asks the model again that had failed', async () => {
    const run = await atDesk(agentWith(), [{ error: '401' }, { text: 'Done.' }]);
    expect((await run.outcome()).status).toBe('failed');
    await run.retry();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('enters a hook again in mended code, with what its calls had given', async () => {
    const hook = (mended: boolean): AgentMiddleware =>
      withHook('audit', 'wrapToolCall', async (asked, next, ctx) => {
        const before = await ctx.call('pay', {});
        const output = await next(asked);
        if (!mended) throw new Error('a bug');
        return `${String(before)}, ${String(output)}`;
      });
    const agent = (mended: boolean) => agentWith({ tools: names, middleware: [hook(mended)] });
    const run = await atDesk(agent(false), [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    await failed(run, 'hook-failed');
    await run.retry();
    await failed(run, 'hook-failed');
    await run.retry({ agent: agent(true) });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(desk.payments).toHaveLength(1);
    expect((await transcriptOf(run))[2]).toBe('tool: paid, a');
  });

  it('does not make a once call again that threw: somebody says whether it happened', async () => {
    let attempts = 0;
    const risky = toolOf(
      (): string => {
        attempts += 1;
        throw new Error('connection reset');
      },
      { effect: 'once' },
    );
    const agent = agentWith({ tools: ['risky'], toolErrors: 'fail' });
    const run = await startRun(agent, [call('risky'), done], { tools: { risky } });
    await failed(run);
    await run.retry();
    const [open] = await run.interrupts();
    expect(open).toMatchObject({ kind: 'in-doubt', info: { tool: 'risky', question: expect.stringContaining('connection reset') } });
    await run.resume(open?.id ?? '', { happened: true, result: 'paid' });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(attempts).toBe(1);
  });

  it('goes on in the agent that failed beside another, which had ended', async () => {
    const worker = (name: string, own: readonly string[]) => member(name, { tools: own, toolErrors: 'fail' });
    const run = await atDesk(
      parallel({ name: 'both', description: 'Both.', agents: [worker('one', ['pay', 'notify']), worker('two', ['pay'])] }),
      scripts({ one: [call('pay'), call('notify'), { text: 'One.' }], two: [call('pay'), { text: 'Two.' }] }),
    );
    await goesOn(run, { one: 'One.', two: 'Two.' });
    expect(desk.payments).toHaveLength(2);
  });

  it('goes on inside of an agent that is a tool, and behind a sequence', async () => {
    const helper = member('helper', { tools: ['pay', 'notify'], toolErrors: 'fail' });
    const lead = member('lead', { tools: [agentTool(helper)], toolErrors: 'fail' });
    const run = await atDesk(
      sequential({ name: 'all', description: 'All.', agents: [lead] }),
      scripts({
        helper: [call('pay'), call('notify'), { text: 'Helped.' }],
        lead: [{ toolCalls: [{ name: 'helper', input: { request: 'Do it.' } }] }, { text: 'Led.' }],
      }),
    );
    expect((await run.outcome()).status).toBe('failed');
    await run.retry();
    await goesOn(run, 'Led.');
    expect(desk.payments).toHaveLength(1);
  });

  it('enters a custom agent again, which gets what had come back', async () => {
    const agent = customAgent({
      name: 'own',
      description: 'By hand.',
      agents: [],
      async *run(_, ctx) {
        await ctx.call('pay', {});
        yield { output: 'Paid.' };
        await ctx.call('notify', {});
        yield { output: 'Done.' };
      },
    });
    const run = await atDesk(agent, []);
    await goesOn(run);
    expect(desk.payments).toHaveLength(1);
  });

  it('tells its observers of each failure, and of one end', async () => {
    const told: string[] = [];
    const observer: AgentMiddleware = {
      name: 'watch',
      onStart: ({ kind }) => void told.push(`start ${kind}`),
      onEnd: ({ kind }) => void told.push(`end ${kind}`),
      onError: ({ kind }) => void told.push(`error ${kind}`),
    };
    const run = await atDesk(strict(observer), [call('pay'), call('notify'), done]);
    await goesOn(run);
    expect(desk.payments).toHaveLength(1);
    expect(told.filter((line) => line === 'error agent')).toHaveLength(1);
    expect(told.at(-1)).toBe('end agent');
  });

  it('has its iterations again when they were too few', async () => {
    const steps = ['a', 'b', 'c'].map((text) => ({ toolCalls: [echo(text)] }));
    const run = await atDesk(agentWith({ maxIterations: 2 }), [...steps, done]);
    await failed(run, 'max-iterations');
    await run.retry();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  });
});

describe('what a failed run had asked', () => {
  it('is not asked again: an approval stands', async () => {
    const run = await atDesk(strict(approval({ tools: { notify: true } })), [call('notify'), done]);
    await run.approve((await run.interrupts())[0]?.id ?? '');
    await goesOn(run);
  });

  it('waits on beside a failed call, and is answered before the run fails', async () => {
    const toolCalls = [{ name: 'notify', input: {} }, echo('a'), { name: 'pay', input: {} }];
    const run = await atDesk(strict(approval({ tools: { echo: true } })), [{ toolCalls }, done]);
    const [open] = await run.interrupts();
    await run.approve(open?.id ?? '');
    await goesOn(run);
    expect(desk.payments).toHaveLength(1);
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: sent', 'tool: a', 'tool: paid', 'assistant: Done.']);
  });
});

describe('a retry is refused', () => {
  it('of a run that has not failed', async () => {
    const run = await atDesk(agentWith(), [{ text: 'Done.' }]);
    await expect(run.retry()).rejects.toMatchObject({ code: 'run-not-failed' });
  });

  it('by code that is another where the run stands', async () => {
    const agent = (tool: string) => {
      const hook = withHook('audit', 'wrapToolCall', async (asked, next, ctx) => {
        await ctx.call(tool, tool === 'pay' ? {} : { text: 'b' });
        await next(asked);
        throw new Error('a bug');
      });
      return agentWith({ tools: names, middleware: [hook] });
    };
    const run = await atDesk(agent('pay'), [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    await failed(run, 'hook-failed');
    await run.retry({ agent: agent('echo') });
    await failed(run, 'frame-changed');
    expect(desk.payments).toHaveLength(1);
    expect((await linesOf(run)).at(-1)).toBe('run-end');
  });

  it('when it continued as new after a part of it had failed', async () => {
    const toolCalls = [{ name: 'notify', input: {} }, echo('a')];
    const run = await atDesk(strict(approval({ tools: { echo: true } })), [{ toolCalls }, done]);
    const [open] = await run.interrupts();
    await run.goOnAsNew();
    await run.approve(open?.id ?? '');
    expect((await run.outcome()).status).toBe('failed');
    await expect(run.retry()).rejects.toMatchObject({ code: 'retry-impossible', message: expect.stringContaining('continued as new') });
  });

  it.each([undefined, 'open', 'ended'])(
    'when a layer around a model that is asked again had paid, and over a continue-as-new is %s',
    async (how) => {
      const careless = withHook('careless', 'wrapModel', async (request, next, ctx) => {
        await ctx.call('pay', {});
        if (how === 'open') await ctx.interrupt('Go on?');
        return next(request);
      });
      const waiting = withHook('waiting', 'wrapModel', async (request, next, ctx) => {
        try {
          return await next(request);
        } catch (error) {
          if (how === 'ended') await ctx.interrupt('Go on?');
          throw error;
        }
      });
      const agent = agentWith({ tools: names, retry: { maxRetries: 0 }, middleware: [waiting, careless] });
      const run = await atDesk(agent, [{ error: '401' }, { text: 'Done.' }]);
      await run.outcome();
      if (how !== undefined) await answerAnew(run, 'yes');
      await failed(run, 'model-retries-exhausted');
      await expect(run.retry()).rejects.toMatchObject({ code: 'retry-impossible', message: expect.stringContaining('"pay"') });
      expect(desk.payments).toHaveLength(1);
    },
  );

  it('of a run that was stopped on purpose', async () => {
    const stopping = withHook('stopping', 'beforeModelRewriteState', () => {
      throw new StopError('enough');
    });
    const run = await atDesk(agentWith({ middleware: [stopping] }), []);
    await failed(run, 'stopped');
    await expect(run.retry()).rejects.toMatchObject({ code: 'retry-impossible' });
  });
});
