import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware, HookContext } from 'holdfast/workflow';
import { insideOf } from '../../../kernel/define/inside';
import { failureSaying } from '../../support/failures';
import { agentUnder, before, linesOf, logOf, startRun, transcriptOf } from '../../support/memory-bed';

const oneTurn = () => scriptedModel([{ text: 'Done.' }]);

describe('ctx', () => {
  it('tells where the hook is', async () => {
    const seen: unknown[] = [];
    const run = await startRun(
      agentUnder(before(({ agent, runPath, runId, iteration, usage }) => seen.push({ agent, runPath, runId, iteration, usage }))),
      oneTurn(),
      { id: 'r1' },
    );
    await run.outcome();
    expect(seen).toEqual([{ agent: 'agent', runPath: ['agent'], runId: 'r1', iteration: 1, usage: { inputTokens: 0, outputTokens: 0 } }]);
  });

  it.each<[string, (ctx: HookContext) => unknown]>([
    ['The run-local value "when" is not JSON: the value is a Date', (ctx) => ctx.runLocal.set('when', new Date(0) as never)],
    ['The session value "map" is not JSON: inner is a Map', (ctx) => ctx.session.set('map', { inner: new Map() } as never)],
    ['The event value "big" is not JSON: the value is a bigint', (ctx) => ctx.sendEvent('big', 1n as never)],
    ['The call value "echo" is not JSON: the value is a function', (ctx) => ctx.call('echo', () => 1)],
    ['The interrupt value "info" is not JSON: the value is a undefined', (ctx) => ctx.interrupt(undefined as never)],
  ])('refuses a value that is no JSON: %s', async (message, act) => {
    const run = await startRun(agentUnder(before(act)), oneTurn());
    expect(await run.outcome()).toMatchObject(failureSaying('value-not-json', message));
  });

  it('finds nothing under a key that nobody set, also where every object has something', async () => {
    const seen: unknown[] = [];
    const looking = before((ctx) => {
      for (const key of ['constructor', 'toString', '__proto__']) seen.push(ctx.session.get(key), ctx.runLocal.get(key), ctx.values[key]);
      ctx.session.set('constructor', 'mine');
      seen.push(ctx.session.get('constructor'));
    });
    const run = await startRun(agentUnder(looking), oneTurn(), { values: { user: 'ada' } });
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toEqual([...Array<undefined>(9).fill(undefined), 'mine']);
  });

  it.each<[string, (ctx: HookContext) => void]>([
    ['as a key of runLocal', (ctx) => ctx.runLocal.set('__proto__', { asked: true })],
    ['as a key of session', (ctx) => ctx.session.set('__proto__', 1)],
    ['deep in a value', (ctx) => ctx.session.set('order', [JSON.parse('{"a":{"__proto__":1}}')])],
  ])('refuses __proto__ %s, which copying would lose', async (_, act) => {
    const run = await startRun(agentUnder(before(act)), oneTurn());
    expect(await run.outcome()).toMatchObject(failureSaying('value-not-json', '"__proto__"'));
  });

  it('gives values that a hook cannot change in place', async () => {
    const seen: unknown[] = [];
    const changing = before((ctx) => {
      seen.push(ctx.values);
      (ctx.values as Record<string, unknown>)['user'] = 'eve';
    });
    const run = await startRun(agentUnder(changing), oneTurn(), { values: { user: 'ada' } });
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed'));
    expect(seen).toEqual([{ user: 'ada' }]);
  });

  it.each([[[]], [['']], [['ada', ' ']]])('refuses an interrupt that nobody could answer: by %j', async (by) => {
    const run = await startRun(agentUnder(before((ctx) => ctx.interrupt('Go?', { by }))), oneTurn());
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', 'nobody could answer'));
  });

  it('sends events at their place in the log', async () => {
    const noting: AgentMiddleware = {
      name: 'noting',
      beforeAgent: (_, ctx) => ctx.sendEvent('began', { n: 1 }),
      afterAgent: (_, ctx) => ctx.sendEvent('ended', 2),
    };
    const run = await startRun(agentUnder(noting), oneTurn());
    expect(await linesOf(run)).toEqual(['run-start', 'custom began', 'model-start', 'model-end', 'custom ended', 'run-end']);
    expect((await logOf(run))[1]).toMatchObject({ agent: 'agent', runPath: ['agent'], name: 'began', data: { n: 1 } });
  });

  it('calls a tool that neither transcript nor log shows', async () => {
    const seen: unknown[] = [];
    const run = await startRun(agentUnder(before(async (ctx) => seen.push(await ctx.call('add', { a: 1 })))), oneTurn());
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.']);
    expect(seen).toEqual([{ sum: 2 }]);
  });

  it('gives the errors of such a tool to the hook', async () => {
    const seen: unknown[] = [];
    const catching = before(async (ctx) => {
      for (const [tool, input] of [
        ['fail', {}],
        ['add', { a: 'x' }],
        ['teleport', {}],
      ] as const)
        await ctx.call(tool, input as never).catch((error: { code: string }) => seen.push(error.code));
    });
    await (await startRun(agentUnder(catching), oneTurn())).outcome();
    expect(seen).toEqual(['tool-failed', 'tool-input-invalid', 'tool-unknown']);
  });

  it('calls another model and counts its tokens', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([{ text: 'Summary.', usage: { inputTokens: 3, outputTokens: 2 } }, { text: 'Done.' }]);
    const summing = before(async (ctx) => {
      const response = await ctx.model('test/small', {
        instructions: 'Sum up.',
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'Long.' }] }],
      });
      seen.push(response.message.parts, response.model, ctx.usage.inputTokens);
    });
    const run = await startRun(agentUnder(summing), model);
    await run.outcome();
    expect(seen).toEqual([[{ type: 'text', text: 'Summary.' }], 'test/small', 3]);
    expect(model.requests[0]).toMatchObject({ model: 'test/small', instructions: 'Sum up.', tools: [] });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.']);
    expect(await run.usage()).toEqual({ inputTokens: 3, outputTokens: 2 });
  });

  it('refuses a text that is no duration', async () => {
    const run = await startRun(agentUnder(before((ctx) => ctx.sleep('soon'))), oneTurn());
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', '"soon" is no duration'));
  });

  it('leaves no rejection behind when a hook drops a promise', async () => {
    const dropping = before((ctx) => {
      void ctx.call('fail', {});
      void ctx.call('teleport' as never, {});
      void ctx.sleep('soon').catch(() => undefined);
      void ctx.model('test/other', { messages: 'none' as never });
    });
    const run = await startRun(agentUnder(dropping), oneTurn());
    expect((await run.outcome()).status).toBe('completed');
  });

  it('may be taken apart, looked through and frozen', async () => {
    const acting = before((ctx) => {
      const { sendEvent, runLocal } = ctx;
      sendEvent('apart', 1);
      runLocal.set('n', 2);
      const { get } = runLocal;
      sendEvent('values apart', get('n') ?? null);
      const through = Object.assign(Object.create(ctx) as HookContext, { agent: 'other' });
      through.sendEvent('through', [through.agent, ctx.agent, through.iteration, 'approve' in through]);
      Object.freeze(ctx);
      ctx.sendEvent('frozen', ctx.iteration);
    });
    const run = await startRun(agentUnder(acting), oneTurn());
    const told = (await logOf(run)).flatMap((event) => (event.type === 'custom' ? [[event.name, event.data]] : []));
    expect(told).toEqual([
      ['apart', 1],
      ['values apart', 2],
      ['through', ['other', 'agent', 1, true]],
      ['frozen', 1],
    ]);
  });

  it('keeps what people waived for the context itself: a copy of it does not count', async () => {
    const found: unknown[] = [];
    const acting = before((ctx) => {
      found.push(insideOf(ctx).waivers.has('refund'));
      try {
        insideOf({ ...ctx });
      } catch (error) {
        found.push((error as { code?: string }).code);
      }
    });
    await (await startRun(agentUnder(acting), oneTurn())).outcome();
    expect(found).toEqual([false, 'outside-run']);
  });
});
