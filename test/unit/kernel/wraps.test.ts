import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware, Json, ModelResponse } from 'holdfast/workflow';
import { agentUnder, echo, gate, linesOf, logOf, startRun, transcriptOf, withHook } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const never = (): Promise<never> => new Promise(() => undefined);
const assistant = (text: string): ModelResponse => ({ message: { role: 'assistant', parts: [{ type: 'text', text }] } });

describe('wraps', () => {
  it('change the request of one call, and the transcript forgets it', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const louder = withHook('louder', 'wrapModel', (request, next) =>
      next({
        ...request,
        instructions: 'Shout.',
        messages: [...request.messages, { role: 'user', parts: [{ type: 'text', text: 'Now!' }] }],
        tools: ['echo'],
        model: 'test/other',
      }),
    );
    const run = await startRun(agentUnder(louder), model);
    await run.outcome();
    expect(model.requests[0]).toMatchObject({ instructions: 'Shout.', model: 'test/other' });
    expect(model.requests[0]?.messages).toHaveLength(2);
    expect(model.requests[0]?.tools).toHaveLength(1);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.']);
    expect((await logOf(run)).find((event) => event.type === 'model-end')).toMatchObject({ model: 'test/other' });
  });

  it('may ask for less after a request that does not fit, and then the model is asked just that', async () => {
    const long = { role: 'user', parts: [{ type: 'text', text: 'x'.repeat(400_000) }] } as const;
    const eager = withHook('eager', 'wrapModel', (request, next) =>
      next({ ...request, messages: [...request.messages, long, long, long] }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'payload-too-large' });
        return next(request);
      }),
    );
    const model = twoTurns();
    const run = await startRun(agentUnder(eager), model);
    expect(await linesOf(run)).toEqual([
      ...['run-start', 'model-start', 'model-end', 'tool-start echo', 'tool-end echo', 'model-start', 'model-end', 'run-end'],
    ]);
    expect(model.requests.map(({ instructions, messages }) => [instructions, messages.map(({ role }) => role)])).toEqual([
      ['Be a test.', ['user']],
      ['Be a test.', ['user', 'assistant', 'tool']],
    ]);
    expect(await transcriptOf(run)).toHaveLength(4);
  });

  it('may call next twice, one after the other, and each call is a call of its own', async () => {
    const fallback: AgentMiddleware = {
      name: 'fallback',
      wrapModel: async (request, next) => {
        try {
          return await next(request);
        } catch {
          return next({ ...request, model: 'test/spare' });
        }
      },
      wrapToolCall: async (call, next) => {
        try {
          return await next(call);
        } catch {
          return next({ ...call, name: call.name, input: {} }).catch((error: unknown) => `twice: ${(error as Error).message}`);
        }
      },
    };
    const run = await startRun(agentUnder(fallback), [{ error: 'down' }, { toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]);
    expect((await run.outcome()).status).toBe('completed');
    const addresses = (await logOf(run)).flatMap((event) =>
      event.type === 'model-start' || event.type === 'tool-start' ? [event.address] : [],
    );
    expect(addresses).toEqual(['agent/t1/model', 'agent/t1/model.2', 'agent/t1/fail.0', 'agent/t1/fail.0.2', 'agent/t2/model']);
    expect((await transcriptOf(run))[2]).toBe("tool: twice: The tool 'fail' failed: out of order");
  });

  it('may call next twice at once', async () => {
    const racing = withHook('racing', 'wrapModel', async (request, next) => {
      const [, second] = await Promise.all([next(request), next(request)]);
      return second;
    });
    const run = await startRun(agentUnder(racing), [{ text: 'One.' }, { text: 'Two.' }]);
    expect(await run.outcome()).toMatchObject({ text: 'Two.' });
  });

  it.each<[string, AgentMiddleware]>([
    ['wrapModel', { name: 'hasty', wrapModel: async (request, next) => (void next(request).catch(() => undefined), assistant('Early.')) }],
    ['wrapToolCall', { name: 'hasty', wrapToolCall: async (call, next) => (void next(call).catch(() => undefined), 'early') }],
  ])('that leave next running fail the run by name: %s', async (hook, layer) => {
    const run = await startRun(agentUnder(layer), twoTurns());
    const message = `${hook} of middleware "hasty" returned while a call of next was still running.`;
    expect(await run.outcome()).toEqual({ status: 'failed', error: { code: 'next-left-running', message } });
  });

  it.each([
    ['nothing', undefined],
    ['a text', 'Hello.'],
    ['no message', { text: 'Hello.' }],
    ['a message without parts', { message: { role: 'assistant' } }],
  ])('of the model that return %s fail the run by name', async (_, garbage) => {
    const bad = { name: 'bad', wrapModel: async () => garbage } as unknown as AgentMiddleware;
    const run = await startRun(agentUnder(bad), twoTurns());
    expect(await run.outcome()).toMatchObject(failure('model-response-invalid', /wrapModel of middleware "bad" returned no response/));
  });

  it.each([
    ['nothing', undefined],
    ['a function', () => 1],
  ])('of a tool that return %s fail the run by name', async (_, garbage) => {
    const bad = { name: 'bad', wrapToolCall: async () => garbage } as unknown as AgentMiddleware;
    const run = await startRun(agentUnder(bad), twoTurns());
    expect(await run.outcome()).toMatchObject(
      failure('hook-failed', /wrapToolCall of middleware "bad" returned something that is not JSON/),
    );
  });

  it.each([
    ['an error', new Error('odd'), 'odd'],
    ['a text', 'just text', 'just text'],
    ['nothing', undefined, 'undefined'],
  ])('may throw %s, later or at once', async (_, thrown, text) => {
    const later: AgentMiddleware = { name: 'later', wrapModel: async () => Promise.reject(thrown) };
    const atOnce = withHook('at-once', 'wrapToolCall', () => {
      throw thrown;
    });
    const outcomeUnder = async (layer: AgentMiddleware) => (await startRun(agentUnder(layer), twoTurns())).outcome();
    const failed = (message: string) => ({ status: 'failed', error: { code: 'hook-failed', message } });
    expect(await outcomeUnder(later)).toEqual(failed(`wrapModel of middleware "later" failed: ${text}`));
    expect(await outcomeUnder(atOnce)).toEqual(failed(`wrapToolCall of middleware "at-once" failed: ${text}`));
  });

  it.each([
    ['beforeModelRewriteState', { beforeModelRewriteState: never }],
    ['wrapModel', { wrapModel: never }],
    ['wrapToolCall', { wrapToolCall: never }],
    ['afterAgent', { afterAgent: never }],
  ])('that wait for what never comes are named: %s', async (hook, wrap) => {
    const run = await startRun(agentUnder({ name: 'stuck', ...wrap }), twoTurns());
    expect(await run.outcome()).toMatchObject(
      failure('hook-stalled', expect.stringContaining(`${hook} of middleware "stuck" waits for something that never comes`)),
    );
  });

  it('that stall beside a person who is waited for are found once the person has answered', async () => {
    const mixed = withHook('mixed', 'wrapToolCall', async (call, next, ctx) =>
      (await ctx.interrupt('Go on?')) === 'yes' ? never() : next(call),
    );
    const run = await startRun(agentUnder(mixed), twoTurns());
    const outcome = await run.outcome();
    if (outcome.status !== 'waiting') throw new Error(outcome.status);
    await run.resume(outcome.interrupts[0]?.id ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'hook-stalled' } });
  });

  it('refuse a request that is not whole', async () => {
    const partial = withHook('partial', 'wrapModel', (_, next) => next({ model: 'test/other' } as never));
    const run = await startRun(agentUnder(partial), twoTurns());
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /next without a whole request/));
  });

  it('see only the tools that they name, and parse only those before', async () => {
    const seen: Json[] = [];
    const some: AgentMiddleware = { name: 'some', onlyTools: ['add'], wrapToolCall: (call, next) => (seen.push(call.input), next(call)) };
    await (await startRun(agentUnder(some), [{ toolCalls: [echo('x'), { name: 'add', input: { a: 1 } }] }, { text: 'Done.' }])).outcome();
    expect(seen).toEqual([{ a: 1, b: 1 }]);
  });

  it('that wait for nothing let calls side by side begin in their order, however many layers each of them has', async () => {
    const through = (name: string, ...onlyTools: string[]): AgentMiddleware => ({
      name,
      onlyTools,
      wrapToolCall: (call, next) => next(call),
    });
    const run = await startRun(agentUnder(through('A', 'echo'), through('B', 'echo', 'add'), through('C', 'echo')), [
      { toolCalls: [echo('x'), { name: 'fail', input: {} }, { name: 'add', input: { a: 1 } }, echo('y')] },
      { text: 'Done.' },
    ]);
    expect((await linesOf(run)).filter((line) => line.startsWith('tool-start'))).toEqual([
      ...['tool-start echo', 'tool-start fail', 'tool-start add', 'tool-start echo'],
    ]);
  });

  it('that drop a call of next which fails leave no rejection behind', async () => {
    const dropped: Promise<unknown>[] = [];
    const dropping: AgentMiddleware = {
      name: 'dropping',
      wrapModel: async (request, next) => {
        dropped.push(next({ ...request, tools: 'none' as never }));
        return next(request);
      },
      wrapToolCall: async (call, next) => {
        dropped.push(next({ ...call, input: { text: 7 } }));
        return next(call);
      },
    };
    const stray: unknown[] = [];
    const listen = (reason: unknown): void => void stray.push(reason);
    process.on('unhandledRejection', listen);
    const run = await startRun(agentUnder(dropping), twoTurns());
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"x"})', 'tool: x', 'assistant: Done.']);
    await new Promise((done) => setImmediate(done));
    process.off('unhandledRejection', listen);
    expect(stray).toEqual([]);
    const outcomes = await Promise.allSettled(dropped);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as { code?: string }).code)).toEqual([
      ...['hook-failed', 'tool-input-invalid', 'hook-failed'],
    ]);
  });

  it('that hand on the promise of next are checked when it comes back: another call of next may not be left running', async () => {
    const eager = withHook('eager', 'wrapModel', (request, next) => {
      void next(request).catch(() => undefined);
      return next(request);
    });
    const open = gate();
    let asked = 0;
    const model = {
      generate: async () => (++asked === 1 ? open.opened.then(() => never()) : { parts: [{ type: 'text' as const, text: 'Hi.' }] }),
    };
    const run = await startRun(agentUnder(eager), model);
    expect(await run.outcome()).toMatchObject({ error: { code: 'next-left-running' } });
  });

  it('may change the arguments that they made themselves, also after they handed them on', async () => {
    const reusing = withHook('reusing', 'wrapToolCall', async (call, next) => {
      const input = { a: 1, b: 1 };
      const first = await next({ ...call, input });
      input.a = 2;
      return { first, second: await next({ ...call, input }) };
    });
    const run = await startRun(agentUnder(reusing), [{ toolCalls: [{ name: 'add', input: { a: 5, b: 5 } }] }, { text: 'Done.' }]);
    expect((await transcriptOf(run))[2]).toBe('tool: {"first":{"sum":2},"second":{"sum":3}}');
  });
});
