import type { ScriptedStep } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { StopError, agentTool, parallel } from 'holdfast/workflow';
import { addUsageByModel } from '../../../contract/usage';
import { atDesk, brokenKit, call, desk, failed, failsOften, goesOn, mended, resetDesk } from '../../support/broken-desk';
import { logOf, startRun, toolOf, transcriptOf, withHook } from '../../support/memory-bed';
import { member, scripts } from '../../support/team-bed';
import { errorOf } from '../../support/failures';

beforeEach(resetDesk);

const ask = (agent: string): ScriptedStep => ({ toolCalls: [{ name: agent, input: { request: 'Do it.' } }] });

const pays = [call('pay'), call('notify'), { text: 'Helped.' }];
const leads = [ask('helper'), { text: 'Led.' }];

const helperWith = (middleware: readonly AgentMiddleware[] = [], name = 'helper') =>
  member(name, { tools: ['pay', 'notify'], toolErrors: 'fail', middleware });

const leadOf = (helper: ReturnType<typeof helperWith>) =>
  member('lead', { tools: [agentTool(helper, { isolate: true }), 'notify'], toolErrors: 'fail' });

describe('a failed run whose isolated agent had failed', () => {
  it('goes on in that agent behind its last good step: one payment in five retries', async () => {
    const run = await atDesk(leadOf(helperWith()), scripts({ helper: pays, lead: leads }));
    await failsOften(run);
    await goesOn(run, 'Led.');
    expect(desk.payments).toHaveLength(1);
    expect(desk.calls).toBe(6);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: helper({"request":"Do it."})', 'tool: Helped.', 'assistant: Led.']);
    const log = await logOf(run);
    expect(log.map(({ offset }) => offset)).toEqual(log.map((_, position) => position));
    const starts = log.flatMap((event) => (event.type === 'agent-start' ? [event.run] : []));
    expect(starts).toHaveLength(6);
    expect(new Set(starts).size).toBe(1);
  });

  it('counts what the agent had used once, in all and by model', async () => {
    const used = <Step extends object>(step: Step) => ({ ...step, usage: { inputTokens: 3, outputTokens: 1 } });
    const play = async (isBroken: boolean): Promise<unknown> => {
      desk.broken = isBroken;
      const run = await atDesk(leadOf(helperWith()), scripts({ helper: pays.map(used), lead: leads }));
      if (isBroken) {
        await failed(run);
        await run.retry();
        await mended(run);
      }
      expect((await run.outcome()).status).toBe('completed');
      const byModel = (await logOf(run)).reduce(
        (sums, event) => (event.type === 'agent-end' ? addUsageByModel(sums, event.usageByModel ?? {}) : sums),
        {},
      );
      expect(Object.keys(byModel)).toEqual(['test/helper']);
      return { usage: (await run.view()).usage, byModel };
    };
    expect(await play(true)).toEqual(await play(false));
  });
});

describe('an isolated agent that goes on with its run', () => {
  it('has the mended code of its run', async () => {
    const throwing = withHook('audit', 'wrapToolCall', async (asked, next) => {
      await next(asked);
      throw new Error('a bug');
    });
    desk.broken = false;
    const run = await atDesk(leadOf(helperWith([throwing])), scripts({ helper: [call('pay'), { text: 'Helped.' }], lead: leads }));
    await failed(run);
    await run.retry({ agent: leadOf(helperWith([{ name: 'audit', wrapToolCall: (asked, next) => next(asked) }])) });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Led.' });
    expect(desk.payments).toHaveLength(1);
  });

  it('is not asked again what was approved, and asks what it had not asked', async () => {
    const run = await atDesk(
      leadOf(helperWith([approval({ tools: { pay: true, notify: true } })])),
      scripts({ helper: [call('pay'), call('notify'), call('notify'), { text: 'Helped.' }], lead: leads }),
    );
    await run.approve((await run.interrupts())[0]?.id ?? '');
    await run.approve((await run.interrupts())[0]?.id ?? '');
    await mended(run);
    const open = await run.interrupts();
    expect(open).toMatchObject([{ kind: 'approval', tool: 'notify' }]);
    expect(desk.calls).toBe(2);
    await run.approve(open[0]?.id ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(desk.payments).toHaveLength(1);
    expect(desk.calls).toBe(3);
  });

  it('goes on beside one that had ended, which does not run again', async () => {
    const both = parallel({ name: 'both', agents: [helperWith([], 'one'), helperWith([], 'two')], isolate: true });
    const run = await atDesk(both, scripts({ one: [call('pay'), call('notify'), { text: 'One.' }], two: [call('pay'), { text: 'Two.' }] }));
    await goesOn(run, { one: 'One.', two: 'Two.' });
    expect(desk.payments).toHaveLength(2);
  });

  it('goes on inside of another isolated agent', async () => {
    const middle = member('middle', { tools: [agentTool(helperWith(), { isolate: true })], toolErrors: 'fail' });
    const run = await atDesk(
      leadOf(middle),
      scripts({ helper: pays, middle: [ask('helper'), { text: 'Asked.' }], lead: [ask('middle'), { text: 'Led.' }] }),
    );
    await failed(run);
    await run.retry();
    await goesOn(run, 'Led.');
    expect(desk.payments).toHaveLength(1);
  });

  it('stays as it was when the run had gone on behind its failure', async () => {
    const run = await atDesk(
      member('lead', { tools: [agentTool(helperWith(), { isolate: true })] }),
      scripts({ helper: [call('pay'), call('notify')], lead: [ask('helper'), { error: '401' }, { text: 'Led.' }] }),
    );
    expect((await run.outcome()).status).toBe('failed');
    await run.retry();
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Led.' });
    expect(desk.calls).toBe(1);
    expect((await transcriptOf(run))[2]).toContain('no mail server');
  });

  it('is in doubt about a once call that threw in it', async () => {
    let attempts = 0;
    const pay = toolOf(
      (): string => {
        attempts += 1;
        throw new Error('connection reset');
      },
      { effect: 'once' },
    );
    const run = await startRun(leadOf(helperWith()), scripts({ helper: [call('pay'), { text: 'Helped.' }], lead: leads }), {
      tools: { ...brokenKit, pay },
    });
    await failed(run);
    await run.retry();
    const [open] = await run.interrupts();
    expect(open).toMatchObject({ kind: 'in-doubt', info: { tool: 'pay' } });
    await run.resume(open?.id ?? '', { happened: true, result: 'paid' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Led.' });
    expect(attempts).toBe(1);
  });

  it('holds its run back where it cannot go on itself, and says why', async () => {
    const careless = withHook('careless', 'wrapModel', async (request, next, ctx) => {
      await ctx.call('pay', {});
      return next(request);
    });
    const retrying = member('helper', { tools: ['pay'], retry: { maxRetries: 1 }, middleware: [careless] });
    const run = await atDesk(leadOf(retrying), scripts({ helper: [{ error: 'overloaded' }, { error: 'overloaded' }], lead: leads }));
    await run.advance('1m');
    await failed(run);
    await expect(run.retry()).rejects.toMatchObject(errorOf('retry-impossible', /an isolated agent of it, failed: The run cannot go on/));
    expect(desk.payments).toHaveLength(2);
  });

  it('ends its run for good with a StopError', async () => {
    const stopping = withHook('stopping', 'beforeModelRewriteState', () => {
      throw new StopError('enough');
    });
    const run = await atDesk(leadOf(helperWith([stopping])), scripts({ helper: [], lead: [ask('helper')] }));
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
    await expect(run.retry()).rejects.toMatchObject({ code: 'retry-impossible' });
  });
});
