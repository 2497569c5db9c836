import { defineWorkerMiddleware } from 'holdfast/worker';
import { onWorker } from 'holdfast/workflow';
import { scriptedModel, testRun } from 'holdfast/testing';
import { failureSaying } from '../../support/failures';
import { agentUnder, agentWith, echo, fails, linesOf, startRun, tools, transcriptOf } from '../../support/memory-bed';

describe('an agent', () => {
  it('answers with the text of the model', async () => {
    const model = scriptedModel([{ text: 'Hello.' }]);
    const run = await startRun(agentWith(), model);
    expect(await run.outcome()).toEqual({ status: 'completed', output: 'Hello.', text: 'Hello.' });
    expect(await transcriptOf(run)).toEqual(['user: Hi', 'assistant: Hello.']);
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-end', 'run-end']);
  });

  it('gives the model its instructions, its messages and its tools', async () => {
    const model = scriptedModel([{ text: 'Hello.' }]);
    await (await startRun(agentWith({ settings: { temperature: 0 } }), model, { settings: { maxOutputTokens: 9 } })).outcome();
    expect(model.requests[0]).toMatchObject({
      instructions: 'Be a test.',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      settings: { temperature: 0, maxOutputTokens: 9 },
      model: 'test/model',
    });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'add', 'fail']);
  });

  it('runs calls one after another when told to, the later ones also after a failure', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'fail', input: {} }, echo('b')] }, { text: 'Done.' }]);
    const run = await startRun(agentWith({ sequentialTools: true }), model);
    await run.outcome();
    expect((await linesOf(run)).slice(3, 7)).toEqual(['tool-start fail', 'tool-end fail', 'tool-start echo', 'tool-end echo']);
  });

  it('makes the first message of a typed job with its prompt', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const agent = agentWith({ prompt: (job) => `Look after ${JSON.stringify(job)}` });
    const run = await testRun(agent, { input: { orderId: '42' }, model, tools });
    expect((await run.outcome()).status).toBe('completed');
    expect(await transcriptOf(run)).toEqual(['user: Look after {"orderId":"42"}', 'assistant: Done.']);
  });

  it('takes a list of messages as input, each under an id of its own', async () => {
    const input = [
      { id: 'same', role: 'user', parts: [{ type: 'text', text: 'One' }] },
      { id: 'same', role: 'assistant', parts: [{ type: 'text', text: 'Two' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Three' }] },
    ];
    const run = await testRun(agentWith(), { input, model: scriptedModel([{ text: 'Four' }]), tools });
    expect(await transcriptOf(run)).toEqual(['user: One', 'assistant: Two', 'user: Three', 'assistant: Four']);
    expect(new Set((await run.transcript()).map(({ id }) => id)).size).toBe(4);
  });

  it('refuses a job when it has no prompt', async () => {
    const run = await testRun(agentWith(), { input: { orderId: '42' }, model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject(failureSaying('input-invalid', 'no prompt and no inputSchema for a typed job'));
  });

  it.each([
    ['throws', fails('no such order'), /prompt of agent "agent" failed: no such order/],
    ['returns no text', (() => undefined) as unknown as () => string, /prompt of agent "agent" returned no text/],
  ])('fails by name when its prompt %s', async (_, prompt, message) => {
    const run = await testRun(agentWith({ prompt }), { input: {}, model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject(failureSaying('hook-failed', message));
  });

  it('stops at the n+1st model call, after the tools of the n-th have run', async () => {
    const model = scriptedModel([{ toolCalls: [echo('a')] }, { toolCalls: [echo('b')] }]);
    const run = await startRun(agentWith({ maxIterations: 2 }), model);
    expect(await run.outcome()).toMatchObject(failureSaying('max-iterations', 'exceeds max iterations: the model was called 2 times'));
    expect((await transcriptOf(run)).at(-1)).toBe('tool: b');
    model.assertComplete();
  });

  it('sums the tokens of all model calls, also of failed attempts that report none', async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const model = scriptedModel([
      { toolCalls: [echo('a')], usage: { ...usage, cachedInputTokens: 4 } },
      { error: 'busy', retryable: true },
      { text: 'Done.', usage: { ...usage, reasoningTokens: 2 } },
    ]);
    const run = await startRun(agentWith(), model);
    await run.outcome();
    expect(await run.usage()).toEqual({ inputTokens: 20, outputTokens: 10, cachedInputTokens: 4, reasoningTokens: 2 });
  });

  it('says before anything else what the worker lacks', async () => {
    const model = scriptedModel([]);
    const lacking = await startRun(agentWith({ tools: ['echo', 'teleport'] }), model);
    expect(await lacking.outcome()).toMatchObject(
      failureSaying('tool-unknown', 'names the tool "teleport". The worker has: echo, add, fail.'),
    );
    const halfless = await startRun(agentUnder(onWorker('tracer')), model);
    expect(await halfless.outcome()).toMatchObject(failureSaying('worker-half-missing'));
  });

  it('runs worker middleware around model and tools, first outermost, with their options', async () => {
    const seen: string[] = [];
    const noisy = defineWorkerMiddleware('noisy', (options: { name: string }) => ({
      wrapModel: {
        generate: async (request, next) => (
          seen.push(`${options.name} model`),
          next({ ...request, instructions: `${request.instructions} ${options.name}` })
        ),
      },
      wrapInvokableToolCall: async (input, next) => (
        seen.push(`${options.name} tool`),
        `${options.name}(${JSON.stringify(await next(input))})`
      ),
    }));
    const quiet = defineWorkerMiddleware('quiet', () => ({
      wrapInvokableToolCall: async (input, next) => `quiet(${JSON.stringify(await next(input))})`,
    }));
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const run = await startRun(agentUnder(onWorker('noisy', { name: 'A' }), onWorker('quiet')), model, { middleware: [noisy, quiet] });
    await run.outcome();
    expect(seen).toEqual(['A model', 'A tool', 'A model']);
    expect(model.requests[0]?.instructions).toBe('Be a test. A');
    expect((await transcriptOf(run))[2]).toBe('tool: A("quiet(\\"x\\")")');
  });
});
