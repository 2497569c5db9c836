import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware, Message } from 'holdfast/workflow';
import { z } from 'zod';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, fails, linesOf, logOf, only, startRun, transcriptOf } from '../../support/memory-bed';

const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const answering = (name: string, text: string): AgentMiddleware => ({ name, beforeAgent: () => ({ answer: assistant(text) }) });

describe('an answer of beforeAgent', () => {
  it('is the answer of the run: no model, no later hook, no afterAgent', async () => {
    const never = jest.fn();
    const run = await startRun(
      agentUnder({ name: 'first', afterAgent: never }, answering('gate', 'Closed.'), { name: 'later', beforeAgent: never }),
      [],
    );
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Closed.', text: 'Closed.' });
    expect(await linesOf(run)).toEqual(['run-start', 'model-end', 'run-end']);
    expect((await logOf(run))[1]).toMatchObject({ model: 'middleware/gate', turn: 0 });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Closed.']);
    expect(never).not.toHaveBeenCalled();
  });

  it('is shown once when the run goes over a continue-as-new before it', async () => {
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeAgent: async (_, ctx) => ({ answer: assistant(`You said ${await ctx.interrupt<string>('Well?')}.`) }),
    };
    const run = await startRun(agentUnder(asking), []);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, 'no');
    expect(await run.outcome()).toMatchObject({ text: 'You said no.' });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: You said no.']);
  });

  it('has to fit the output of the agent: the run fails, and no model is asked to correct it', async () => {
    const agent = agentWith({ output: 'sum', middleware: [answering('gate', 'not a sum')] });
    const outputs = { sum: z.object({ sum: z.number() }) };
    const model = scriptedModel([]);
    const run = await startRun(agent, model, { outputs });
    expect(await run.outcome()).toMatchObject(
      failureSaying('output-invalid', /^The answer of beforeAgent of middleware .* does not fit "sum"/),
    );
    expect(model.requests).toEqual([]);
  });

  it.each([
    ['a user', { role: 'user', parts: [] }, /neither a message of the state nor one of the assistant/],
    ['nobody', 'Closed.', /is no message/],
  ])('that is a message of %s fails the run by name', async (_, answer, message) => {
    const bad = { name: 'bad', beforeAgent: () => ({ answer }) } as unknown as AgentMiddleware;
    const run = await startRun(agentUnder(bad), []);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(message) } });
  });

  it('is refused from a hook that cannot end the agent', async () => {
    const bad = { name: 'bad', beforeModelRewriteState: () => ({ answer: assistant('No.') }) } as AgentMiddleware;
    const run = await startRun(agentUnder(bad), []);
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', '"bad" returned an answer'));
  });
});

describe('an answer of afterToolCalls', () => {
  const ending = (answerOf: (messages: readonly Message[]) => Message | undefined): AgentMiddleware => ({
    name: 'ending',
    afterToolCalls: ({ messages }) => ({ answer: answerOf(messages) as Message }),
  });

  it('may be the result of a tool, which is not shown again', async () => {
    const after = jest.fn();
    const run = await startRun(
      agentUnder(
        ending((messages) => messages.at(-1)),
        { name: 'after', afterAgent: () => after() },
      ),
      [{ toolCalls: [{ name: 'add', input: { a: 1 } }] }],
    );
    expect(await run.outcome()).toMatchObject({ output: { sum: 2 } });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: add({"a":1})', 'tool: {"sum":2}']);
    expect(after).toHaveBeenCalledTimes(1);
  });

  it('may be a new message', async () => {
    const run = await startRun(agentUnder(ending(() => assistant('Enough.'))), [{ toolCalls: [echo('x')] }]);
    expect(await run.outcome()).toMatchObject({ text: 'Enough.' });
    expect((await transcriptOf(run)).at(-1)).toBe('assistant: Enough.');
  });
});

it('what afterAgent appends is shown behind the answer, which stays the result', async () => {
  const run = await startRun(agentUnder({ name: 'footer', afterAgent: () => ({ append: [assistant('By the way.')] }) }), [
    { text: 'Done.' },
  ]);
  expect(await run.outcome()).toMatchObject({ text: 'Done.' });
  expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Done.', 'assistant: By the way.']);
  expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'model-end', 'run-end']);
});

describe('afterFailure', () => {
  it('sees why the run failed, may append a message, and the failure stays', async () => {
    const seen: unknown[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      afterAgent: () => void seen.push('afterAgent'),
      afterFailure: (failure) => (seen.push(failure.code), { append: [assistant('Sorry.')] }),
    };
    const run = await startRun(agentUnder(watching), [{ error: 'down' }]);
    expect(await run.outcome()).toMatchObject(failureSaying('model-failed'));
    expect(seen).toEqual(['model-failed']);
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
  });

  it('that fails is named behind the failure, and the others run', async () => {
    const never = jest.fn();
    const failing: AgentMiddleware = { name: 'failing', afterFailure: fails('again') };
    const run = await startRun(agentUnder(failing, { name: 'other', afterFailure: () => never() }), [{ error: 'down' }]);
    expect(await run.outcome()).toMatchObject(
      failureSaying('model-failed', /down.* Then: afterFailure of middleware "failing" failed: again/),
    );
    expect(never).toHaveBeenCalledTimes(1);
  });

  it('may wait for a person over a continue-as-new', async () => {
    const asking: AgentMiddleware = {
      name: 'asking',
      afterFailure: async (failure, _, ctx) => void ctx.sendEvent('seen', [failure.code, await ctx.interrupt<string>('What now?')]),
    };
    const run = await startRun(agentUnder(asking), [{ error: 'down' }]);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, 'leave it');
    expect(await run.outcome()).toMatchObject(failureSaying('model-failed'));
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([{ data: ['model-failed', 'leave it'] }]);
  });

  it('does not come when the run is cancelled, or failed in its setup', async () => {
    const never = jest.fn();
    const asking: AgentMiddleware = {
      name: 'asking',
      beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt('Go?')),
      afterFailure: () => never(),
    };
    const cancelled = await startRun(agentUnder(asking), []);
    await cancelled.interrupts();
    await cancelled.cancel();
    expect(await cancelled.outcome()).toMatchObject({ status: 'cancelled' });
    const throwing: AgentMiddleware = { name: 'throwing', beforeAgent: fails('no'), afterFailure: () => never() };
    const failed = await startRun(agentUnder(throwing), []);
    expect(await failed.outcome()).toMatchObject({ status: 'failed' });
    expect(never).not.toHaveBeenCalled();
  });
});
