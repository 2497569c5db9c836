import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import type { LanguageModel } from 'holdfast/worker';
import type { AgentMiddleware, Json } from 'holdfast/workflow';
import type { ModelFallbackOptions, ModelRetryOptions, ToolRetryOptions } from 'holdfast/middleware';
import { modelFallback, modelRetry, toolRetry } from 'holdfast/middleware';
import { agentUnder, agentWith, logOf, startRun, toolOf, transcriptOf } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const down: ScriptedStep = { error: 'down', retryable: true };

async function runWith(middleware: readonly AgentMiddleware[], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await startRun(agentUnder(...middleware), model);
  await run.outcome();
  return { model, run };
}

describe('modelRetry', () => {
  it('asks the model again, with waits that grow', async () => {
    const { run, model } = await runWith([modelRetry({ attempts: 3, backoff: { first: '10s', jitter: 0 } })], down, down, {
      text: 'Done.',
    });
    await run.advance('9s');
    expect(model.requests).toHaveLength(1);
    await run.advance('2s');
    expect(model.requests).toHaveLength(2);
    await run.advance('18s');
    expect(model.requests).toHaveLength(2);
    await run.advance('3s');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await logOf(run)).filter(({ type }) => type === 'model-retry')).toHaveLength(2);
  });

  it('fails with the last error when no call is left', async () => {
    const { run } = await runWith([modelRetry({ attempts: 2, backoff: { first: '1s' } })], down, down);
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-retries-exhausted' } });
  });

  it('ends with a message when it is to', async () => {
    const { run } = await runWith(
      [modelRetry({ attempts: 2, backoff: { first: '1s' }, whenExhausted: { answer: ({ code }) => `Try again later (${code}).` } })],
      down,
      down,
    );
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Try again later (model-retries-exhausted).' });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Try again later (model-retries-exhausted).']);
  });

  it('fails with the name of the function when that gives no text', async () => {
    const answer = (() => 3) as never;
    const { run } = await runWith([modelRetry({ attempts: 1, whenExhausted: { answer } })], down);
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /giveUp of agent "agent" returned number/));
  });

  it('waits as long as the provider asks for', async () => {
    let calls = 0;
    const model: LanguageModel = {
      generate: async () => {
        calls += 1;
        if (calls > 1) return { parts: [{ type: 'text', text: 'Done.' }] };
        throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '30' } });
      },
    };
    const run = await startRun(agentUnder(modelRetry({ backoff: { first: '1s', jitter: 0 } })), model);
    await run.outcome();
    await run.advance('20s');
    expect(calls).toBe(1);
    await run.advance('11s');
    expect(await run.outcome()).toMatchObject({ text: 'Done.' });
  });

  it('leaves errors alone that are none for it', async () => {
    const final = await runWith([modelRetry()], { error: 'no' }, { text: 'Never.' });
    expect(await final.run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    const other = await runWith([modelRetry({ retryOn: ['model-context-exceeded'] })], down, { text: 'Never.' });
    expect(await other.run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
  });

  it('asks other models after its retries, and answers itself when those fail, too', async () => {
    const { run, model } = await runWith(
      [modelRetry({ attempts: 2, backoff: { first: '1s' }, whenExhausted: { answer: 'Sorry.' } }), modelFallback({ models: ['other/b'] })],
      down,
      down,
      down,
      down,
    );
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Sorry.' });
    expect(model.requests.map((request) => request.model)).toEqual(['test/model', 'test/model', 'other/b', 'other/b']);
  });

  it('does not stack with the retry of the agent', () => {
    expect(() => agentWith({ retry: { maxRetries: 1 }, middleware: [modelRetry()] })).toThrow(
      'Agent "agent": the agent itself and the middleware "modelRetry" say when another model call is made (retry); keep one of them.',
    );
    expect(() => agentUnder(modelRetry(), modelRetry({ name: 'another' }))).toThrow(/"modelRetry" and the middleware "another" say when/);
    expect(() => agentUnder({ name: 'own', retry: { maxRetries: -1 } })).toThrow(
      /retry of the middleware "own"\.maxRetries must be a whole number of at least 0\. It is -1\./,
    );
  });

  it.each<[string, unknown, RegExp]>([
    ['no attempt', { attempts: 0 }, /modelRetry: attempts must be a whole number from 1 to 100, the first call included\. It is 0\./],
    ['a backoff that is none', { backoff: { first: 'soon' } }, /modelRetry: backoff\.first "soon" is no duration/],
    ['a factor that shrinks', { backoff: { factor: 0.5 } }, /backoff\.factor must be a number from 1 to 100\. It is 0\.5\./],
    ['an unknown ending', { whenExhausted: 'stop' }, /whenExhausted must be "fail" or \{ answer: .*\. It is "stop"\./],
    ['a misspelt field', { attempt: 3 }, /there is no option "attempt"/],
  ])('refuses %s', (_, options, message) => {
    expect(() => modelRetry(options as ModelRetryOptions)).toThrow(message);
  });
});

describe('modelFallback', () => {
  it('asks one model after another, and begins with the one that answered last', async () => {
    const { model, run } = await runWith(
      [modelFallback({ models: ['other/b', 'other/c'] })],
      down,
      { toolCalls: [{ name: 'echo', input: { text: 'x' } }] },
      down,
      down,
      { text: 'Done.' },
    );
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(model.requests.map((request) => request.model)).toEqual(['test/model', 'other/b', 'other/b', 'test/model', 'other/c']);
  });

  it('fails with the last error when no model is left, also when the agent itself names one of them', async () => {
    const { model, run } = await runWith([modelFallback({ models: ['other/b', 'test/model'] })], down, { error: 'also down' });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'also down' } });
    expect(model.requests).toHaveLength(2);
  });

  it('asks no other model after errors that are none for it', async () => {
    const { model, run } = await runWith([modelFallback({ models: ['other/b'], fallBackOn: ['model-context-exceeded'] })], { error: 'no' });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: 'no' } });
    expect(model.requests).toHaveLength(1);
  });

  it.each<[string, unknown, RegExp]>([
    ['no model', { models: [] }, /modelFallback: models must be an array of at least one name, each once\. It is \[\]\./],
    ['a model twice', { models: ['a', 'a'] }, /each once/],
    ['a list alone', ['a'], /the options must be an object with name, models, fallBackOn, not \["a"\]\./],
  ])('refuses %s', (_, options, message) => {
    expect(() => modelFallback(options as ModelFallbackOptions)).toThrow(message);
  });
});

const backoff = { first: '10s', jitter: 0 };
interface Made {
  readonly effect?: 'once';
  readonly retry?: { readonly attempts: number };
}

/** A tool that gives one result after another, or throws those that are errors. */
function giving(results: readonly (Json | Error)[], more: Made = {}) {
  const keys: string[] = [];
  const job = toolOf((_, { idempotencyKey }): Json => {
    keys.push(idempotencyKey);
    const result = results[Math.min(keys.length, results.length) - 1] ?? null;
    if (result instanceof Error) throw result;
    return result;
  }, more);
  return { keys, tools: { job } };
}

async function start(options: ToolRetryOptions, { tools: made }: ReturnType<typeof giving>, input: Json = {}): Promise<TestRun> {
  const agent = agentWith({ tools: ['job'], middleware: [toolRetry({ backoff, ...options })] });
  const run = await startRun(agent, [{ toolCalls: [{ name: 'job', input }] }, { text: 'Done.' }], { tools: made });
  await run.outcome();
  return run;
}

const resultOf = async (run: TestRun): Promise<string | undefined> => {
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  return (await transcriptOf(run))[2];
};
const away = new Error('away');
const isPending = (result: Json): boolean => result === 'pending';
const ofOwn: readonly [string, Made, number][] = [
  ['once', { effect: 'once' }, 1],
  ['with a retry of its own', { retry: { attempts: 2 } }, 2],
];

describe('toolRetry', () => {
  it('calls a tool again, under the same key and with waits', async () => {
    const made = giving([away, away, 'there']);
    const run = await start({}, made);
    expect(made.keys).toHaveLength(1);
    await run.advance('10s');
    expect(made.keys).toHaveLength(2);
    await run.advance('20s');
    expect(await resultOf(run)).toBe('tool: there');
    expect([made.keys.length, new Set(made.keys).size]).toEqual([3, 1]);
  });

  it('lets the last error go to the model, or answers', async () => {
    const run = await start({ attempts: 2 }, giving([away, new Error('still away')]));
    await run.advance('1m');
    expect(await resultOf(run)).toBe("tool: error The tool 'job' failed: still away");
    const answer = ({ code }: { readonly code: string }, { name }: { readonly name: string }): string => `${name}: ${code}`;
    expect(await resultOf(await start({ attempts: 1, whenExhausted: { answer } }, giving([away])))).toBe('tool: job: tool-failed');
  });

  it.each(ofOwn)('calls no tool again that is %s', async (_, more, calls) => {
    const made = giving([away], more);
    await resultOf(await start({}, made));
    expect(made.keys).toHaveLength(calls);
  });

  it('does not call again what would fail again', async () => {
    expect(await resultOf(await start({}, giving(['there']), 3))).toMatch(/^tool: error The arguments of 'job' do not fit/);
  });

  it.each<[string, ToolRetryOptions, Json | Error]>([
    ['an error', {}, away],
    ['a result', { retryResult: isPending }, 'pending'],
  ])('goes on behind a continue-as-new where it was, after %s', async (_, options, first) => {
    const made = giving([first, 'ready']);
    const run = await start(options, made);
    const moving = run.goOnAsNew();
    await run.advance('10s');
    await moving;
    expect([await resultOf(run), made.keys.length]).toEqual(['tool: ready', 2]);
  });

  it.each<[string, unknown, RegExp]>([
    ['no attempt', { attempts: 0 }, /toolRetry: attempts must be a whole number from 1 to 100, the first call included\. It is 0\./],
    ['no tools', { tools: [] }, /tools must be an array of at least one name, each once\. It is \[\]\./],
    ['an answer that is none', { whenExhausted: { answer: 3 } }, /whenExhausted must be "error" or \{ answer: /],
  ])('refuses %s', (_, options, message) => {
    expect(() => toolRetry(options as ToolRetryOptions)).toThrow(message);
  });
});

it.each<[string, () => unknown, string]>([
  ['modelRetry', () => modelRetry({ retryOn: ['model-failed', 'model-faild'] }), 'retryOn has the code "model-faild", which no'],
  ['modelFallback', () => modelFallback({ models: ['a'], fallBackOn: ['overloaded'] }), 'fallBackOn has the code "overloaded", which no'],
  [
    'toolRetry',
    () => toolRetry({ retryOn: ['tool-faild'] }),
    'retryOn has the code "tool-faild", which no error here has. Did you mean "tool-failed"?',
  ],
  ['toolRetry', () => toolRetry({ retryOn: ['model-failed'] }), 'retryOn has the code "model-failed", which no error here has.'],
])('%s refuses a code that would never be met', (owner, make, message) => {
  expect(make).toThrow(expect.objectContaining({ code: 'agent-invalid', message: expect.stringContaining(`${owner}: ${message}`) }));
});

it('takes a code that a provider of one’s own may throw', () => {
  expect(modelRetry({ retryOn: ['request-invalid'] }).name).toBe('modelRetry');
});

describe('toolRetry by result', () => {
  it('calls a tool again whose result is not what was wanted, with waits, each time as a call of its own', async () => {
    const made = giving(['pending', null, 'ready']);
    const run = await start({ retryResult: (result) => (isPending(result) ? 'It is not ready.' : result === null) }, made);
    expect(made.keys).toHaveLength(1);
    await run.advance('10s');
    expect(made.keys).toHaveLength(2);
    await run.advance('20s');
    expect([await resultOf(run), made.keys.length, new Set(made.keys).size]).toEqual(['tool: ready', 3, 3]);
    expect((await logOf(run)).filter(({ type }) => type === 'tool-end')).toHaveLength(1);
  });

  it('lets the last result stand when no call is left, or answers with the reason', async () => {
    const stands = await start({ attempts: 2, retryResult: isPending }, giving(['pending']));
    await stands.advance('1m');
    expect(await resultOf(stands)).toBe('tool: pending');
    const options: ToolRetryOptions = {
      attempts: 1,
      retryResult: (result) => (isPending(result) ? 'It is not ready.' : undefined),
      whenExhausted: { answer: ({ code, message }, { name }) => `${name}: ${code}: ${message}` },
    };
    expect(await resultOf(await start(options, giving(['pending'])))).toBe('tool: job: tool-failed: It is not ready.');
  });

  it('counts errors and results together', async () => {
    const made = giving([away, 'pending', 'ready']);
    const run = await start({ attempts: 3, retryResult: isPending }, made);
    await run.advance('1m');
    expect([await resultOf(run), made.keys.length]).toEqual(['tool: ready', 3]);
  });

  it.each(ofOwn)('takes whatever a tool gives that is %s', async (_, more) => {
    const made = giving(['pending', 'ready'], more);
    expect([await resultOf(await start({ retryResult: isPending }, made)), made.keys.length]).toEqual(['tool: pending', 1]);
  });

  it.each<[unknown, string]>([
    ['', 'retryResult of toolRetry returned ""; it returns a reason, true or nothing.'],
    [3, 'retryResult of toolRetry returned 3; it returns a reason, true or nothing.'],
  ])('fails the run for a function that returns %j', async (said, message) => {
    const run = await start({ retryResult: () => said as never }, giving(['ready']));
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ error: { code: 'hook-failed', message: expect.stringContaining(message) } });
  });

  it('refuses what is no function', () => {
    expect(() => toolRetry({ retryResult: true as never })).toThrow('toolRetry: retryResult must be a function. It is true.');
  });
});
