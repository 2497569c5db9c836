import type { AgentMiddleware, FailoverOptions, RetryDecision, RetryOptions } from 'holdfast/workflow';
import { HoldfastError, defineAgent, textOf } from 'holdfast/workflow';
import { failedResult } from '../../../activities/failures';
import type { RunEvent } from '../../../contract/events';
import { limits } from '../../../contract/limits';
import type { TestRun } from '../../../testing/index';
import { user } from '../../support/compaction-bed';
import { agentWith, answerAnew, fails, linesOf, logOf, startRun, transcriptOf, withHook } from '../../support/memory-bed';
import { broken, modelsSaying, sayingModel } from '../../support/streaming-model';
import { errorOf } from '../../support/failures';

const anHour = '1h';
const always = (maxRetries: number, more: Partial<RetryOptions> = {}): RetryOptions => ({ maxRetries, ...more });
const deciding = (decide: () => unknown, maxRetries = 1): RetryOptions => ({ maxRetries, shouldRetry: decide as () => RetryDecision });

const onError = (decision: object, maxRetries = 1): RetryOptions => ({
  maxRetries,
  shouldRetry: ({ error }) => (error === undefined ? undefined : { retry: true, ...decision }),
});

/** A run with an hour of waits behind it. */
async function played(agent: Parameters<typeof agentWith>[0], model: Parameters<typeof startRun>[1]): Promise<TestRun> {
  const run = await startRun(agentWith(agent), model);
  await run.advance(anHour);
  return run;
}

async function failureOf(run: TestRun): Promise<unknown> {
  await run.advance(anHour);
  const outcome = await run.outcome();
  return 'error' in outcome ? outcome.error : outcome;
}

const timesOf = (events: readonly RunEvent[], type: RunEvent['type']): readonly number[] =>
  events.flatMap((event) => (event.type === type ? [event.time] : []));

describe('the retry of an agent', () => {
  it('runs the wraps of every attempt and the state hooks once', async () => {
    const seen: string[] = [];
    const counting: AgentMiddleware = {
      name: 'counting',
      beforeModelRewriteState: () => void seen.push('before'),
      wrapModel: (request, next) => (seen.push('wrap'), next(request)),
      afterModelRewriteState: () => void seen.push('after'),
    };
    await played({ middleware: [counting], retry: always(2) }, sayingModel([broken()], [broken()], ['Good.']));
    expect(seen).toEqual(['before', 'wrap', 'wrap', 'wrap', 'after']);
  });

  it('makes a call again whose wrap threw', async () => {
    let calls = 0;
    const moody = withHook('moody', 'wrapModel', (request, next) => {
      if (calls++ === 0) throw new Error('not today');
      return next(request);
    });
    const run = await played({ middleware: [moody], retry: always(1) }, sayingModel(['Good.']));
    expect(await run.result()).toBe('Good.');
    expect((await logOf(run)).find(({ type }) => type === 'model-retry')).toMatchObject({
      error: { code: 'hook-failed', message: 'wrapModel of middleware "moody" failed: not today' },
    });
  });

  it('tells readers of each answer that it rejects, also of the last one', async () => {
    const agent = agentWith({ retry: deciding(() => ({ retry: true, rejectReason: 'too short' }), 2) });
    const run = await startRun(agent, sayingModel(['One.'], ['Two.'], ['Three.']), { stream: true });
    expect(await failureOf(run)).toMatchObject({ code: 'model-retries-exhausted' });
    const retries = (await logOf(run)).filter((event) => event.type === 'model-retry');
    expect(retries).toMatchObject([{ attempt: 0 }, { attempt: 1 }, { attempt: 2, last: true, rejectReason: 'too short' }]);
    expect(retries.filter((event) => 'last' in event)).toHaveLength(1);
  });

  it('counts the tokens of rejected answers', async () => {
    const answers = ['Bad.', 'Good.'];
    const model = {
      generate: async () => ({
        parts: [{ type: 'text' as const, text: answers.shift() ?? '' }],
        usage: { inputTokens: 1, outputTokens: 2 },
      }),
    };
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: ({ output }) => ({ retry: output !== undefined && textOf(output) === 'Bad.' }),
    };
    const run = await played({ retry }, model);
    expect(await run.usage()).toEqual({ inputTokens: 2, outputTokens: 4 });
  });

  it('waits twice as long each time, up to ten seconds, and up to half of it more', async () => {
    const run = await played({ retry: always(9) }, sayingModel(...Array.from({ length: 10 }, () => [broken()])));
    const events = await logOf(run);
    const starts = timesOf(events, 'model-start').slice(1);
    const waits = timesOf(events, 'model-retry').map((time, position) => (starts[position] ?? 0) - time);
    const least = [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000];
    waits.forEach((wait, position) => {
      expect(wait).toBeGreaterThanOrEqual(least[position] ?? 0);
      expect(wait).toBeLessThan((least[position] ?? 0) * 1.5);
    });
    expect(new Set(waits.map((wait, position) => wait / (least[position] ?? 1))).size).toBe(9);
  });

  it('waits as long as a decision says, else as backoff says, else at least as long as the provider asks for', async () => {
    const waitOf = async (retry: RetryOptions, error: Error): Promise<number> => {
      const run = await played({ retry }, sayingModel([error], ['Good.']));
      const events = await logOf(run);
      return (timesOf(events, 'model-start')[1] ?? 0) - (timesOf(events, 'model-retry')[0] ?? 0);
    };
    const backoff = (): number => 500;
    const shouldRetry: RetryOptions['shouldRetry'] = ({ error }) => (error === undefined ? undefined : { retry: true, backoffMs: 700 });
    const busy = Object.assign(broken(), { statusCode: 429, responseHeaders: { 'retry-after': '7' } });
    expect(await waitOf({ maxRetries: 1, shouldRetry, backoff }, broken())).toBe(700);
    expect(await waitOf({ maxRetries: 1, backoff }, broken())).toBe(500);
    expect(await waitOf({ maxRetries: 1 }, busy)).toBe(7000);
    expect(await waitOf({ maxRetries: 1, backoff }, busy)).toBe(500);
  });

  it('leaves to the server what a worker lacks, and asks nobody about it', async () => {
    const asked: unknown[] = [];
    const model = {
      model: () => {
        throw new HoldfastError('model-key-missing', 'The variable KEY is not set.');
      },
    };
    const run = await startRun(agentWith({ retry: always(3, { shouldRetry: (attempt) => void asked.push(attempt) }) }), model);
    expect(await failureOf(run)).toMatchObject({ code: 'model-key-missing' });
    expect(asked).toEqual([]);
  });

  it('says to isRetryable what the worker thinks of the error', async () => {
    const asked: unknown[] = [];
    const isRetryable: RetryOptions['isRetryable'] = (error) => asked.push(error) > 0 && error.retryable === true;
    const run = await startRun(agentWith({ retry: always(3, { isRetryable }) }), sayingModel([broken('busy')], [broken('wrong', false)]));
    expect(await failureOf(run)).toEqual({ code: 'model-failed', message: 'wrong' });
    expect(asked).toMatchObject([
      { message: 'busy', retryable: true },
      { message: 'wrong', retryable: false },
    ]);
  });

  it('does not ask isRetryable beside shouldRetry', async () => {
    const isRetryable = fails('asked');
    const run = await startRun(agentWith({ retry: { ...deciding(() => undefined), isRetryable } }), sayingModel([broken('no')]));
    expect(await failureOf(run)).toMatchObject({ message: 'no' });
  });

  it('never makes a call again in which nobody answered an interrupt', async () => {
    const asking = withHook('asking', 'wrapModel', async (request, next, ctx) => {
      await ctx.interrupt('Go?', { deadline: '1m' });
      return next(request);
    });
    const run = await startRun(agentWith({ middleware: [asking], retry: always(5) }), sayingModel(['Good.']));
    expect(await failureOf(run)).toMatchObject({ code: 'interrupt-expired' });
    expect((await linesOf(run)).filter((line) => line === 'interrupt-start')).toHaveLength(1);
  });

  it.each([
    ['a promise', Promise.resolve({ retry: true }), /returned no decision/],
    ['something else', { again: true }, /returned no decision/],
    ['a wait that is none', { retry: true, backoffMs: -1 }, /backoffMs of shouldRetry of agent "agent" is -1/],
    ['an endless wait', { retry: true, backoffMs: Infinity }, /from 0 to a year/],
    ['settings that are none', { retry: true, additionalSettings: [] }, /additionalSettings that are none/],
    ['messages that are none', { retry: true, modifiedInput: ['Hi'] }, /modifiedInput of shouldRetry .*, message 0 is no message/],
    ['a reason that is no JSON', { retry: true, rejectReason: new Date() }, /rejectReason .* is not JSON/],
    ['a reason that is too long', { retry: true, rejectReason: 'x'.repeat(limits.progress) }, /rejectReason .* bytes/],
  ])('ends the run when shouldRetry returns %s', async (_, decision, message) => {
    const run = await startRun(agentWith({ retry: deciding(() => decision) }), sayingModel(['Good.']));
    expect(await failureOf(run)).toMatchObject({ message: expect.stringMatching(message) as string });
  });

  it('gives a modified message one id, in every later call and in the transcript', async () => {
    let decisions = 0;
    const retry: RetryOptions = {
      maxRetries: 2,
      shouldRetry: ({ input, error }) => {
        if (error === undefined) return undefined;
        decisions += 1;
        if (decisions > 1) return { retry: true };
        return { retry: true, modifiedInput: [...input, user('Be short.')], persistModifiedInput: true };
      },
    };
    const model = sayingModel([broken()], [broken()], ['Good.']);
    const run = await played({ retry }, model);
    const ids = model.asked.map(({ messages }) => messages[1]?.id);
    expect(ids).toEqual([undefined, expect.any(String) as string, ids[1]]);
    expect((await run.transcript()).map(({ id }) => id).slice(0, 2)).toEqual(['input.0', ids[1]]);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'user: Be short.', 'assistant: Good.']);
  });

  it('lets shouldRetry shorten a request that does not fit', async () => {
    const long = user('x'.repeat(400_000));
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: ({ input, error }) =>
        error?.code === 'payload-too-large' ? { retry: true, modifiedInput: input.slice(0, 1), persistModifiedInput: true } : undefined,
    };
    const growing = withHook('growing', 'beforeModelRewriteState', ({ messages }) => ({ messages: [...messages, long, long, long] }));
    const model = sayingModel(['Good.']);
    const run = await played({ middleware: [growing], retry }, model);
    expect(await run.result()).toBe('Good.');
    expect(model.asked.map(({ instructions, messages }) => [instructions, messages.map(textOf)])).toEqual([['Be a test.', ['Hi']]]);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Good.']);
  });

  it('lets the model correct an answer, which keeps its id', async () => {
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: ({ input, output }) =>
        output === undefined || textOf(output) !== 'Bad.' ? undefined : { retry: true, modifiedInput: [...input, output, user('Again.')] },
    };
    const model = sayingModel(['Bad.'], ['Good.']);
    const run = await played({ retry }, model);
    expect(model.asked[1]?.messages.map(textOf)).toEqual(['Hi', 'Bad.', 'Again.']);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Good.']);
  });

  it('does not count for ctx.model, whose calls the server makes again', async () => {
    const asking = withHook('asking', 'beforeModelRewriteState', async (_, ctx) => {
      await ctx.model('other', { messages: [user('Psst.')] });
    });
    const model = modelsSaying((name) => (name === 'other' ? [[broken()], ['Yes.']] : [['Good.']]));
    const run = await startRun(agentWith({ middleware: [asking], retry: always(0) }), model);
    expect(await run.result()).toBe('Good.');
    expect(await linesOf(run)).not.toContain('model-retry');
  });
});

describe('a retry and a continue-as-new', () => {
  it('may lie in the backoff, which goes on to the moment that it had', async () => {
    let decisions = 0;
    const shouldRetry: RetryOptions['shouldRetry'] = ({ error }) => {
      decisions += 1;
      return error === undefined ? undefined : { retry: true, backoffMs: 60_000 };
    };
    const model = sayingModel([broken()], [broken()], ['Good.']);
    const run = await startRun(agentWith({ retry: { maxRetries: 3, shouldRetry } }), model);
    await run.advance('59s');
    await run.goOnAsNew();
    expect(model.asked).toHaveLength(1);
    await run.advance('2s');
    expect(model.asked).toHaveLength(2);
    await run.goOnAsNew();
    await run.advance('1m');
    expect(await run.result()).toBe('Good.');
    expect(decisions).toBe(3);
    expect(model.asked).toHaveLength(3);
    expect(await linesOf(run)).toEqual([
      ...['run-start', 'model-start', 'model-retry', 'model-start', 'model-retry', 'model-start', 'model-end', 'run-end'],
    ]);
  });

  it('keeps settings, changed input and the number of calls', async () => {
    const short = { modifiedInput: [user('Short.')], persistModifiedInput: true };
    const retry = onError({ backoffMs: 1000, additionalSettings: { temperature: 0 }, ...short });
    const model = sayingModel([broken()], [broken('again')]);
    const run = await startRun(agentWith({ retry }), model);
    await run.goOnAsNew();
    expect(await failureOf(run)).toMatchObject({ code: 'model-retries-exhausted', message: expect.stringContaining('again') as string });
    expect(model.asked[1]).toMatchObject({ settings: { temperature: 0 } });
    expect(model.asked[1]?.messages.map(textOf)).toEqual(['Short.']);
  });

  it('keeps persisted input when it lies behind the answer', async () => {
    const pausing: AgentMiddleware = { name: 'pausing', afterModelRewriteState: async (_, ctx) => void (await ctx.interrupt('Go on?')) };
    const retry = onError({ modifiedInput: [user('Short.')], persistModifiedInput: true });
    const run = await played({ middleware: [pausing], retry }, sayingModel([broken()], ['Good.']));
    await answerAnew(run);
    await run.outcome();
    expect(await transcriptOf(run)).toEqual(['user: Short.', 'assistant: Good.']);
  });

  it('enters the attempt again whose wrap waits, and no earlier one', async () => {
    let entered = 0;
    const asking = withHook('asking', 'wrapModel', async (request, next, ctx) => {
      entered += 1;
      const response = await next(request);
      await ctx.interrupt('Keep it?');
      return response;
    });
    const model = sayingModel([broken()], ['Good.']);
    const run = await played({ middleware: [asking], retry: always(1) }, model);
    await answerAnew(run);
    expect(await run.result()).toBe('Good.');
    expect([entered, model.asked.length]).toEqual([3, 2]);
  });

  it('keeps half an answer for the decision when a wrap waits behind the error', async () => {
    const asked: unknown[] = [];
    const explaining = withHook('explaining', 'wrapModel', async (request, next, ctx) => {
      try {
        return await next(request);
      } catch (error) {
        await ctx.interrupt('It failed.');
        throw error;
      }
    });
    const retry = always(1, { shouldRetry: ({ output, error }) => void asked.push([output && textOf(output), error?.retryable]) });
    const run = await startRun(agentWith({ middleware: [explaining], retry }), sayingModel(['Half', broken()]));
    await answerAnew(run);
    await run.outcome();
    expect(asked).toEqual([['Half', true]]);
  });
});

describe('the failover of an agent', () => {
  const failover: FailoverOptions = {
    maxRetries: 2,
    shouldFailover: () => true,
    getFailoverModel: ({ attempt }) => ({ model: `m${attempt + 1}` }),
  };
  const toolCall = { tool: 'echo', input: { text: 'x' } };

  it('begins the next call with the model that answered last, also after a continue-as-new', async () => {
    const pausing: AgentMiddleware = { name: 'pausing', afterToolCalls: async (_, ctx) => void (await ctx.interrupt('Go on?')) };
    const model = modelsSaying((name) => (name === 'm2' ? [[toolCall], [broken()]] : name === 'm3' ? [] : [[broken()], ['Back.']]));
    const getFailoverModel: FailoverOptions['getFailoverModel'] = ({ attempt, lastError }) => ({
      model: attempt === 1 && lastError.message !== 'first' && model.asked.length > 2 ? 'test/model' : 'm2',
    });
    const run = await startRun(agentWith({ middleware: [pausing], failover: { ...failover, getFailoverModel } }), model);
    await answerAnew(run);
    expect(await run.result()).toBe('Back.');
    expect(model.names).toEqual(['test/model', 'm2', 'm2', 'test/model']);
  });

  it('asks for so many models, then fails with the last error', async () => {
    const model = modelsSaying((name) => [[broken(`${name} is down`)]]);
    const run = await startRun(agentWith({ failover }), model);
    expect(await failureOf(run)).toEqual({ code: 'model-failed', message: 'm3 is down' });
    expect(model.names).toEqual(['test/model', 'm2', 'm3']);
  });

  it('asks the next model what the choice says, else what the first one was asked', async () => {
    const model = modelsSaying((name) => (name === 'm3' ? [['Good.']] : [[broken()]]));
    const getFailoverModel: FailoverOptions['getFailoverModel'] = ({ attempt }) =>
      attempt === 1 ? { model: 'm2', input: [user('Short.')] } : { model: 'm3' };
    const run = await startRun(agentWith({ failover: { ...failover, getFailoverModel } }), model);
    await run.outcome();
    expect(model.asked.map(({ messages }) => messages.map(textOf))).toEqual([['Hi'], ['Short.'], ['Hi']]);
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Good.']);
  });

  it('ends with the error when shouldFailover says no', async () => {
    const model = sayingModel([broken('no')]);
    const run = await startRun(agentWith({ failover: { ...failover, shouldFailover: () => false } }), model);
    expect(await failureOf(run)).toEqual({ code: 'model-failed', message: 'no' });
    expect(model.asked).toHaveLength(1);
  });

  it('refuses a shouldFailover that does not decide at once', async () => {
    const shouldFailover = (async () => false) as unknown as FailoverOptions['shouldFailover'];
    const run = await startRun(agentWith({ failover: { ...failover, shouldFailover } }), sayingModel([broken()]));
    expect(await failureOf(run)).toMatchObject({ code: 'hook-failed', message: expect.stringContaining('shouldFailover') as string });
  });

  it('asks for another model when the worker lacks something for this one', async () => {
    const model = {
      model: (name: string) => {
        if (name !== 'm2') throw new HoldfastError('model-key-missing', 'The variable KEY is not set.');
        return { generate: async () => ({ parts: [{ type: 'text' as const, text: 'Good.' }] }) };
      },
    };
    const run = await startRun(agentWith({ retry: always(2), failover }), model);
    expect(await run.result()).toBe('Good.');
  });
});

describe('defineAgent', () => {
  const define = (options: object) => () =>
    defineAgent({ name: 'agent', description: '', instructions: '', model: 'm', tools: [], ...options });

  it.each([
    [{ retry: 3 }, 'retry must be an object with maxRetries, shouldRetry, isRetryable, backoff, giveUp. It is 3.'],
    [{ retry: {} }, 'retry.maxRetries must be a whole number of at least 0. It is missing.'],
    [{ retry: { maxRetries: -1 } }, 'retry.maxRetries must be a whole number of at least 0. It is -1.'],
    [{ retry: { maxRetries: 1, backoff: 100 } }, 'retry.backoff must be a function. It is 100.'],
    [{ retry: { maxRetries: 1, shouldretry: () => true } }, 'there is no option "retry.shouldretry"; did you mean shouldRetry?'],
    [{ failover: { maxRetries: 1, shouldFailover: () => true } }, 'failover.getFailoverModel must be a function. It is missing.'],
    [{ failover: { maxRetries: 1, getFailoverModel: () => ({ model: 'm' }) } }, 'failover.shouldFailover must be a function. It is'],
  ])('refuses %j', (options, problem) => {
    expect(define(options)).toThrow(errorOf('agent-invalid', expect.stringContaining(problem)));
  });
});

describe('a model call that failed', () => {
  const verdict = { kind: 'network', code: 'model-failed', retryable: true, retryAfterMs: 5, message: 'gone' } as const;
  const said = { role: 'assistant', parts: [{ type: 'text', text: 'Half' }] } as const;
  const half = { said };

  it('is left to the server, unless the run makes it again itself', () => {
    expect(failedResult(verdict, null, half)).toBeUndefined();
    expect(failedResult({ ...verdict, retryable: false }, undefined, half)).toEqual({ failed: { code: 'model-failed', message: 'gone' } });
    const failed = { code: 'model-failed', message: 'gone', retryable: true, retryAfterMs: 5 };
    expect(failedResult(verdict, 'kernel', half)).toEqual({ failed });
    expect(failedResult({ ...verdict, code: 'model-key-missing' }, 'kernel', half)).toBeUndefined();
  });

  it('comes back with half an answer only when that was asked for, and fits', () => {
    expect(failedResult(verdict, 'kernel-partial', half)).toMatchObject({ partial: said });
    expect(failedResult(verdict, 'kernel-partial', { said: { role: 'assistant', parts: [] } })).not.toHaveProperty('partial');
    const long = { role: 'assistant', parts: [{ type: 'text', text: 'x'.repeat(limits.message) }] } as const;
    expect(failedResult(verdict, 'kernel-partial', { said: long })).not.toHaveProperty('partial');
  });

  it('comes back with what it has taken, where that is known and the call comes back at all', () => {
    const usage = { inputTokens: 5, outputTokens: 2 };
    expect(failedResult(verdict, 'kernel', { said, usage })).toMatchObject({ usage });
    expect(failedResult({ ...verdict, retryable: false }, undefined, { said, usage })).toMatchObject({ usage });
    expect(failedResult(verdict, undefined, { said, usage })).toBeUndefined();
  });
});
