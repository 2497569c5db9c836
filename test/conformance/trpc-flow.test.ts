import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { Message } from 'holdfast/workflow';
import { StopError, agentCallbacks, approval, modelCallbacks, textOf, toolCallbacks } from 'holdfast/workflow';
import { z } from 'zod';
import { agentUnder, agentWith, echo, gate, linesOf, logOf, only, tools, transcriptOf } from '../support/memory-bed';

/** Callbacks in the flow of an agent, in runs in memory. */

const done = () => scriptedModel([{ text: 'Done.' }]);
const twoTurns = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
const failing = () => scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Done.' }]);
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const calling = (...names: readonly string[]): Message => ({
  role: 'assistant',
  parts: names.map((name, index) => ({ type: 'tool-call', id: `${index}`, name, input: { text: name } })),
});
const fails = (message: string) => (): never => {
  throw new Error(message);
};

describe('around the model', () => {
  it('[trpc 43] an answer before the model is shown, and the after callbacks see it', async () => {
    const seen: string[] = [];
    const set = modelCallbacks()
      .registerBefore(() => ({ customResponse: 'pong' }))
      .registerAfter(({ response }) => void seen.push(textOf(response!.message)));
    const run = await testRun(agentUnder(set.asMiddleware()), { input: '/ping', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ text: 'pong' });
    expect(await linesOf(run)).toEqual(['run-start', 'model-end', 'run-end']);
    expect(seen).toEqual(['pong']);
  });

  it('[trpc 43] tool calls of an answer before the model are run', async () => {
    const set = modelCallbacks().registerBefore(({ request }) =>
      request.messages.length === 1 ? { customResponse: { message: calling('echo') } } : undefined,
    );
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: done(), tools });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: echo({"text":"echo"})', 'tool: echo', 'assistant: Done.']);
  });

  it('[trpc 44] an error before the model fails the run, and the model is not called', async () => {
    const set = modelCallbacks().registerBefore(fails('before error'));
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'callback-failed', message: 'before model callback failed: before error' },
    });
    expect(await linesOf(run)).toEqual(['run-start', 'run-end']);
  });

  it('[trpc 46] an answer after the model takes its place, with tool calls added or dropped', async () => {
    const set = modelCallbacks().registerAfter(({ response, request }) =>
      request.messages.length === 1 ? { customResponse: { ...response, message: calling('echo') } } : { customResponse: 'after-override' },
    );
    const model = scriptedModel([{ text: 'Original.' }, { toolCalls: [echo('dropped')] }]);
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ text: 'after-override' });
    expect((await transcriptOf(run)).slice(1)).toEqual(['assistant: echo({"text":"echo"})', 'tool: echo', 'assistant: after-override']);
    const shown = (await logOf(run)).flatMap((event) => (event.type === 'model-end' ? [textOf(event.message)] : []));
    expect(shown).toEqual(['', 'after-override']);
  });

  it('[trpc 47] an error after the model fails the run once', async () => {
    const set = modelCallbacks().registerAfter(fails('after error'));
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: done(), tools });
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'callback-failed', message: 'after model callback failed: after error' },
    });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'run-end']);
  });

  it('[trpc 53] a call too many fails the run, and one that a callback answered counts', async () => {
    const set = modelCallbacks().registerBefore(() => ({ customResponse: { message: calling('echo') } }));
    const agent = agentWith({ middleware: [set.asMiddleware()], maxIterations: 1 });
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ error: { code: 'max-iterations', message: expect.stringContaining('called 1 times') } });
  });

  it('[trpc 56] a callback cannot change the model that is called', async () => {
    const model = done();
    const set = modelCallbacks().registerBefore(({ request }) => void ((request as { model: string }).model = 'test/other'));
    await (await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools })).outcome();
    expect(model.requests[0]?.model).toBe('test/model');
  });
});

describe('around a tool', () => {
  it('[trpc 61] one message of another role follows the result, and of several the tool message is the result', async () => {
    const single = toolCallbacks().registerToolResultMessages(() => user('Look at this.'));
    const one = await testRun(agentUnder(single.asMiddleware()), { input: 'Hi', model: twoTurns(), tools });
    expect((await transcriptOf(one)).slice(2, 4)).toEqual(['tool: x', 'user: Look at this.']);
    const multiple = toolCallbacks().registerToolResultMessages(() => [
      { role: 'tool', parts: [{ type: 'text', text: 'shaped' }] },
      user('Look at this.'),
    ]);
    const model = twoTurns();
    const several = await testRun(agentUnder(multiple.asMiddleware()), { input: 'Hi', model, tools });
    expect((await transcriptOf(several)).slice(2, 4)).toEqual(['tool: shaped', 'user: Look at this.']);
    const shaped = model.requests[1]?.messages.find(({ role }) => role === 'tool')?.parts[0];
    expect(shaped).toMatchObject({ type: 'tool-result', name: 'echo', callId: 'call-1-1' });
  });

  it.each<[string, () => never]>([
    ['an error', fails('odd')],
    [
      'a panic',
      () => {
        throw 'odd';
      },
    ],
  ])('[trpc 62] %s of the messages goes back to the model', async (_, callback) => {
    const set = toolCallbacks().registerToolResultMessages(callback);
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: twoTurns(), tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await transcriptOf(run))[2]).toMatch(/^tool: error tool callback error: .*odd$/);
  });

  it('[trpc 68] a custom result after a failed tool takes the place of its error', async () => {
    const set = toolCallbacks().registerAfter(({ error }) => (error === undefined ? undefined : { customResult: 'forgiven' }));
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: failing(), tools });
    expect((await transcriptOf(run))[2]).toBe('tool: forgiven');
    const end = (await logOf(run)).find(({ type }) => type === 'tool-end');
    expect(end).not.toHaveProperty('error');
  });

  const stopping = defineTool({
    description: 'Stops.',
    inputSchema: z.object({}),
    execute: (): string => {
      throw new StopError('stop here');
    },
  });
  const stops = () => scriptedModel([{ toolCalls: [{ name: 'stopping', input: {} }] }]);

  it('[trpc 69] a StopError of a tool stays one beside a custom result', async () => {
    const set = toolCallbacks().registerAfter(() => ({ customResult: 'custom' }));
    const agent = agentWith({ tools: ['stopping'], middleware: [set.asMiddleware()] });
    const run = await testRun(agent, { input: 'Hi', model: stops(), tools: { stopping } });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped', message: 'stop here' } });
  });

  it('[trpc 71] a decision is about the arguments that a callback rewrote, and a rejected call does not run', async () => {
    const set = toolCallbacks().registerBefore(() => ({ modifiedArguments: { text: 'rewritten' } }));
    const layers = [set.asMiddleware(), approval({ tools: { echo: true } })];
    const run = await testRun(agentUnder(...layers), { input: 'Hi', model: twoTurns(), tools });
    const { id, ...asked } = only(await run.interrupts());
    expect(asked).toMatchObject({ tool: 'echo', input: { text: 'rewritten' } });
    await run.reject(id, 'Too loud.');
    expect((await transcriptOf(run))[2]).toMatch(/^tool: A human rejected the call of 'echo'\. It did not run\. They said: Too loud\./);
    expect(await linesOf(run)).not.toContain('tool-start echo');
  });

  it('[trpc 74] callbacks run once around all attempts of a tool', async () => {
    const counts = { before: 0, after: 0, tool: 0 };
    const flaky = defineTool({
      description: 'Fails once.',
      inputSchema: z.object({}),
      effect: 'idempotent',
      retry: { attempts: 2 },
      execute: () => {
        if (++counts.tool === 1) throw new Error('flaky');
        return 'fine';
      },
    });
    const set = toolCallbacks()
      .registerBefore(() => void counts.before++)
      .registerAfter(() => void counts.after++);
    const agent = agentWith({ tools: ['flaky'], middleware: [set.asMiddleware()] });
    const model = scriptedModel([{ toolCalls: [{ name: 'flaky', input: {} }] }, { text: 'Done.' }]);
    const run = await testRun(agent, { input: 'Hi', model, tools: { flaky } });
    expect((await transcriptOf(run))[2]).toBe('tool: fine');
    expect(counts).toEqual({ before: 1, after: 1, tool: 2 });
  });

  it('[trpc 76] a StopError of a tool ends the run, and its call has no result', async () => {
    const run = await testRun(agentWith({ tools: ['stopping'] }), { input: 'Hi', model: stops(), tools: { stopping } });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped', message: 'stop here' } });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'tool-start stopping', 'run-end']);
  });

  it('[trpc 78] of calls side by side one that skips the summary ends the run; results and arguments stand for each call', async () => {
    const set = toolCallbacks()
      .registerBefore((call) => ({ modifiedArguments: { text: `${(call.arguments as { text: string }).text}!` } }))
      .registerAfter(({ result }) => ({ skipSummarization: result === 'a!' }));
    const model = scriptedModel([{ toolCalls: [echo('a'), echo('b')] }]);
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'a!' });
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: a!', 'tool: b!']);
    const inputs = (await logOf(run)).flatMap((event) => (event.type === 'tool-start' ? [event.input] : []));
    expect(inputs).toEqual([{ text: 'a!' }, { text: 'b!' }]);
  });

  it('[trpc 79] results are shown as calls end, and the model sees them in the order of the calls', async () => {
    const door = gate();
    const slow = defineTool({ description: 'Slow.', inputSchema: z.object({}), execute: () => door.opened.then(() => 'slow') });
    const set = toolCallbacks().registerAfter(({ toolName }) => (toolName === 'echo' ? door.open() : undefined));
    const agent = agentWith({ tools: ['slow', 'echo'], middleware: [set.asMiddleware()] });
    const model = scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }, echo('fast')] }, { text: 'Done.' }]);
    const run = await testRun(agent, { input: 'Hi', model, tools: { ...tools, slow } });
    await run.outcome();
    expect((await linesOf(run)).filter((line) => line.startsWith('tool-end'))).toEqual(['tool-end echo', 'tool-end slow']);
    expect((await transcriptOf(run)).slice(2, 4)).toEqual(['tool: slow', 'tool: fast']);
  });

  it('[trpc 86] a result that skips the summary ends the run without another model call', async () => {
    const set = toolCallbacks().registerAfter(() => ({ skipSummarization: true }));
    const model = scriptedModel([{ toolCalls: [echo('x')] }]);
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'x' });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'tool-start echo', 'tool-end echo', 'run-end']);
  });
});

describe('around the agent', () => {
  it('[trpc 88] an answer before the agent is the only event, and the after callback is not run', async () => {
    const never = jest.fn();
    const set = agentCallbacks()
      .registerBefore(() => ({ customResponse: 'aborted by callback' }))
      .registerAfter(() => never());
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ text: 'aborted by callback' });
    expect(await linesOf(run)).toEqual(['run-start', 'model-end', 'run-end']);
    expect(never).not.toHaveBeenCalled();
  });

  it('[trpc 89] an error before the agent says where it comes from', async () => {
    const set = agentCallbacks().registerBefore(fails('no'));
    const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: 'before agent callback failed: no' } });
  });

  it('[trpc 91] after the agent the error is there when the model failed, and only then', async () => {
    const seen: (string | undefined)[] = [];
    const set = agentCallbacks().registerAfter(({ error }) => void seen.push(error?.message));
    await (await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: done(), tools })).outcome();
    const failed = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model: scriptedModel([{ error: 'down' }]), tools });
    expect(await failed.outcome()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    expect(seen).toEqual([undefined, expect.stringMatching(/^model-failed: .*down/)]);
  });
});
