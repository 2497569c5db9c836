import { StopError, codeOf } from 'holdfast/workflow';
import { agentCallbacks, detachedInvocation, getStateValue, modelCallbacks, toolCallbacks, toolStateKey } from 'holdfast/callbacks';
import type { BeforeModelResult, ModelRequestDraft, ToolCallbacks } from 'holdfast/callbacks';
import type { Json, Message } from 'holdfast/workflow';
import * as worker from 'holdfast/worker';
import type { TestRun } from 'holdfast/testing';
import { errorSaying } from '../../support/failures';
import { agentUnder, echo, fails, logOf, startRun } from '../../support/memory-bed';

const request = (): ModelRequestDraft => ({ instructions: '', messages: [], tools: [], model: 'test/model' });
const toolCall = (input: Json = {}): { toolCallId: string; toolName: string; arguments: Json } => ({
  toolCallId: 'call-1',
  toolName: 'echo',
  arguments: input,
});

it.each([modelCallbacks, toolCallbacks, agentCallbacks])(
  'a set of callbacks refuses options that there are not, such as callbacks: $name',
  (make) => {
    expect(() => make({ beforeAgent: [fails('never')] } as object)).toThrow(
      errorSaying('agent-invalid', 'there is no option "beforeAgent"'),
    );
    expect(() => make({ continueOnError: 'yes' } as object)).toThrow('continueOnError');
    expect(make({ continueOnError: true }).before.length).toBe(0);
  },
);

describe('a chain of callbacks', () => {
  /** E: a callback that fails. R: a callback that answers. */
  it.each([
    [false, false, 'E R', [1], undefined, 'E1'],
    [false, false, 'R E', [1], 'R1', undefined],
    [true, false, 'E R R', [1, 2], 'R2', 'E1'],
    [true, false, 'R E', [1], 'R1', undefined],
    [true, false, 'E E', [1, 2], undefined, 'E1'],
    [false, true, 'E R', [1], undefined, 'E1'],
    [false, true, 'R E R', [1, 2], undefined, 'E2'],
    [false, true, 'R R', [1, 2], 'R2', undefined],
    [true, true, 'E R E R', [1, 2, 3, 4], 'R4', 'E1'],
    [true, true, 'R E', [1, 2], 'R1', 'E2'],
  ])('with continueOnError %s and continueOnResponse %s, %s', async (continueOnError, continueOnResponse, script, ran, response, error) => {
    const seen: number[] = [];
    const model = modelCallbacks({ continueOnError, continueOnResponse });
    const agent = agentCallbacks({ continueOnError, continueOnResponse });
    const tool = toolCallbacks({ continueOnError, continueOnResponse });
    script.split(' ').forEach((kind, index) => {
      const position = index + 1;
      const act = (): string => {
        seen.push(position);
        if (kind === 'E') throw new Error(`E${position}`);
        return `R${position}`;
      };
      model.registerBefore(() => ({ customResponse: act() })).registerAfter(() => ({ customResponse: act() }));
      agent.registerBefore(() => ({ customResponse: act() })).registerAfter(() => ({ customResponse: act() }));
      tool.registerBefore(() => ({ customResult: act() })).registerAfter(() => ({ customResult: act() }));
    });
    for (const run of [
      () => model.runBefore({ request: request() }),
      () => model.runAfter({ request: request() }),
      () => agent.runBefore({}),
      () => agent.runAfter({}),
      () => tool.runBefore(toolCall()),
      () => tool.runAfter(toolCall()),
    ]) {
      seen.length = 0;
      const outcome = (await run()) as { result?: { customResponse?: string; customResult?: string }; error?: Error };
      expect(seen).toEqual(ran);
      expect(outcome.result?.customResponse ?? outcome.result?.customResult).toBe(response);
      expect(outcome.error?.message).toBe(error);
    }
  });

  it.each(['boom', 7, { odd: true }, null, undefined])('takes %p that is thrown for a panic', async (thrown) => {
    const set = agentCallbacks().registerBefore(() => {
      throw thrown;
    });
    const { error } = await set.runBefore({});
    const text = typeof thrown === 'string' ? thrown : String(JSON.stringify(thrown));
    expect(error?.message).toBe(`before agent callback panic: ${text}`);
  });

  it('refuses what is no callback, and a result that is none', async () => {
    for (const register of [
      () => modelCallbacks().registerBefore('no' as never),
      () => toolCallbacks().registerToolResultMessages({} as never),
    ]) {
      expect(register).toThrow(/unsupported callback type/);
    }
    const { error } = await modelCallbacks()
      .registerBefore(() => 'pong' as never)
      .runBefore({ request: request() });
    expect(error?.message).toBe('before model callback returned a string; return nothing or an object');
  });

  it('throws the cancellation of the run, whatever its options', async () => {
    const cancelled = Object.assign(new Error('stop'), { code: 'cancelled' });
    const set = modelCallbacks({ continueOnError: true }).registerBefore(() => Promise.reject(cancelled));
    await expect(set.runBefore({ request: request() })).rejects.toBe(cancelled);
  });

  it('keeps a stop before other errors', async () => {
    const set = toolCallbacks({ continueOnError: true, continueOnResponse: true })
      .registerAfter(fails('first'))
      .registerAfter(() => {
        throw new StopError('enough');
      })
      .registerAfter(() => ({ customResult: 'fine' }));
    const { error, result } = await set.runAfter({ ...toolCall(), result: 'x' });
    expect(codeOf(error)).toBe('stopped');
    expect(error?.message).toBe('enough');
    expect(result).toEqual({ customResult: 'fine' });
  });
});

describe('what a later result does not say', () => {
  it.each<[string, object | undefined]>([
    ['nothing', undefined],
    ['an empty result', {}],
    ['values alone', { values: { b: 2 } }],
  ])('stays: arguments that were modified, after %s', async (_, later) => {
    const args = toolCall({ a: 1 });
    const set = toolCallbacks()
      .registerBefore(() => ({ modifiedArguments: { a: 2 }, values: { a: 1 } }))
      .registerBefore(() => later);
    const { result } = await set.runBefore(args);
    expect(args.arguments).toEqual({ a: 2 });
    expect(result).toEqual({ modifiedArguments: { a: 2 }, values: later !== undefined && 'values' in later ? { a: 1, b: 2 } : { a: 1 } });
  });

  it('stays: a custom value', async () => {
    const custom: BeforeModelResult = Object.freeze({ customResponse: 'pong' });
    const set = modelCallbacks({ continueOnResponse: true })
      .registerBefore(() => custom)
      .registerBefore(() => ({ values: { seen: true } }))
      .registerBefore(() => ({}));
    expect((await set.runBefore({ request: request() })).result).toEqual({ customResponse: 'pong', values: { seen: true } });
    expect(custom).toEqual({ customResponse: 'pong' });
  });

  it('is not part of what stops the chain, unless mergeOnStop says so', async () => {
    const play = async (mergeOnStop: boolean): Promise<unknown> => {
      const set = toolCallbacks({ mergeOnStop })
        .registerAfter(() => ({ skipSummarization: true, values: { a: 1 } }))
        .registerAfter(() => ({ customResult: 'x' }));
      return (await set.runAfter(toolCall())).result;
    };
    expect(await play(false)).toEqual({ customResult: 'x' });
    expect(await play(true)).toEqual({ customResult: 'x', skipSummarization: true, values: { a: 1 } });
  });
});

it('the arguments of a tool may be assigned or changed in place, and the last change counts', async () => {
  const args = toolCall({ a: 1 });
  const seen: Json[] = [];
  const set = toolCallbacks()
    .registerBefore((call) => void (call.arguments = { a: 2 }))
    .registerBefore((call) => {
      seen.push(structuredClone(call.arguments));
      call.arguments = { a: 'lost' };
      return { modifiedArguments: { a: 3 } };
    })
    .registerBefore((call) => {
      seen.push(structuredClone(call.arguments));
      (call.arguments as { a: number }).a = 4;
    });
  const { result } = await set.runBefore(args);
  expect(seen).toEqual([{ a: 2 }, { a: 3 }]);
  expect(args.arguments).toEqual({ a: 4 });
  expect(result).toEqual({ modifiedArguments: { a: 4 } });
});

describe('the messages of a tool result', () => {
  const args = { ...toolCall(), result: 'x', defaultMessage: { role: 'tool', parts: [] } as Message };
  const message: Message = { role: 'user', parts: [{ type: 'text', text: 'Look.' }] };

  it.each<[string, unknown, readonly Message[] | undefined]>([
    ['one message', message, [message]],
    ['a list', [message, message], [message, message]],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['an empty list', [], undefined],
    ['a text', 'Look.', undefined],
    ['a list with something else', [message, 'Look.'], undefined],
  ])('are %s', async (_, said, expected) => {
    const set = toolCallbacks().registerToolResultMessages(() => said as Message);
    expect((await set.runToolResultMessages(args)).result).toEqual(expected);
  });

  it('come from the last registration, also of a set that is appended', async () => {
    const set = toolCallbacks()
      .registerToolResultMessages(() => message)
      .append(toolCallbacks().registerToolResultMessages(() => [message, message]))
      .append(toolCallbacks());
    expect((await set.runToolResultMessages(args)).result).toHaveLength(2);
    expect((await set.clone().runToolResultMessages(args)).result).toHaveLength(2);
    expect(await toolCallbacks().runToolResultMessages(args)).toEqual({});
  });
});

describe('an invocation by hand', () => {
  it('has a state of its own, which does not follow what its user keeps', () => {
    const { state } = detachedInvocation();
    const list = [1];
    state.set('list', list);
    list.push(2);
    expect(state.get('list')).toEqual([1]);
    expect(() => (state.get('list') as number[]).push(3)).toThrow(TypeError);
  });

  it('gives values of a type, and nothing of another', () => {
    const invocation = detachedInvocation();
    const values = { string: 'a', number: 1, boolean: false, list: [1], object: { a: 1 } };
    for (const [key, value] of Object.entries(values)) invocation.state.set(key, value);
    invocation.state.set('null', null);
    for (const type of ['string', 'number', 'boolean', 'list', 'object'] as const) {
      expect(getStateValue(invocation, type, type)).toEqual(values[type]);
      expect(getStateValue(invocation, type, type === 'string' ? 'number' : 'string')).toBeUndefined();
      expect(getStateValue(invocation, 'null', type)).toBeUndefined();
    }
  });

  it('has keys for single calls', () => {
    expect(toolStateKey({ toolName: 'echo', toolCallId: 'c1' }, 'start')).toBe('tool:echo:c1:start');
    expect(toolStateKey({ toolName: 'echo', toolCallId: '' }, 'start')).toBe('tool:echo:default:start');
  });
});

it('the worker and the callbacks stop a run with the same error', () => {
  expect(worker.StopError).toBe(StopError);
});

const seeing = (): ToolCallbacks =>
  toolCallbacks().registerAfter(({ result, error, invocation }) =>
    invocation.ctx?.sendEvent('seen', { result: result ?? null, error: error?.message ?? null }),
  );

async function seenWith(
  set: ToolCallbacks,
  call: { readonly name: string; readonly input: Json } = echo('whole'),
): Promise<{ readonly seen: readonly Json[]; readonly output: Json; readonly run: TestRun }> {
  const run = await startRun(agentUnder(set.asMiddleware()), [{ toolCalls: [call] }, { text: 'Done.' }]);
  const log = await logOf(run);
  const part = (await run.transcript()).flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-result');
  return {
    run,
    seen: log.flatMap((event) => (event.type === 'custom' && event.name === 'seen' ? [event.data] : [])),
    output: part?.type === 'tool-result' ? part.output : null,
  };
}

describe('a result for callbacks', () => {
  it('is what they see behind the call, and the result itself goes to the model', async () => {
    const set = seeing().registerCallbackResult(({ toolName, arguments: given, result }) => ({
      of: toolName,
      given,
      length: String(result).length,
    }));
    const { seen, output } = await seenWith(set);
    expect(seen).toEqual([{ result: { of: 'echo', given: { text: 'whole' }, length: 5 }, error: null }]);
    expect(output).toBe('whole');
  });

  it('leaves the result to them where it says nothing, and is not asked about an error', async () => {
    expect((await seenWith(seeing().registerCallbackResult(() => undefined))).seen).toEqual([{ result: 'whole', error: null }]);
    const failed = await seenWith(
      seeing().registerCallbackResult(() => 'never'),
      { name: 'fail', input: {} },
    );
    expect(failed.seen).toEqual([{ result: null, error: expect.stringContaining('out of order') }]);
  });

  it('does not stand in the way of a custom result, and goes with a copy of the set; of two the last one counts', async () => {
    const custom = toolCallbacks()
      .registerCallbackResult(() => 'first')
      .registerCallbackResult(() => 'view')
      .registerAfter(({ result }) => ({ customResult: `custom of ${String(result)}` }));
    expect((await seenWith(custom.clone())).output).toBe('custom of view');
    expect((await seenWith(toolCallbacks().append(custom))).output).toBe('custom of view');
  });

  it.each<[string, () => Json, string]>([
    ['throws', fails('no view'), 'tool callback error: no view'],
    ['gives no JSON', () => new Map() as never, 'tool callback error: the result for callbacks of the tool "echo" is not JSON'],
  ])('that %s goes back to the model as the error of a callback', async (_, view, message) => {
    const { output, run } = await seenWith(seeing().registerCallbackResult(view));
    expect(String(output)).toContain(message);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('is there for a chain that is called by hand, and is taken back behind it', async () => {
    const seen: Json[] = [];
    const set = toolCallbacks()
      .registerAfter(({ result }) => void seen.push(result ?? null))
      .registerCallbackResult(() => 'view');
    const args = { toolName: 'echo', toolCallId: '1', arguments: {}, result: 'whole' };
    expect(await set.runAfter(args)).toEqual({ result: { customResult: 'whole' } });
    expect([seen, args.result]).toEqual([['view'], 'whole']);
  });

  it('is made by a function', () => {
    expect(() => toolCallbacks().registerCallbackResult('x' as never)).toThrow(errorSaying('agent-invalid'));
  });
});
