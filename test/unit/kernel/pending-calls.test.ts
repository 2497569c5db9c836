import { scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedStep, TestRunOptions } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware, Json, Message } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { z } from 'zod';
import { pendingCallsOf } from '../../../kernel/turn/pending-calls';
import { agentUnder, agentWith, answerAnew, echo, linesOf, only, tools, transcriptOf } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Say it.' }] };
const calling = (...texts: readonly string[]): Message => ({
  role: 'assistant',
  parts: texts.map((text) => ({ type: 'tool-call', id: text, ...echo(text) })),
});
const said = (text: string): Message => ({ role: 'tool', parts: [{ type: 'tool-result', callId: text, name: 'echo', output: text }] });

interface Starting extends Omit<TestRunOptions<Json>, 'input' | 'model'> {
  readonly agent?: Parameters<typeof agentWith>[0];
  readonly steps?: readonly ScriptedStep[];
}

async function start(messages: readonly Message[], { agent, steps = [{ text: 'Done.' }], ...options }: Starting = {}) {
  const model = scriptedModel(steps);
  const input = messages as unknown as Json;
  return { model, run: await testRun(agentWith(agent), { input, model, tools, runPendingToolCalls: true, ...options }) };
}

describe('calls that an input ends in', () => {
  it('run when they have no result yet, and their results stand behind the others', async () => {
    const { run } = await start([user, calling('a', 'b', 'c'), said('b')]);
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: b', 'tool: a', 'tool: c', 'assistant: Done.']);
    expect(await linesOf(run)).toEqual([
      'run-start',
      ...['tool-start echo', 'tool-start echo', 'tool-end echo', 'tool-end echo'],
      ...['model-start', 'model-end', 'run-end'],
    ]);
  });

  it('are none when they are answered, each of two with the same id by itself, or when somebody has spoken since', () => {
    expect(pendingCallsOf([calling('a', 'a'), said('a')])).toHaveLength(1);
    expect(pendingCallsOf([user, calling('a'), said('a')])).toEqual([]);
    expect(pendingCallsOf([user, calling('a'), user])).toEqual([]);
    expect(pendingCallsOf([user])).toEqual([]);
    expect(pendingCallsOf([])).toEqual([]);
  });

  it('run through the layers of the agent, behind its setup', async () => {
    const seen: unknown[] = [];
    const layer: AgentMiddleware = {
      name: 'layer',
      beforeAgent: () => void seen.push('setup'),
      beforeModelRewriteState: (_, ctx) => void seen.push(['model', ctx.iteration]),
      wrapToolCall: (call, next, ctx) => (seen.push(['tool', ctx.iteration]), next(call)),
      afterToolCalls: () => void seen.push('after'),
    };
    const { run } = await start([user, calling('a')], { agent: { middleware: [layer] } });
    await run.outcome();
    expect(seen).toEqual(['setup', ['tool', 0], 'after', ['model', 1]]);
  });

  it('wait for the person that they would wait for anywhere', async () => {
    const { run } = await start([user, calling('a')], { agent: { middleware: [approval({ tools: { echo: true } })] } });
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.approve(id);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect((await linesOf(run)).filter((line) => line.startsWith('tool-'))).toEqual(['tool-start echo', 'tool-end echo']);
  });

  it('have keys of their own', async () => {
    const keys: string[] = [];
    const keeping = defineTool({
      description: 'Keeps its key.',
      inputSchema: z.object({ text: z.string() }),
      effect: 'once',
      execute: ({ text }, call) => (keys.push(call.idempotencyKey), text),
    });
    const { run } = await start([user, calling('a')], {
      tools: { ...tools, echo: keeping },
      steps: [{ toolCalls: [echo('b')] }, { text: 'Done.' }],
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(keys).toEqual(['default/test/agent/t0/echo.0', 'default/test/agent/t1/echo.0']);
  });

  it('run once over a continue-as-new, whatever a hook makes of their results', async () => {
    let runs = 0;
    const counting = defineTool({ description: 'Counts.', inputSchema: z.object({ text: z.string() }), execute: () => ++runs });
    const forgetting: AgentMiddleware = {
      name: 'forgetting',
      afterToolCalls: ({ messages }) => ({ messages: messages.slice(0, 1) }),
      beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt('Go?')),
    };
    const { run } = await start([user, calling('a')], { agent: { middleware: [forgetting] }, tools: { ...tools, echo: counting } });
    await answerAnew(run);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(runs).toBe(1);
  });

  it('may give the result of the run, and be unknown to the agent', async () => {
    const direct = await start([user, calling('a')], { agent: { returnDirectly: ['echo'] }, steps: [] });
    expect(await direct.run.outcome()).toMatchObject({ status: 'completed', output: 'a' });
    const unknown = await start([user, calling('a')], { agent: { tools: ['add'] } });
    expect((await transcriptOf(unknown.run))[2]).toMatch(/^tool: error The model called tool 'echo', which this agent does not have/);
  });

  it('count among the messages with tools', async () => {
    const { run } = await start([user, calling('a')], { agent: { maxToolIterations: 1 }, steps: [{ toolCalls: [echo('b')] }] });
    expect(await run.outcome()).toMatchObject({ error: { code: 'max-tool-iterations' } });
  });

  it('do not run without the option, and the model is not called with them', async () => {
    const { run, model } = await start([user, calling('a', 'b'), said('a')], {
      runPendingToolCalls: false,
      agent: { retry: { maxRetries: 3 } },
    });
    expect(await run.outcome()).toMatchObject(failure('input-invalid', /'echo' \(b\)\. Start with runPendingToolCalls: true/));
    expect(model.requests).toEqual([]);
  });

  it.each<[string, AgentMiddleware]>([
    ['hook', { name: 'mending', beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, said('a')] }) }],
    ['layer', { name: 'mending', wrapModel: (request, next) => next({ ...request, messages: [...request.messages, said('a')] }) }],
  ])('are no problem without the option when a %s answers them', async (_, middleware) => {
    const run = await testRun(agentUnder(middleware), {
      input: [user, calling('a')] as unknown as Json,
      model: scriptedModel([{ text: 'Done.' }]),
      tools,
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('change nothing for another input', async () => {
    const { run } = await start([user]);
    expect(await transcriptOf(run)).toEqual(['user: Say it.', 'assistant: Done.']);
    const text = await testRun(agentWith(), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools, runPendingToolCalls: true });
    expect(await text.outcome()).toMatchObject({ status: 'completed' });
  });

  it('are an option that is true or false', async () => {
    const odd = testRun(agentWith(), { input: 'Hi', model: scriptedModel([]), tools, runPendingToolCalls: 'yes' as unknown as boolean });
    await expect(odd).rejects.toMatchObject({ code: 'input-invalid' });
  });
});
