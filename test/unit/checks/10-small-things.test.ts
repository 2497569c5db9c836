import { z } from 'zod';
import type { Delta } from '../../../contract/deltas';
import type { Json } from '../../../contract/messages/messages';
import { defineTool } from '../../../activities/tools/tools';
import { scriptedModel, testRun } from '../../../testing/index';
import { agentCallbacks, modelCallbacks, toolCallbacks } from '../../../middleware/callbacks/index';
import { customAgent, defineAgent, sequential } from '../../../workflows/index';
import { todo, todosOf } from '../../../middleware/index';
import type { AgentMiddleware } from '../../../workflows/index';
import { agentUnder, agentWith, echo, eventLine, lineOf, logOf, tools, transcriptOf } from '../../support/memory-bed';

describe('[check 10]', () => {
  it('the transcript has the result of transfer_to_agent where its call stands', async () => {
    const member = (name: string): ReturnType<typeof defineAgent> =>
      defineAgent({ name, description: `The ${name}.`, instructions: '', model: name, tools: ['echo'] });
    const first = defineAgent({
      name: 'first',
      description: 'First.',
      instructions: '',
      model: 'first',
      tools: ['echo'],
      subAgents: [member('second')],
    });
    const model = scriptedModel({
      first: [{ toolCalls: [{ name: 'transfer_to_agent', input: { agent_name: 'second' } }, echo('x')] }],
      second: [{ text: 'Second here.' }],
    });
    const run = await testRun(first, { input: 'Hi', model, tools });
    await run.outcome();
    expect((await transcriptOf(run)).slice(2)).toEqual([
      'tool: successfully transferred to agent [second]',
      'tool: x',
      'assistant: Second here.',
    ]);
    expect(model.requests[1]?.messages.map(lineOf).slice(-2)).toEqual([
      'user: For context: [first] `transfer_to_agent` tool returned result: successfully transferred to agent [second].',
      'user: For context: [first] `echo` tool returned result: x.',
    ]);
  });

  it('a customResponse of beforeAgent that does not fit the output ends the agent, and no model is asked', async () => {
    const model = scriptedModel([{ text: '{"n":1}' }]);
    const agent = agentWith({
      output: 'number',
      middleware: [
        agentCallbacks()
          .registerBefore(() => ({ customResponse: 'aborted' }))
          .asMiddleware(),
      ],
    });
    const run = await testRun(agent, { input: 'Hi', model, tools, outputs: { number: z.object({ n: z.number() }) } });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: {
        code: 'output-invalid',
        message: expect.stringMatching(/^The answer of beforeAgent of middleware .* does not fit "number"/),
      },
    });
    expect(model.requests).toHaveLength(0);
  });

  it.each<[string, AgentMiddleware]>([
    [
      'before agent',
      agentCallbacks()
        .registerBefore(() => ({ values: { f: () => 1 } as never }))
        .asMiddleware(),
    ],
    [
      'after agent',
      agentCallbacks()
        .registerAfter(() => ({ values: { f: () => 1 } as never }))
        .asMiddleware(),
    ],
    [
      'before model',
      modelCallbacks()
        .registerBefore(() => ({ values: { f: new Map() } as never }))
        .asMiddleware(),
    ],
    [
      'after model',
      modelCallbacks()
        .registerAfter(() => ({ values: 'text' as never }))
        .asMiddleware(),
    ],
  ])('values of a callback that are no JSON are refused: %s', async (phase, middleware) => {
    const run = await testRun(agentUnder(middleware), {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]),
      tools,
    });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'value-not-json', message: expect.stringMatching(new RegExp(`^${phase} callback returned values that are not JSON`)) },
    });
  });

  it.each<[string, AgentMiddleware]>([
    [
      'before tool',
      toolCallbacks()
        .registerBefore(() => ({ values: { n: Number.NaN } }))
        .asMiddleware(),
    ],
    [
      'after tool',
      toolCallbacks()
        .registerAfter(() => ({ values: { n: 1n } as never }))
        .asMiddleware(),
    ],
  ])('values of a callback around a tool that are no JSON are refused, and the model is told: %s', async (phase, middleware) => {
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const run = await testRun(agentUnder(middleware), { input: 'Hi', model, tools });
    await run.outcome();
    expect((await transcriptOf(run))[2]).toContain(`${phase} callback returned values that are not JSON`);
  });

  it('todosOf finds the list that the agent keeps for itself', async () => {
    const seen: unknown[] = [];
    const looks: AgentMiddleware = { name: 'looks', afterToolCalls: (_, ctx) => void seen.push(todosOf(ctx), todosOf(ctx, 'session')) };
    const todos = [{ content: 'Write', status: 'pending' }];
    const run = await testRun(agentUnder(todo({ keptIn: 'runLocal' }), looks), {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [{ name: 'write_todos', input: { todos } }] }, { text: 'Done.' }]),
      tools,
    });
    await run.outcome();
    expect(seen).toEqual([todos, []]);
  });

  it('callbacks behind the agent see the result with which it ended, also where another one stands behind it', async () => {
    const seen: unknown[] = [];
    const play = async (skips: boolean): Promise<void> => {
      const skip = toolCallbacks().registerAfter(({ result }) => (skips && result === 'first' ? { skipSummarization: true } : undefined));
      const after = agentCallbacks().registerAfter(({ response }) => void seen.push(response?.parts[0]));
      const agent = agentWith({ middleware: [skip.asMiddleware(), after.asMiddleware()], ...(skips ? {} : { returnDirectly: ['echo'] }) });
      const calls = [echo('first'), { name: 'add', input: { a: 1 } as Json }];
      const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ toolCalls: calls }]), tools });
      expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'first' });
    };
    await play(true);
    await play(false);
    expect(seen).toMatchObject([
      { name: 'echo', output: 'first' },
      { name: 'echo', output: 'first' },
    ]);
  });

  it('onDelta of testRun says that a whole answer which was rejected is void', async () => {
    const deltas: Delta[] = [];
    const agent = agentWith({
      retry: { maxRetries: 1, shouldRetry: ({ attempt }: { attempt: number }) => (attempt === 1 ? { retry: true } : undefined) },
    });
    const run = await testRun(agent, {
      input: 'Hi',
      model: scriptedModel([{ text: 'Bad.' }, { text: 'Good.' }], { stream: true }),
      tools,
      stream: true,
      onDelta: (delta) => deltas.push(delta),
    });
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ text: 'Good.' });
    expect(deltas.map(({ type }) => type).filter((type) => type.startsWith('attempt'))).toEqual([
      'attempt-start',
      'attempt-void',
      'attempt-start',
    ]);
  });

  it('onDelta of testRun says that an answer which was rejected for good is void', async () => {
    const deltas: Delta[] = [];
    const agent = agentWith({
      retry: { maxRetries: 0, shouldRetry: () => ({ retry: true, rejectReason: 'It is bad.' }) },
    });
    const run = await testRun(agent, {
      input: 'Hi',
      model: scriptedModel([{ text: 'Bad.' }], { stream: true }),
      tools,
      stream: true,
      onDelta: (delta) => deltas.push(delta),
    });
    expect(await run.outcome()).toMatchObject({ status: 'failed' });
    expect(deltas.map(({ type }) => type).filter((type) => type.startsWith('attempt'))).toEqual(['attempt-start', 'attempt-void']);
  });

  it('the event that came just before a result which is too large stays in the log', async () => {
    const talker = customAgent({
      name: 'talker',
      async *run() {
        yield { name: 'note', output: 'y'.repeat(240_000) };
        return 'x'.repeat(1_400_000);
      },
    });
    const run = await testRun(sequential({ name: 'all', agents: [talker] }), {
      input: 'Hi',
      model: scriptedModel([]),
      tools: { unused: defineTool({ description: 'U.', inputSchema: z.object({}), execute: () => 1 }) },
    });
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'payload-too-large' } });
    expect((await logOf(run)).map(eventLine)).toContain('custom note');
    const alone = await testRun(talker, { input: 'Hi', model: scriptedModel([]), tools: {} });
    await alone.outcome();
    expect((await logOf(alone)).map(eventLine)).toEqual(['run-start', 'custom note', 'run-end']);
  });
});
