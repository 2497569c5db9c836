import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { LanguageModel } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { ModelFallbackOptions, ModelRetryOptions, ToolRetryOptions } from 'holdfast/middleware';
import { modelFallback, modelRetry, toolRetry } from 'holdfast/middleware';
import { z } from 'zod';
import { agentUnder, agentWith, logOf, tools, transcriptOf } from '../support/memory-bed';
import type { Json } from '../../contract/messages/messages';
import type { TestRun } from '../../testing/index';

const down: ScriptedStep = { error: 'down', retryable: true };

async function runWith(middleware: readonly AgentMiddleware[], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await testRun(agentUnder(...middleware), { input: 'Hi', model, tools });
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
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: expect.stringContaining('giveUp of agent "agent" returned number') },
    });
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
    const run = await testRun(agentUnder(modelRetry({ backoff: { first: '1s', jitter: 0 } })), { input: 'Hi', model, tools });
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
    [
      'a backoff that is none',
      { backoff: { first: 'soon' } },
      /modelRetry: backoff\.first "soon" is no duration; write for example "30s", "2h" or "3d"\./,
    ],
    ['a factor that shrinks', { backoff: { factor: 0.5 } }, /backoff\.factor must be a number from 1 to 100\. It is 0\.5\./],
    [
      'an unknown ending',
      { whenExhausted: 'stop' },
      /whenExhausted must be "fail" or \{ answer: a string that is not blank, or a function of the error \}\. It is "stop"\./,
    ],
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

describe('toolRetry', () => {
  const flaky = (failures: number, more: { effect?: 'once'; retry?: { attempts: number } } = {}) => {
    const calls: string[] = [];
    const flaky = defineTool({
      description: 'Fails at first.',
      inputSchema: z.object({}),
      ...more,
      execute: (_, call) => {
        calls.push(call.idempotencyKey);
        if (calls.length <= failures) throw new Error(`failure ${calls.length}`);
        return 'there';
      },
    } as Parameters<typeof defineTool>[0]);
    return { calls, tools: { flaky } };
  };
  const start = async (layer: AgentMiddleware, made: ReturnType<typeof flaky>) => {
    const model = scriptedModel([{ toolCalls: [{ name: 'flaky', input: {} }] }, { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: ['flaky'], middleware: [layer] }), { input: 'Hi', model, tools: made.tools });
    await run.outcome();
    return run;
  };

  it('calls a tool again, under the same key and with waits', async () => {
    const made = flaky(2);
    const run = await start(toolRetry({ backoff: { first: '10s', jitter: 0 } }), made);
    expect(made.calls).toHaveLength(1);
    await run.advance('10s');
    expect(made.calls).toHaveLength(2);
    await run.advance('20s');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await transcriptOf(run))[2]).toBe('tool: there');
    expect(new Set(made.calls).size).toBe(1);
  });

  it('lets the last error go to the model, or answers', async () => {
    const run = await start(toolRetry({ attempts: 2, backoff: { first: '1s' } }), flaky(9));
    await run.advance('1m');
    await run.outcome();
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'flaky' failed: failure 2");
    const answered = await start(
      toolRetry({ attempts: 1, whenExhausted: { answer: (problem, call) => `${call.name}: ${problem.code}` } }),
      flaky(9),
    );
    expect((await transcriptOf(answered))[2]).toBe('tool: flaky: tool-failed');
  });

  it('calls no tool again whose effect is once, or that has a retry of its own', async () => {
    const once = flaky(9, { effect: 'once' });
    await start(toolRetry({ backoff: { first: '1s' } }), once);
    expect(once.calls).toHaveLength(1);
    const own = flaky(9, { retry: { attempts: 2 } });
    const run = await start(toolRetry({ backoff: { first: '1s' } }), own);
    expect((await run.outcome()).status).toBe('completed');
    expect(own.calls).toHaveLength(2);
  });

  it('does not call again what would fail again', async () => {
    const made = flaky(0);
    const model = scriptedModel([{ toolCalls: [{ name: 'flaky', input: 3 }] }, { text: 'Done.' }]);
    const run = await testRun(agentWith({ tools: ['flaky'], middleware: [toolRetry()] }), { input: 'Hi', model, tools: made.tools });
    expect((await run.outcome()).status).toBe('completed');
    expect((await transcriptOf(run))[2]).toMatch(/^tool: error The arguments of 'flaky' do not fit/);
  });

  it('goes on behind a continue-as-new where it was', async () => {
    const made = flaky(1);
    const run = await start(toolRetry({ backoff: { first: '1h', jitter: 0 } }), made);
    const moving = run.goOnAsNew();
    await run.advance('1h');
    await moving;
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(made.calls).toHaveLength(2);
  });

  it.each<[string, unknown, RegExp]>([
    ['no attempt', { attempts: 0 }, /toolRetry: attempts must be a whole number from 1 to 100, the first call included\. It is 0\./],
    ['no tools', { tools: [] }, /tools must be an array of at least one name, each once\. It is \[\]\./],
    [
      'an answer that is none',
      { whenExhausted: { answer: 3 } },
      /whenExhausted must be "error" or \{ answer: a string that is not blank, or a function of the error and the call \}/,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => toolRetry(options as ToolRetryOptions)).toThrow(message);
  });
});

it.each<[string, () => unknown, string]>([
  [
    'modelRetry',
    () => modelRetry({ retryOn: ['model-failed', 'model-faild'] }),
    'retryOn has the code "model-faild", which no error here has. Did you mean "model-failed"? There are model-unknown,',
  ],
  [
    'modelFallback',
    () => modelFallback({ models: ['a'], fallBackOn: ['overloaded'] }),
    'fallBackOn has the code "overloaded", which no error here has. There are model-unknown,',
  ],
  [
    'toolRetry',
    () => toolRetry({ retryOn: ['tool-faild'] }),
    'retryOn has the code "tool-faild", which no error here has. Did you mean "tool-failed"? There are tool-failed,',
  ],
  ['toolRetry', () => toolRetry({ retryOn: ['model-failed'] }), 'retryOn has the code "model-failed", which no error here has.'],
])('%s refuses a code that would never be met', (owner, make, message) => {
  expect(make).toThrow(expect.objectContaining({ code: 'agent-invalid', message: expect.stringContaining(`${owner}: ${message}`) }));
});

it('takes a code that a provider of one’s own may throw', () => {
  expect(modelRetry({ retryOn: ['request-invalid'] }).name).toBe('modelRetry');
});

const backoff = { first: '10s', jitter: 0 };
type Effect = 'none' | 'idempotent' | 'once';

function polled(results: readonly Json[], more: { readonly effect?: Effect; readonly retry?: { readonly attempts: number } } = {}) {
  const keys: string[] = [];
  const polled = defineTool({
    description: 'Says how far the job is.',
    inputSchema: z.object({}),
    ...more,
    execute: (_, { idempotencyKey }): Json => {
      keys.push(idempotencyKey);
      return results[Math.min(keys.length, results.length) - 1] ?? null;
    },
  });
  return { keys, tools: { polled } };
}

async function start(options: ToolRetryOptions, made: { readonly tools: object }): Promise<TestRun> {
  const name = Object.keys(made.tools)[0] ?? '';
  const model = scriptedModel([{ toolCalls: [{ name, input: {} }] }, { text: 'Done.' }]);
  const run = await testRun(agentWith({ tools: [name], middleware: [toolRetry({ backoff, ...options })] }), {
    input: 'Hi',
    model,
    tools: made.tools as never,
  });
  await run.outcome();
  return run;
}

const outputOf = async (run: TestRun): Promise<Json | undefined> => {
  const part = (await run.transcript()).flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-result');
  return part?.type === 'tool-result' ? part.output : undefined;
};
const isPending = (result: Json): boolean => result === 'pending';

describe('toolRetry by result', () => {
  it('calls a tool again whose result is not what was wanted, with waits, each time as a call of its own', async () => {
    const made = polled(['pending', null, 'ready']);
    const run = await start({ retryResult: (result) => (isPending(result) ? 'It is not ready.' : result === null) }, made);
    expect(made.keys).toHaveLength(1);
    await run.advance('10s');
    expect(made.keys).toHaveLength(2);
    await run.advance('20s');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await outputOf(run), made.keys.length, new Set(made.keys).size]).toEqual(['ready', 3, 3]);
    expect((await logOf(run)).filter(({ type }) => type === 'tool-end')).toHaveLength(1);
  });

  it('goes on behind a continue-as-new where it was', async () => {
    const made = polled(['pending', 'ready']);
    const run = await start({ retryResult: isPending }, made);
    const moving = run.goOnAsNew();
    await run.advance('10s');
    await moving;
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await outputOf(run), made.keys.length]).toEqual(['ready', 2]);
  });

  it('lets the last result stand when no call is left, or answers with the reason', async () => {
    const stands = await start({ attempts: 2, retryResult: isPending }, polled(['pending']));
    await stands.advance('1m');
    expect([await stands.outcome(), await outputOf(stands)]).toMatchObject([{ status: 'completed' }, 'pending']);
    const answers = await start(
      {
        attempts: 1,
        retryResult: (result) => (isPending(result) ? 'It is not ready.' : undefined),
        whenExhausted: { answer: ({ code, message }, { name }) => `${name}: ${code}: ${message}` },
      },
      polled(['pending']),
    );
    expect(await outputOf(answers)).toBe('polled: tool-failed: It is not ready.');
  });

  it('counts errors and results together', async () => {
    let calls = 0;
    const mixed = defineTool({
      description: 'Fails, then is not ready.',
      inputSchema: z.object({}),
      execute: (): string => {
        calls += 1;
        if (calls === 1) throw new Error('away');
        return calls === 2 ? 'pending' : 'ready';
      },
    });
    const run = await start({ attempts: 3, retryResult: isPending }, { tools: { mixed } });
    await run.advance('1m');
    expect([await outputOf(run), calls]).toEqual(['ready', 3]);
  });

  it.each<[string, { readonly effect?: Effect; readonly retry?: { readonly attempts: number } }]>([
    ['once', { effect: 'once' }],
    ['with a retry of its own', { retry: { attempts: 2 } }],
  ])('takes whatever a tool %s gives', async (_, more) => {
    const made = polled(['pending', 'ready'], more);
    const run = await start({ retryResult: isPending }, made);
    expect([await outputOf(run), made.keys.length]).toEqual(['pending', 1]);
  });

  it.each<[unknown, string]>([
    ['', 'retryResult of toolRetry returned ""; it returns a reason, true or nothing.'],
    [3, 'retryResult of toolRetry returned 3; it returns a reason, true or nothing.'],
  ])('fails the run for a function that returns %j', async (said, message) => {
    const run = await start({ retryResult: () => said as never }, polled(['ready']));
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ error: { code: 'hook-failed', message: expect.stringContaining(message) } });
  });

  it('refuses what is no function', () => {
    expect(() => toolRetry({ retryResult: true as never })).toThrow('toolRetry: retryResult must be a function. It is true.');
  });
});
