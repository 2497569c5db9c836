import { agentCallbacks, detachedInvocation, getStateValue, modelCallbacks, toolCallbacks } from 'holdfast/callbacks';
import type { Json, Message } from 'holdfast/workflow';
import type { ModelRequestDraft, ModelResponseDraft } from 'holdfast/callbacks';
import { scriptedModel } from '../../testing/index';
import { echo, only } from '../support/memory-bed';
import type { Chain, ChainEnd, Step } from './chain-agents';
import * as agents from './chain-agents';
import type { Engine } from './engines';
import { closeEngines, onEngines } from './engines';

afterAll(closeEngines);

const request: ModelRequestDraft = { instructions: '', messages: [], tools: [], model: 'test/model' };
const call = (input: Json = {}): { toolCallId: string; toolName: string; arguments: Json } => ({
  toolCallId: 'call-1',
  toolName: 'echo',
  arguments: input,
});
const answer = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });

async function ends(engine: Engine, ...chains: readonly Chain[]): Promise<readonly ChainEnd[]> {
  const run = await engine.play(agents.chained, { model: scriptedModel([]), values: { chains: chains as unknown as Json } });
  return (await run.notes()) as unknown as readonly ChainEnd[];
}

const beforeModel = async (engine: Engine, options: Chain['options'], ...steps: readonly Step[]): Promise<ChainEnd> =>
  only(await ends(engine, { of: 'model', place: 'before', options: options ?? {}, steps }));
const both = (of: Chain['of'], steps: readonly Step[], more: Partial<Chain> = {}): readonly Chain[] =>
  (['before', 'after'] as const).map((place) => ({ of, place, steps, ...more }));

const says = (customResponse: string): Step => ({ result: { customResponse } });
const gives = (customResult: Json, more: Step['result'] = {}): Step => ({ result: { customResult, ...more } });
const fails = (throws: string): Step => ({ throws });
const nothing: Step = {};

describe('model', () => {
  onEngines('[trpc 1] a callback that says nothing leaves no result and no error', async (engine) => {
    expect(await beforeModel(engine, {}, nothing)).toEqual({ ran: [1] });
  });

  onEngines('[trpc 2] the first custom response is returned, and the next callback is not run', async (engine) => {
    expect(await beforeModel(engine, {}, says('first'), says('second'))).toEqual({ ran: [1], result: { customResponse: 'first' } });
  });

  onEngines('[trpc 3] an error stops the chain', async (engine) => {
    expect(await beforeModel(engine, {}, fails('error 1'), says('second'))).toEqual({ ran: [1], error: 'error 1' });
  });

  onEngines('[trpc 4] continueOnError runs all, and returns the first error', async (engine) => {
    expect(await beforeModel(engine, { continueOnError: true }, fails('error 1'), fails('error 2'), nothing)).toEqual({
      ran: [1, 2, 3],
      error: 'error 1',
    });
  });

  onEngines('[trpc 6] both options run all, and return the first error and the response', async (engine) => {
    const options = { continueOnError: true, continueOnResponse: true };
    expect(await beforeModel(engine, options, fails('error 1'), says('response 2'), nothing)).toEqual({
      ran: [1, 2, 3],
      result: { customResponse: 'response 2' },
      error: 'error 1',
    });
  });

  onEngines('[trpc 7] a response behind an error is returned with it', async (engine) => {
    expect(await beforeModel(engine, { continueOnError: true }, fails('error 1'), says('custom'))).toMatchObject({
      result: { customResponse: 'custom' },
      error: 'error 1',
    });
  });

  onEngines('[trpc 8] a response behind an error stops the chain without continueOnResponse', async (engine) => {
    expect(await beforeModel(engine, { continueOnError: true }, fails('error 1'), says('custom'), nothing)).toEqual({
      ran: [1, 2],
      result: { customResponse: 'custom' },
      error: 'error 1',
    });
  });

  onEngines('[trpc 9] an error behind a response stops the chain without continueOnError', async (engine) => {
    expect(await beforeModel(engine, { continueOnResponse: true }, says('response 1'), fails('error 2'), nothing)).toEqual({
      ran: [1, 2],
      error: 'error 2',
    });
  });

  onEngines('[trpc 11] a panic becomes an error with the phase and the value', async (engine) => {
    expect(await ends(engine, ...both('model', [{ panics: 'boom' }]))).toMatchObject([
      { error: 'before model callback panic: boom' },
      { error: 'after model callback panic: boom' },
    ]);
  });

  onEngines('[trpc 11] a panic of the other phases names them too', async (engine) => {
    const steps = [{ panics: 42 }];
    const phases = ['before tool', 'after tool', 'before agent', 'after agent'];
    expect(await ends(engine, ...both('tool', steps), ...both('agent', steps))).toMatchObject(
      phases.map((phase) => ({ error: `${phase} callback panic: 42` })),
    );
  });

  onEngines('[trpc 12] an empty result is none, and nothing lets the next callback answer', async (engine) => {
    expect(await ends(engine, ...both('model', [{ result: {} }]))).toEqual([{ ran: [1] }, { ran: [1] }]);
    const second = { ran: [1, 2], result: { customResponse: 'second' } };
    expect(await ends(engine, ...both('model', [{ result: null }, says('second')]))).toEqual([second, second]);
  });

  onEngines('[trpc 13] values of a before callback reach the after callback', async (engine) => {
    const run = await engine.play(agents.handsValuesOn, { model: scriptedModel([]) });
    expect(await run.notes()).toEqual(['model', 'tool']);
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
  const result = { result: 'x' };

  it('[trpc 16] arguments that are assigned are seen, and the result stays none', async () => {
    const args = call({ x: 1 });
    const outcome = await toolCallbacks()
      .registerBefore((given) => void (given.arguments = { x: 2 }))
      .runBefore(args);
    expect(args.arguments).toEqual({ x: 2 });
    expect(outcome).toEqual({});
  });

  onEngines('[trpc 17] before: a custom result beside an error is kept', async (engine) => {
    const step = { ...gives('custom'), error: 'error' };
    expect(await ends(engine, { of: 'tool', place: 'before', steps: [step] })).toEqual([
      { ran: [1], result: { customResult: 'custom' }, keptBeside: true, error: 'error' },
    ]);
  });

  onEngines('[trpc 18] after: without callbacks the result of the tool is the custom one', async (engine) => {
    expect(await ends(engine, { of: 'tool', place: 'after', steps: [], args: result })).toEqual([
      { ran: [], result: { customResult: 'x' } },
    ]);
  });

  onEngines('[trpc 19] after: a custom result beside an error is kept', async (engine) => {
    const step = { ...gives('custom'), error: 'error' };
    expect(await ends(engine, { of: 'tool', place: 'after', steps: [step], args: result })).toEqual([
      { ran: [1], result: { customResult: 'custom' }, keptBeside: true, error: 'error' },
    ]);
  });

  onEngines('[trpc 21] skipSummarization of a later callback is kept with the custom result of an earlier one', async (engine) => {
    const steps = [gives('custom'), { result: { skipSummarization: true } }, { result: { skipSummarization: false } }];
    expect(await ends(engine, { of: 'tool', place: 'after', options: { continueOnResponse: true }, steps, args: result })).toEqual([
      { ran: [1, 2, 3], result: { customResult: 'custom', skipSummarization: true } },
    ]);
  });

  onEngines('[trpc 22] the last custom result counts', async (engine) => {
    const steps = [gives('custom'), gives('last')];
    expect(await ends(engine, { of: 'tool', place: 'after', options: { continueOnResponse: true }, steps, args: result })).toEqual([
      { ran: [1, 2], result: { customResult: 'last' } },
    ]);
  });

  it('[trpc 23] without arguments callbacks are called, with an invocation and no call', async () => {
    const seen: unknown[] = [];
    const set = toolCallbacks()
      .registerBefore((args) => void seen.push(Object.keys(args), args.toolName))
      .registerAfter((args) => void seen.push(Object.keys(args), args.result));
    expect(await set.runBefore(null)).toEqual({});
    expect(await set.runAfter(undefined)).toEqual({ result: {} });
    expect(seen).toEqual([['invocation', 'values'], undefined, ['invocation', 'values'], undefined]);
    expect(await modelCallbacks().runBefore()).toEqual({});
    expect(await agentCallbacks().runAfter(null)).toEqual({});
    expect(await toolCallbacks().runToolResultMessages()).toEqual({});
  });

  onEngines('[trpc 24] after an error a custom result is returned with the first error', async (engine) => {
    const chains = both('tool', [fails('error 1'), gives('custom')], { options: { continueOnError: true } });
    const end = { ran: [1, 2], result: { customResult: 'custom' }, error: 'error 1' };
    expect(await ends(engine, ...chains)).toEqual([end, end]);
  });

  onEngines(
    '[trpc 26] after: nothing lets the next callback answer; without callbacks and result there is an empty result',
    async (engine) => {
      const chains = [[nothing, gives('custom')], []].map((steps) => ({ of: 'tool', place: 'after', steps }) as const);
      expect(await ends(engine, ...chains)).toEqual([
        { ran: [1, 2], result: { customResult: 'custom' } },
        { ran: [], result: {} },
      ]);
    },
  );
});

describe('agent', () => {
  onEngines('[trpc 27] the first callback that answers is returned', async (engine) => {
    const end = { ran: [1, 2], result: { customResponse: 'second' } };
    expect(await ends(engine, ...both('agent', [nothing, says('second'), says('third')]))).toEqual([end, end]);
  });

  onEngines('[trpc 28] callbacks before and after are both honoured, and values of the after one are returned', async (engine) => {
    const chains: readonly Chain[] = [
      { of: 'agent', place: 'before', steps: [says('before')] },
      { of: 'agent', place: 'after', steps: [{ result: { values: { after: true } } }] },
    ];
    expect(await ends(engine, ...chains)).toEqual([
      { ran: [1], result: { customResponse: 'before' } },
      { ran: [1], result: { values: { after: true } } },
    ]);
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

onEngines('[trpc 93] state is kept over a tool, a person and a continue-as-new, until it is deleted', async (engine) => {
  const run = await engine.play(agents.keepsState, { model: scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]) });
  const { id } = only(await run.waiting(1));
  await run.goOnAsNew();
  await run.resume(id, 'yes');
  expect(await run.notes()).toEqual([[2, 'ab', null, null, null]]);
});

it('[trpc 11] a panic for messages names its phase', async () => {
  const set = toolCallbacks().registerToolResultMessages(() => {
    throw 42;
  });
  const { error } = await set.runToolResultMessages({ ...call(), result: 'x', defaultMessage: answer('x') });
  expect(error?.message).toBe('tool result messages callback panic: 42');
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
