import { z } from 'zod';
import type { Agent } from 'holdfast/workflow';
import { agentTool, customAgent, deepAgent, parallel, planExecute, sequential, supervisor } from 'holdfast/workflow';
import { budget, modelCallLimit, pii, summarization, todo, toolCallLimit } from 'holdfast/middleware';
import { callbacks, toolCallbacks } from 'holdfast/callbacks';
import { setSubAgents, withDeterministicTransfer } from 'holdfast/eino';
import { testRun } from 'holdfast/testing';
import { agentsOf } from '../../kernel/define/agents-of-module';
import { tools } from '../support/memory-bed';
import { member, scripts } from '../support/team-bed';

const runnable = (agent: Agent<string, string, unknown>) => agentsOf({ agent });
const nameless = (name: string): Agent<string> => sequential({ name, agents: [member(`${name}-inner`)] });
const twice = (): readonly Agent<string>[] => [member('a'), member('a')].slice(0, 1).flatMap((one) => [one, one]);
const deep = { name: 'd', description: 'D.', model: 'm' };
const untyped = (value: unknown): never => value as never;

describe('a definition that would go wrong later', () => {
  it.each<[string, () => unknown, string]>([
    [
      'a tool with options that are none',
      () => agentTool(member('a'), untyped(null)),
      'agentTool("a"): the options must be an object with name, description, inputSchema, fullHistory, forwardEvents,',
    ],
    ['a tool with a name of another form', () => agentTool(member('a'), { name: 'bad name!' }), 'agentTool("a"): name must be a name'],
    [
      'a tool described by a number',
      () => agentTool(member('a'), untyped({ description: 5 })),
      'agentTool("a"): description must be a string. It is 5.',
    ],
    ['a tool without a description', () => agentTool(nameless('a')), 'agentTool("a"): an agent needs a description'],
    [
      'a tool with a list as its schema',
      () => agentTool(member('a'), { inputSchema: [] }),
      'agentTool("a"): inputSchema must be a JSON Schema of an object, such as { type: "object", properties: { … } }. It is [].',
    ],
    [
      'a tool with a schema of zod',
      () => agentTool(member('a'), untyped({ inputSchema: z.object({}) })),
      'agentTool("a"): inputSchema must be a JSON Schema of an object, such as { type: "object", properties: { … } }.',
    ],
    [
      'a tool with a schema that stands elsewhere',
      () => agentTool(member('a'), { inputSchema: { $ref: 'https://example.com/input.json' } }),
      'agentTool("a"): inputSchema must be a JSON Schema: it has a $ref to "https://example.com/input.json", which is',
    ],
    [
      'a tool with the history "yes"',
      () => agentTool(member('a'), untyped({ fullHistory: 'yes' })),
      'agentTool("a"): fullHistory must be true or false. It is "yes".',
    ],
    ['a tool with the events "false"', () => agentTool(member('a'), untyped({ forwardEvents: 'false' })), 'forwardEvents '],
    [
      'a rewriter that is no function',
      () => member('a', untyped({ historyRewriter: 'no' })),
      'Agent "a": historyRewriter must be a function: (history, agent) => messages. It is "no".',
    ],
    [
      'the session key of every object',
      () => member('a', { outputKey: '__proto__' }),
      'Agent "a": outputKey must be the key of a session value: a string that is not empty, and not "__proto__"',
    ],
    [
      'an empty session key',
      () => member('a', { outputKey: '' }),
      'Agent "a": outputKey must be the key of a session value: a string that is not empty, and not "__proto__"',
    ],
    [
      'a session key that is a number',
      () => member('a', untyped({ outputKey: 7 })),
      'Agent "a": outputKey must be the key of a session value: a string that is not empty, and not "__proto__"',
    ],
    [
      'the way back as a text',
      () => member('a', untyped({ disallowTransferToParent: 'no' })),
      'Agent "a": disallowTransferToParent must be true or false. It is "no".',
    ],
    ['the same sub-agent twice', () => member('p', { subAgents: twice() }), 'Agent "p": "a" stands twice among its sub-agents'],
    ['the same sub-agent twice, set', () => setSubAgents(member('p'), twice()), 'Agent "p": "a" stands twice among its sub-agents'],
    [
      'the same specialist twice',
      () => supervisor({ name: 's', supervisor: member('p'), agents: twice() }),
      'supervisor "s": "a" stands twice among the specialists',
    ],
    ['the same agent twice for one made by hand', () => customAgent({ name: 'c', agents: twice(), async *run() {} }), '"a" stands twice'],
    [
      'no list for one made by hand',
      () => customAgent(untyped({ name: 'c', agents: null, async *run() {} })),
      'its agents must be an array of agents, not null.',
    ],
    [
      'a list with a hole',
      () => sequential({ name: 's', agents: Array.from<Agent<string>>({ length: 2 }) }),
      'entry 1 of its agents is none',
    ],
    [
      'a sub-agent without a description',
      () => member('p', { subAgents: [nameless('a')] }),
      'Agent "p": its sub-agent "a" needs a description',
    ],
    [
      'a specialist without a description',
      () => supervisor({ name: 's', supervisor: member('p'), agents: [nameless('a')] }),
      'Agent "p": its sub-agent "a" needs a description',
    ],
    ['sub-agents of nothing', () => setSubAgents(untyped(undefined), [member('a')]), 'setSubAgents: it takes an agent'],
    [
      'sub-agents that are no list',
      () => setSubAgents(member('p'), untyped(undefined)),
      'Agent "p": its agents must be an array of agents, not undefined.',
    ],
    [
      'a hand-over to nobody who is there',
      () => setSubAgents(member('p'), [withDeterministicTransfer(member('a'), { to: ['p', 'q'] })]),
      'Agent "p": its sub-agent "a" hands over to "q", and can hand over to "p" only',
    ],
    [
      'a hand-over in a sequence',
      () => runnable(sequential({ name: 's', agents: [withDeterministicTransfer(member('a'), { to: ['b'] }), member('b')] })),
      'The agent "a" hands over to others when it has ended, and in "s" nobody can take over',
    ],
    [
      'a hand-over in parallel',
      () => runnable(parallel({ name: 's', agents: [withDeterministicTransfer(member('a'), { to: ['b'] }), member('b')] })),
      'and in "s" nobody can take over',
    ],
    [
      'a hand-over as a tool',
      () => runnable(member('p', { tools: [agentTool(withDeterministicTransfer(member('a'), { to: ['p'] }))] })),
      'and in "p" nobody can take over',
    ],
    [
      'a hand-over of nothing',
      () => withDeterministicTransfer(untyped(undefined), { to: ['b'] }),
      'withDeterministicTransfer: it takes an agent',
    ],
    [
      'a hand-over without options',
      () => withDeterministicTransfer(member('a'), untyped(undefined)),
      'withDeterministicTransfer "a": to must be an array of at least one name of an agent: { to: ["…"] }. It is missing.',
    ],
    [
      'a hand-over with more',
      () => withDeterministicTransfer(member('a'), untyped({ to: ['b'], foo: 1 })),
      'there is no option "foo"; there is only to.',
    ],
    [
      'a tool with a name that is no text',
      () => agentTool(member('a'), untyped({ name: Object.create(null) })),
      'agentTool("a"): name must be a name. It is {}: a name is 1 to 64 letters, digits, _ or -, starting with a letter or _.',
    ],
    [
      'a deep agent with a misspelt switch',
      () => deepAgent(untyped({ ...deep, withoutWriteTodo: true })),
      'did you mean withoutWriteTodos?',
    ],
    ['a deep agent with a misspelt option', () => deepAgent(untyped({ ...deep, middlewares: [] })), 'did you mean middleware?'],
    [
      'a deep agent with a middleware without a list',
      () => deepAgent(untyped({ ...deep, middleware: todo() })),
      'deepAgent "d": middleware must be an array',
    ],
    [
      'a deep agent without a description',
      () => deepAgent(untyped({ name: 'd', model: 'm' })),
      'Agent "d": description must be a string. It is missing.',
    ],
    [
      'a deep agent whose name is no text',
      () => deepAgent(untyped({ ...deep, name: Object.create(null) })),
      'deepAgent "{}": name must be a name. It is {}: a name is 1 to 64 letters, digits, _ or -, starting with a letter or _.',
    ],
    ['a budget of nothing', () => budget(untyped(undefined)), 'budget: give it tokens, money or both'],
    ['personal data of no kind', () => pii(untyped(undefined)), 'pii: say what to look for'],
    ['calls of the model without a limit', () => modelCallLimit(untyped(undefined)), 'modelCallLimit: give it perRun or perAgent'],
    ['calls of tools without a limit', () => toolCallLimit(untyped(undefined)), 'toolCallLimit: give it perRun or perAgent'],
    [
      'callbacks of nothing',
      () => callbacks(untyped(null)),
      'callbacks: the options must be an object with name, plugins, model, tool, agent, onlyTools, changesOutput, not ',
    ],
    [
      'callbacks that are a text',
      () => callbacks(untyped('x')),
      'callbacks: the options must be an object with name, plugins, model, tool, agent, onlyTools, changesOutput, not ',
    ],
    [
      'callbacks with a misspelt set',
      () => callbacks(untyped({ tools: toolCallbacks() })),
      'there is no option "tools"; did you mean tool?',
    ],
    [
      'callbacks with a set that is none',
      () => callbacks(untyped({ model: {} })),
      'callbacks: model must be a set of callbacks, made with modelCallbacks. It is {}.',
    ],
    [
      'callbacks with one plugin',
      () => callbacks(untyped({ plugins: {} })),
      'callbacks: plugins must be an array of plugins, each made with plugin. It is {}.',
    ],
    [
      'a summary with a misspelt setting',
      () => summarization(untyped({ model: 'm', settings: { temprature: 1 } })),
      'summarization: there is no option "settings.temprature"; did you mean temperature?',
    ],
    [
      'a planner with settings that are a map',
      () =>
        planExecute(untyped({ name: 'p', planner: { model: 'm', settings: new Map() }, executor: member('e'), replanner: { model: 'm' } })),
      'planner of planExecute "p": settings must be an object such as { temperature: 0 }. It is a Map.',
    ],
    [
      'a deep agent of nothing',
      () => deepAgent(untyped(undefined)),
      'deepAgent: the options must be an object with name, description and model, not undefined.',
    ],
    ['a deep agent without a name', () => deepAgent(untyped({})), 'deepAgent "undefined": name must be a name. It is missing.'],
    ['a deep agent with a switch as a text', () => deepAgent(untyped({ name: 'd', model: 'm', forwardEvents: 'no' })), 'forwardEvents '],
    [
      'a deep agent whose task nothing is said of',
      () => deepAgent(untyped({ name: 'd', description: 'D.', model: 'm', taskDescription: () => undefined })),
      'taskDescription of deepAgent returned no text',
    ],
    [
      'a deep agent with a sub-agent without a description',
      () => deepAgent({ name: 'd', description: 'D.', model: 'm', subAgents: [nameless('a')] }),
      'deepAgent "d": its sub-agent "a" needs a description',
    ],
    ['a plan of nothing', () => planExecute(untyped(undefined)), 'planExecute: name must be a string that is not blank. It is missing.'],
    [
      'a planner with a field that there is not',
      () => planExecute(untyped({ name: 'p', planner: { model: 'm', tools: [] }, executor: member('e'), replanner: { model: 'm' } })),
      'planner of planExecute "p": there is no option "tools"',
    ],
    [
      'a replanner without a model',
      () => planExecute(untyped({ name: 'p', planner: { model: 'm' }, executor: member('e'), replanner: {} })),
      'replanner of planExecute "p": model must be the name of a model. It is missing.',
    ],
  ])('is refused by name: %s', (_, define, message) => {
    expect(define).toThrow(expect.objectContaining({ code: 'agent-invalid', message: expect.stringContaining(message) as string }));
  });

  it('is no agent that stands twice in a sequence or in parallel', () => {
    expect(sequential({ name: 's', agents: twice() }).name).toBe('s');
    expect(parallel({ name: 'p', agents: twice() }).name).toBe('p');
  });
});

describe('a hand-over that nobody can take over', () => {
  const says = { message: { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Over.' }] } };

  it.each<[string, () => Agent<string>, string]>([
    ['of the agent of a run', () => withDeterministicTransfer(member('a'), { to: ['nobody'] }), 'a'],
    [
      'of one made by hand',
      () =>
        customAgent({
          name: 'c',
          async *run() {
            yield { ...says, action: { transferTo: 'nobody' } };
          },
        }),
      'c',
    ],
  ])('fails the run: %s', async (_, agent, name) => {
    const run = await testRun(agent(), { input: 'Go.', model: scripts({ a: [{ text: 'Over.' }] }), tools });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'transfer-failed', message: `transfer failed: agent 'nobody' not found when transferring from '${name}'` },
    });
  });

  it('is none where the agent is exported beside the one that takes over, or is run by one made by hand', async () => {
    const clerk = withDeterministicTransfer(member('clerk'), { to: ['desk'] });
    expect([...agentsOf({ clerk, desk: setSubAgents(member('desk'), [clerk]) }).keys()]).toEqual(['clerk', 'desk']);
    const boss = customAgent({
      name: 'boss',
      agents: [clerk],
      async *run(_, ctx) {
        return (await ctx.runAgent('clerk')).action ?? null;
      },
    });
    const run = await testRun(boss, { input: 'Go.', model: scripts({ clerk: [{ text: 'Stamped.' }] }), tools });
    expect(await run.outcome()).toMatchObject({ output: { transferTo: 'desk' } });
  });
});

describe('options of a start for agents', () => {
  const team = sequential({ name: 'team', agents: [member('a'), customAgent({ name: 'c', async *run() {} })] });
  it.each([
    ['that are not in the run', { b: {} }, 'there is no agent "b" in "team". There are: team, a, c.'],
    ['that have no model', { team: { model: 'test/a' } }, 'agents.team.model would change nothing: only one that talks to a model'],
    ['that call no tools', { c: { tools: ['echo'] } }, 'agents.c.tools would change nothing'],
    ['that are not made by hand', { a: { custom: { x: 1 } } }, 'agents.a.custom would change nothing: only one that is made by hand'],
  ])('%s are refused', async (_, agents, message) => {
    const run = await testRun(team, { input: 'Go.', model: scripts({}), tools, options: { agents } });
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'options-invalid', message: expect.stringContaining(message) as string },
    });
  });
});
