import { scriptedModel, testRun } from '../../../testing/index';
import {
  approval,
  contextEditing,
  patchToolCalls,
  preserveSkills,
  reduction,
  summarization,
  toolCallLimit,
  toolRetry,
  toolSearch,
} from '../../../middleware/index';
import { callbacks, plugin } from '../../../middleware/callbacks/index';
import type { AgentMiddleware, HookContext, Json, Message, AgentOptions, Tools } from '../../../workflows/index';
import { defineAgent } from '../../../workflows/index';
import { toolSearchTool } from '../../../worker/index';
import { asked, called, result, said, user } from '../../support/compaction-bed';
import { agentWith, logOf, startRun, toolOf, tools, transcriptOf } from '../../support/memory-bed';

const call = (name: string, input: Json = {}): { name: string; input: Json } => ({ name, input });
const say = (text: string): { name: string; input: Json } => call('say', { text });
const toolAliases = { echo: { names: ['say'], arguments: { text: ['words'] } }, add: { names: ['plus'], arguments: { a: ['first'] } } };
const aliased = (options: Partial<AgentOptions<Tools, 'agent', Json>> = {}): ReturnType<typeof agentWith> =>
  agentWith({ toolAliases, ...options });
const long = 'o'.repeat(400);

describe('a call under an alias is a call of the tool', () => {
  it('for returnDirectly of the agent, of a hook, and of the run', async () => {
    const model = (): ReturnType<typeof scriptedModel> => scriptedModel([{ toolCalls: [call('plus', { first: 1 }), say('first')] }]);
    const run = await startRun(aliased({ returnDirectly: ['echo'] }), model());
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'first' });
    const other = await startRun(aliased({ middleware: [{ name: 'direct', beforeAgent: () => ({ returnDirectly: ['add'] }) }] }), model());
    expect(await other.outcome()).toMatchObject({ status: 'completed', output: { sum: 2 } });
    const third = await startRun(agentWith({ returnDirectly: ['echo'] }), model(), { options: { toolAliases } });
    expect(await third.outcome()).toMatchObject({ status: 'completed', text: 'first' });
  });

  it('for the events of the call: start and end have one name and one address, and the transcript has what the model wrote', async () => {
    const run = await startRun(aliased(), [{ toolCalls: [say('x'), say('y')] }, { text: 'Done.' }]);
    const log = await logOf(run);
    const starts = log.filter((event) => event.type === 'tool-start');
    const ends = log.filter((event) => event.type === 'tool-end');
    expect(starts.map(({ tool, address }) => [tool, address])).toEqual([
      ['echo', 'agent/t1/echo.0'],
      ['echo', 'agent/t1/echo.1'],
    ]);
    expect(ends.map(({ tool, address }) => [tool, address])).toEqual(starts.map(({ tool, address }) => [tool, address]));
    const [, asking, answer] = await run.transcript();
    expect(asking?.parts).toMatchObject([{ type: 'tool-call', name: 'say' }, { name: 'say' }]);
    expect(answer?.parts).toMatchObject([{ type: 'tool-result', name: 'say', output: 'x' }]);
  });

  it('for the tool exit, by its name and its arguments', async () => {
    const exits = agentWith({ exitTool: true, toolAliases: { exit: { names: ['finish'], arguments: { final_result: ['result'] } } } });
    const run = await startRun(exits, [{ toolCalls: [call('finish', { result: 'All done.' })] }]);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'All done.' });
    expect(await logOf(run)).toContainEqual(expect.objectContaining({ type: 'tool-end', tool: 'exit', action: { exit: true } }));
  });

  it('for the hand-over to another agent, and for the words of it that others are spared', async () => {
    const second = defineAgent({ name: 'second', description: 'Second.', instructions: '', model: 'second', tools: [] });
    const first = defineAgent({
      name: 'first',
      description: 'First.',
      instructions: '',
      model: 'first',
      tools: [],
      subAgents: [second],
      toolAliases: { transfer_to_agent: { names: ['hand_over'], arguments: { agent_name: ['to'] } } },
    });
    const model = scriptedModel({ first: [{ toolCalls: [call('hand_over', { to: 'second' })] }], second: [{ text: 'Second here.' }] });
    const run = await testRun(first, { input: 'Hi', options: { skipTransferMessages: true }, model });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Second here.' });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user']);
  });

  it('for approval, toolCallLimit, toolRetry, callbacks and layers with onlyTools', async () => {
    const seen: unknown[] = [];
    let failures = 1;
    const flaky = toolOf(() => {
      if (failures-- > 0) throw new Error('not yet');
      return 'now';
    });
    const agent = aliased({
      tools: ['echo', 'add', 'flaky'],
      toolAliases: { ...toolAliases, flaky: { names: ['shaky'] } },
      middleware: [
        approval({ tools: { add: true } }),
        toolCallLimit({ tools: ['echo'], perRun: 1 }),
        toolRetry({ tools: ['flaky'], backoff: { first: '1ms' } }),
        callbacks({ onlyTools: ['add'], plugins: [plugin({ name: 'p', beforeTool: ({ toolName }) => void seen.push(toolName) })] }),
      ],
    });
    const run = await startRun(agent, [{ toolCalls: [say('a'), call('plus', { first: 1 }), say('b'), call('shaky')] }, { text: 'Done.' }], {
      tools: { ...tools, flaky },
    });
    await run.advance('1s');
    const [asking] = await run.interrupts();
    expect(asking).toMatchObject({ kind: 'approval', tool: 'add', input: { a: 1, b: 1 } });
    await run.approve(asking?.id ?? '');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const notRun = expect.stringContaining("The call of 'echo' did not run.");
    expect((await transcriptOf(run)).slice(2, 6)).toEqual(['tool: a', 'tool: {"sum":2}', notRun, 'tool: now']);
    expect(seen).toEqual(['add']);
  });

  it('for what a run ends with, and for the calls that an input ends in', async () => {
    const input = [user('Hi'), { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'say', input: { words: 'x' } }] }];
    const run = await startRun(aliased({ returnDirectly: ['echo'] }), [], { input: input as never, runPendingToolCalls: true });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'x' });
  });

  it('for the tool calls that callbacks behind all results see', async () => {
    const seen: unknown[] = [];
    const looks = plugin({ name: 'looks', afterToolMessages: ({ toolCalls }) => void seen.push(...toolCalls) });
    const agent = aliased({ middleware: [callbacks({ plugins: [looks] })] });
    const run = await startRun(agent, [{ toolCalls: [call('say', { words: 'x' })] }, { text: 'Done.' }]);
    await run.outcome();
    expect(seen).toEqual([{ id: expect.any(String), name: 'echo', input: { text: 'x' } }]);
  });

  it('for toolSearch, whose results count under an alias, too', async () => {
    const agent = agentWith({
      tools: [],
      middleware: [toolSearch({ tools: ['echo', 'add'] })],
      toolAliases: { tool_search: { names: ['find'] }, echo: { names: ['say'] } },
    });
    const model = scriptedModel([{ toolCalls: [call('find', { query: 'select:echo' })] }, { text: 'Done.' }]);
    const run = await startRun(agent, model, { tools: { ...tools, tool_search: toolSearchTool(tools) } });
    await run.outcome();
    expect(model.requests.map(({ tools: offered }) => offered.map(({ name }) => name))).toEqual([['tool_search'], ['tool_search', 'echo']]);
  });
});

describe('results behind an alias in older messages', () => {
  const old = [user('Hi'), ...['plus:c1', 'say:c2', 'c3'].flatMap((id) => [called(id), result(id, long)])];
  const outputs = (lines: readonly string[]): readonly string[] =>
    lines.filter((line) => line.startsWith('tool')).map((line) => line.slice(6, 15));

  it.each<[string, readonly AgentMiddleware[]]>([
    ['contextEditing excludes their tool', []],
    ['the tool is not offered any more', [{ name: 'less', beforeAgent: () => ({ tools: ['add'] }) }]],
  ])('stay where %s', async (_, layers) => {
    const editing = contextEditing({ triggerTokens: 20, keep: 1, excludeTools: ['echo'] });
    const { lines } = await asked([...layers, editing], old, { agent: { toolAliases } });
    expect(outputs(lines)).toEqual(['[cleared]', 'ooooooooo', 'ooooooooo']);
  });

  it('stay where contextEditing excludes their tool in a later turn of one run', async () => {
    const steps = [{ toolCalls: [say(long)] }, { toolCalls: [call('plus', { first: 1 })] }, { toolCalls: [say('z')] }, { text: 'Done.' }];
    const { requests } = await asked([contextEditing({ triggerTokens: 20, keep: 0, excludeTools: ['echo'] })], [user('Hi')], {
      steps,
      agent: { toolAliases },
    });
    const results = requests.at(-1)?.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part] : [])));
    expect(results?.map(({ name, output }) => [name, output])).toEqual([
      ['say', long],
      ['plus', '[cleared]'],
      ['say', 'z'],
    ]);
  });

  it('stay where reduction excludes their tool, and are cleared as the tool says; functions get the call by its own name and keys', async () => {
    const calls: unknown[] = [];
    const clear = ({ call: cleared }: { call: unknown }): string => (calls.push(cleared), 'mine');
    const messages = old.map((message) => JSON.parse(JSON.stringify(message).replace('{"text":"c1 in"}', '{"first":1}')) as Message);
    const { lines } = await asked(
      [reduction({ maxTokensForClear: 20, clearExcludeTools: ['echo'], toolConfig: { add: { clear } }, skipTruncation: true })],
      messages,
      { agent: { toolAliases } },
    );
    expect(outputs(lines)).toEqual(['mine', 'ooooooooo', 'ooooooooo']);
    expect(calls).toEqual([{ id: 'c1', name: 'add', input: { a: 1 } }]);
  });

  it('are the skills that preserveSkills keeps', async () => {
    const inputSchema = { type: 'object', properties: { skill: { type: 'string' } } };
    const recipe = { name: 'recipe', description: 'Loads a skill.', inputSchema, execute: () => '' };
    const input = [
      user('Hi'),
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'load', input: { which: 'sums' } }] } as Message,
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'load', output: 'How to add.' }] } as Message,
      said(long),
    ];
    const { requests } = await asked(
      [summarization({ model: 'summary', trigger: { tokens: 20 }, finalize: preserveSkills({ skillToolName: 'recipe' }) })],
      [...input, user('Go on.')],
      {
        models: { summary: scriptedModel([{ text: 'A summary.' }]) },
        agent: { tools: [recipe], toolAliases: { recipe: { names: ['load'], arguments: { skill: ['which'] } } } },
      },
    );
    expect(JSON.stringify(requests[0]?.messages)).toContain('<skill name=\\"sums\\">');
  });

  it('are named by their tool to the function of patchToolCalls', async () => {
    const named: string[] = [];
    const content = (tool: string): string => (named.push(tool), 'gone');
    await asked([patchToolCalls({ content })], [user('Hi'), called('say:c1'), user('Go on.')], { agent: { toolAliases } });
    expect(named).toEqual(['echo']);
  });

  it('and calls are resolved for hooks of users', async () => {
    const seen: unknown[] = [];
    const looks = {
      name: 'looks',
      beforeModelRewriteState: ({ messages }: { messages: readonly Message[] }, ctx: HookContext): undefined => {
        const named = ctx.namedCall(call('say', { words: 'x' }) as never);
        seen.push(ctx.nameOfTool('say'), ctx.nameOfTool('nobody'), ctx.namedCalls(messages[1] as Message), named);
      },
    };
    await asked([looks], old, { agent: { toolAliases } });
    expect(seen).toEqual([
      'echo',
      'nobody',
      [{ id: 'c1', name: 'add', input: { text: 'c1 in' } }],
      { id: undefined, name: 'echo', input: { text: 'x' } },
    ]);
  });
});
