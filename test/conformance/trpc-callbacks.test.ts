import { agentCallbacks, detachedInvocation, getStateValue, modelCallbacks, toolCallbacks } from 'holdfast/workflow';
import type { Json, Message, ModelRequestDraft, ModelResponseDraft } from 'holdfast/workflow';

/** The chain of callbacks, by hand. Errors are thrown, contexts are `values`. */

const request: ModelRequestDraft = { instructions: '', messages: [], tools: [], model: 'test/model' };
const call = (input: Json = {}): { toolCallId: string; toolName: string; arguments: Json } => ({
  toolCallId: 'call-1',
  toolName: 'echo',
  arguments: input,
});
const answer = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });

/** Callbacks that note that they ran, and then do what they are told. */
function steps<Result>(...results: readonly (Result | Error | undefined)[]): {
  readonly ran: number[];
  readonly callbacks: readonly (() => Result | undefined)[];
} {
  const ran: number[] = [];
  const callbacks = results.map((result, index) => (): Result | undefined => {
    ran.push(index + 1);
    if (result instanceof Error) throw result;
    return result;
  });
  return { ran, callbacks };
}

async function beforeModel(options: Parameters<typeof modelCallbacks>[0], ...results: readonly (string | Error | undefined)[]) {
  const set = modelCallbacks(options);
  const { ran, callbacks } = steps(...results.map((result) => (typeof result === 'string' ? { customResponse: result } : result)));
  for (const callback of callbacks) set.registerBefore(callback);
  const { result, error } = await set.runBefore({ request });
  return { ran, response: result?.customResponse, error: error?.message };
}

describe('model', () => {
  it('[trpc 1] a callback that says nothing leaves no result and no error', async () => {
    expect(
      await modelCallbacks()
        .registerBefore(() => undefined)
        .runBefore({ request }),
    ).toEqual({});
  });

  it('[trpc 2] the first custom response is returned, and the next callback is not run', async () => {
    expect(await beforeModel({}, 'first', 'second')).toEqual({ ran: [1], response: 'first', error: undefined });
  });

  it('[trpc 3] an error stops the chain', async () => {
    expect(await beforeModel({}, new Error('error 1'), 'second')).toEqual({ ran: [1], response: undefined, error: 'error 1' });
  });

  it('[trpc 4] continueOnError runs all, and returns the first error', async () => {
    expect(await beforeModel({ continueOnError: true }, new Error('error 1'), new Error('error 2'), undefined)).toEqual({
      ran: [1, 2, 3],
      response: undefined,
      error: 'error 1',
    });
  });

  it('[trpc 6] both options run all, and return the first error and the response', async () => {
    const both = { continueOnError: true, continueOnResponse: true };
    expect(await beforeModel(both, new Error('error 1'), 'response 2', undefined)).toEqual({
      ran: [1, 2, 3],
      response: 'response 2',
      error: 'error 1',
    });
  });

  it('[trpc 7] a response behind an error is returned with it', async () => {
    expect(await beforeModel({ continueOnError: true }, new Error('error 1'), 'custom')).toMatchObject({
      response: 'custom',
      error: 'error 1',
    });
  });

  it('[trpc 8] a response behind an error stops the chain without continueOnResponse', async () => {
    expect(await beforeModel({ continueOnError: true }, new Error('error 1'), 'custom', undefined)).toEqual({
      ran: [1, 2],
      response: 'custom',
      error: 'error 1',
    });
  });

  it('[trpc 9] an error behind a response stops the chain without continueOnError', async () => {
    expect(await beforeModel({ continueOnResponse: true }, 'response 1', new Error('error 2'), undefined)).toEqual({
      ran: [1, 2],
      response: undefined,
      error: 'error 2',
    });
  });

  it('[trpc 11] a panic becomes an error with the phase and the value', async () => {
    const panics = (): never => {
      throw 'boom';
    };
    const set = modelCallbacks().registerBefore(panics).registerAfter(panics);
    expect((await set.runBefore({ request })).error?.message).toBe('before model callback panic: boom');
    expect((await set.runAfter({ request })).error?.message).toBe('after model callback panic: boom');
  });

  it('[trpc 12] an empty result is none, and nothing lets the next callback answer', async () => {
    const empty = modelCallbacks()
      .registerBefore(() => ({}))
      .registerAfter(() => ({}));
    expect(await empty.runBefore({ request })).toEqual({});
    expect(await empty.runAfter({ request })).toEqual({});
    const second = modelCallbacks()
      .registerBefore(() => null)
      .registerBefore(() => ({ customResponse: 'second' }))
      .registerAfter(() => null)
      .registerAfter(() => ({ customResponse: 'second' }));
    expect((await second.runBefore({ request })).result?.customResponse).toBe('second');
    expect((await second.runAfter({ request })).result?.customResponse).toBe('second');
  });

  it('[trpc 13] values of a before callback reach the after callback', async () => {
    const seen: unknown[] = [];
    const model = modelCallbacks()
      .registerBefore(() => ({ values: { key: 'model' } }))
      .registerAfter(({ values }) => void seen.push(values['key']));
    const tool = toolCallbacks()
      .registerBefore(() => ({ values: { key: 'tool' } }))
      .registerAfter(({ values }) => void seen.push(values['key']));
    await model.runAfter({ request, values: (await model.runBefore({ request })).result?.values ?? {} });
    await tool.runAfter({ ...call(), values: (await tool.runBefore(call())).result?.values ?? {} });
    expect(seen).toEqual(['model', 'tool']);
  });

  it('[trpc 14] a clone has the callbacks and options, and lists of its own', async () => {
    const options = { continueOnError: true };
    for (const make of [modelCallbacks, toolCallbacks, agentCallbacks]) {
      const ran: string[] = [];
      const set = make(options);
      const note = (name: string) => (): never => {
        ran.push(name);
        throw new Error(name);
      };
      set.registerBefore(note('first'));
      const clone = set.clone();
      clone.registerBefore(note('second'));
      const args = { request, ...call() };
      expect((await set.runBefore(args)).error?.message).toBe('first');
      expect(ran).toEqual(['first']);
      expect((await clone.runBefore(args)).error?.message).toBe('first');
      expect(ran).toEqual(['first', 'first', 'second']);
    }
  });
});

describe('tool', () => {
  const result = { customResult: 'custom' };
  const withError = { ...result, error: new Error('error') };

  it('[trpc 16] arguments that are assigned are seen, and the result stays none', async () => {
    const args = call({ x: 1 });
    const outcome = await toolCallbacks()
      .registerBefore((given) => void (given.arguments = { x: 2 }))
      .runBefore(args);
    expect(args.arguments).toEqual({ x: 2 });
    expect(outcome).toEqual({});
  });

  it('[trpc 17] before: a custom result beside an error is kept', async () => {
    const outcome = await toolCallbacks()
      .registerBefore(() => withError)
      .runBefore(call());
    expect(outcome.result?.customResult).toBe('custom');
    expect(outcome.error?.message).toBe('error');
  });

  it('[trpc 18] after: without callbacks the result of the tool is the custom one', async () => {
    expect((await toolCallbacks().runAfter({ ...call(), result: 'x' })).result?.customResult).toBe('x');
  });

  it('[trpc 19] after: a custom result beside an error is kept', async () => {
    const outcome = await toolCallbacks()
      .registerAfter(() => withError)
      .runAfter({ ...call(), result: 'x' });
    expect(outcome.result?.customResult).toBe('custom');
    expect(outcome.error?.message).toBe('error');
  });

  it('[trpc 21] skipSummarization of a later callback is kept with the custom result of an earlier one', async () => {
    const outcome = await toolCallbacks({ continueOnResponse: true })
      .registerAfter(() => result)
      .registerAfter(() => ({ skipSummarization: true }))
      .registerAfter(() => ({ skipSummarization: false }))
      .runAfter({ ...call(), result: 'x' });
    expect(outcome.result).toEqual({ customResult: 'custom', skipSummarization: true });
  });

  it('[trpc 22] the last custom result counts', async () => {
    const outcome = await toolCallbacks({ continueOnResponse: true })
      .registerAfter(() => result)
      .registerAfter(() => ({ customResult: 'last' }))
      .runAfter({ ...call(), result: 'x' });
    expect(outcome.result).toEqual({ customResult: 'last' });
  });

  it('[trpc 24] after an error a custom result is returned with the first error', async () => {
    for (const place of ['Before', 'After'] as const) {
      const set = toolCallbacks({ continueOnError: true });
      for (const callback of steps(new Error('error 1'), result).callbacks) set[`register${place}`](callback);
      const outcome = await set[`run${place}`](call());
      expect(outcome.result?.customResult).toBe('custom');
      expect(outcome.error?.message).toBe('error 1');
    }
  });

  it('[trpc 26] after: nothing lets the next callback answer; without callbacks and result there is an empty result', async () => {
    const set = toolCallbacks()
      .registerAfter(() => undefined)
      .registerAfter(() => result);
    expect((await set.runAfter({ ...call(), result: 'x' })).result?.customResult).toBe('custom');
    expect(await toolCallbacks().runAfter(call())).toEqual({ result: {} });
  });
});

describe('agent', () => {
  it('[trpc 27] the first callback that answers is returned', async () => {
    const set = agentCallbacks()
      .registerBefore(() => undefined)
      .registerBefore(() => ({ customResponse: 'second' }))
      .registerAfter(() => undefined)
      .registerAfter(() => ({ customResponse: 'second' }));
    expect((await set.runBefore({})).result?.customResponse).toBe('second');
    expect((await set.runAfter({})).result?.customResponse).toBe('second');
  });

  it('[trpc 28] callbacks before and after are both honoured, and values of the after one are returned', async () => {
    const set = agentCallbacks()
      .registerBefore(() => ({ customResponse: answer('before') }))
      .registerAfter(() => ({ values: { after: true } }));
    expect((await set.runBefore({})).result?.customResponse).toEqual(answer('before'));
    expect((await set.runAfter({})).result?.values).toEqual({ after: true });
  });

  it('[trpc 29] every after callback sees the same response, and the error', async () => {
    const seen: unknown[] = [];
    const watch = ({ response, error }: { response?: Message; error?: Error }): void => void seen.push(response, error);
    const set = agentCallbacks().registerAfter(watch).registerAfter(watch);
    const response = answer('Done.');
    const error = new Error('boom');
    await set.runAfter({ response, error });
    expect(seen).toEqual([response, error, response, error]);
    expect(seen[0]).toBe(seen[2]);
    await set.runAfter({});
    expect(seen.slice(4)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('what is passed along', () => {
  it('[trpc 48] the invocation stays, whatever values callbacks return', async () => {
    const invocation = detachedInvocation({ agent: 'mine' });
    const seen: unknown[] = [];
    const set = modelCallbacks()
      .registerBefore(() => ({ values: {} }))
      .registerBefore((args) => void seen.push(args.invocation));
    await set.runBefore({ request, invocation });
    expect(seen[0]).toBe(invocation);
  });

  it('[trpc 49] a result that is returned again and again stays as it was', async () => {
    const shared = Object.freeze({ values: Object.freeze({ a: 1 }) });
    const set = modelCallbacks()
      .registerBefore(() => shared)
      .registerBefore(() => ({ values: { b: 2 } }))
      .registerBefore(() => shared);
    expect((await set.runBefore({ request })).result?.values).toEqual({ a: 1, b: 2 });
    expect(shared).toEqual({ values: { a: 1 } });
  });

  it('[trpc 92] an extension comes behind the callbacks of the user, and its messages win', async () => {
    const trail: string[] = [];
    const make = (name: string) =>
      toolCallbacks()
        .registerBefore(() => void trail.push(name))
        .registerToolResultMessages(() => answer(name));
    const set = make('user').append(make('extension'));
    await set.runBefore(call());
    expect(trail).toEqual(['user', 'extension']);
    const { result } = await set.runToolResultMessages({ ...call(), result: 'x', defaultMessage: answer('default') });
    expect(result).toEqual([answer('extension')]);
  });

  it('[trpc 93] state is set, overwritten and deleted by key; a value of another type is none', () => {
    const invocation = detachedInvocation();
    const { state } = invocation;
    state.set('agent:a', 1);
    state.set('agent:a', 2);
    state.set('tool:a', 3);
    expect([state.get('agent:a'), state.get('tool:a'), state.get('missing')]).toEqual([2, 3, undefined]);
    expect(getStateValue(invocation, 'agent:a', 'number')).toBe(2);
    expect(getStateValue(invocation, 'agent:a', 'string')).toBeUndefined();
    expect(getStateValue(undefined, 'agent:a', 'number')).toBeUndefined();
    state.delete('agent:a');
    state.delete('missing');
    expect([state.get('agent:a'), state.get('tool:a')]).toEqual([undefined, 3]);
  });
});

it('[trpc 11] a panic of the other phases names them too', async () => {
  const panics = (): never => {
    throw 42;
  };
  const tool = toolCallbacks().registerBefore(panics).registerAfter(panics).registerToolResultMessages(panics);
  const agent = agentCallbacks().registerBefore(panics).registerAfter(panics);
  const errors = [
    await tool.runBefore(call()),
    await tool.runAfter(call()),
    await tool.runToolResultMessages({ ...call(), result: 'x', defaultMessage: answer('x') }),
    await agent.runBefore({}),
    await agent.runAfter({}),
  ].map(({ error }) => error?.message);
  const phases = ['before tool', 'after tool', 'tool result messages', 'before agent', 'after agent'];
  expect(errors).toEqual(phases.map((phase) => `${phase} callback panic: 42`));
});

it('[trpc 46] a response that is changed in place is seen by later callbacks', async () => {
  const response: ModelResponseDraft = { message: answer('model') };
  const seen: Message[] = [];
  await modelCallbacks()
    .registerAfter((args) => void (args.response!.message = answer('after-override')))
    .registerAfter((args) => void seen.push(args.response!.message))
    .runAfter({ request, response });
  expect(seen).toEqual([answer('after-override')]);
});
