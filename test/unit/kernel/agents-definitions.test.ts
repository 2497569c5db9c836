import { z } from 'zod';
import type { Agent } from 'holdfast/workflow';
import { agentTool, customAgent, deepAgent, parallel, planExecute, sequential, supervisor } from 'holdfast/workflow';
import { budget, modelCallLimit, pii, summarization, todo, toolCallLimit } from 'holdfast/middleware';
import { callbacks, toolCallbacks } from 'holdfast/callbacks';
import { setSubAgents, withDeterministicTransfer } from 'holdfast/eino';
import { testRun } from 'holdfast/testing';
import { agentsOf } from '../../../kernel/define/agents-of-module';
import { errorSaying, failureSaying } from '../../support/failures';
import { tools } from '../../support/memory-bed';
import { byHand, member, scripts } from '../../support/team-bed';

const runnable = (agent: Agent<string, string, unknown>) => agentsOf({ agent });
const nameless = (name: string): Agent<string> => sequential({ name, agents: [member(`${name}-inner`)] });
const twice = (): readonly Agent<string>[] => [member('a'), member('a')].slice(0, 1).flatMap((one) => [one, one]);
const deep = { name: 'd', description: 'D.', model: 'm' };
const untyped = (value: unknown): never => value as never;
const handsOver = (to = 'b') => withDeterministicTransfer(member('a'), { to: [to] });
const plan = (parts: object) => untyped({ name: 'p', planner: { model: 'm' }, executor: member('e'), replanner: { model: 'm' }, ...parts });
const ofObject = 'must be a JSON Schema of an object, such as { type: "object", properties: { … } }.';
const noName = 'must be a name. It is {}: a name is 1 to 64 letters, digits, _ or -, starting with a letter or _.';
const noKey = 'outputKey must be the key of a session value: a string that is not empty, and not "__proto__"';
const noOptions = 'callbacks: the options must be an object with name, plugins, model, tool, agent, onlyTools, changesOutput, not ';

describe('a definition that would go wrong later', () => {
  it.each<[string, () => unknown]>([
    [
      'agentTool("a"): the options must be an object with name, description, inputSchema, fullHistory, forwardEvents,',
      () => agentTool(member('a'), untyped(null)),
    ],
    ['agentTool("a"): name must be a name', () => agentTool(member('a'), { name: 'bad name!' })],
    ['agentTool("a"): description must be a string. It is 5.', () => agentTool(member('a'), untyped({ description: 5 }))],
    ['agentTool("a"): an agent needs a description', () => agentTool(nameless('a'))],
    [`agentTool("a"): inputSchema ${ofObject} It is [].`, () => agentTool(member('a'), { inputSchema: [] })],
    [`agentTool("a"): inputSchema ${ofObject}`, () => agentTool(member('a'), untyped({ inputSchema: z.object({}) }))],
    [
      'agentTool("a"): inputSchema must be a JSON Schema: it has a $ref to "https://a.example/in.json", which is',
      () => agentTool(member('a'), { inputSchema: { $ref: 'https://a.example/in.json' } }),
    ],
    ['agentTool("a"): fullHistory must be true or false. It is "yes".', () => agentTool(member('a'), untyped({ fullHistory: 'yes' }))],
    ['forwardEvents ', () => agentTool(member('a'), untyped({ forwardEvents: 'false' }))],
    [
      'Agent "a": historyRewriter must be a function: (history, agent) => messages. It is "no".',
      () => member('a', untyped({ historyRewriter: 'no' })),
    ],
    [`Agent "a": ${noKey}`, () => member('a', { outputKey: '__proto__' })],
    [`Agent "a": ${noKey}`, () => member('a', { outputKey: '' })],
    [`Agent "a": ${noKey}`, () => member('a', untyped({ outputKey: 7 }))],
    [
      'Agent "a": disallowTransferToParent must be true or false. It is "no".',
      () => member('a', untyped({ disallowTransferToParent: 'no' })),
    ],
    ['Agent "p": "a" stands twice among its sub-agents', () => member('p', { subAgents: twice() })],
    ['Agent "p": "a" stands twice among its sub-agents', () => setSubAgents(member('p'), twice())],
    ['supervisor "s": "a" stands twice among the specialists', () => supervisor({ name: 's', supervisor: member('p'), agents: twice() })],
    ['"a" stands twice', () => byHand('c', async function* () {}, twice())],
    ['its agents must be an array of agents, not null.', () => customAgent(untyped({ name: 'c', agents: null, async *run() {} }))],
    ['entry 1 of its agents is none', () => sequential({ name: 's', agents: Array.from<Agent<string>>({ length: 2 }) })],
    ['Agent "p": its sub-agent "a" needs a description', () => member('p', { subAgents: [nameless('a')] })],
    ['Agent "p": its sub-agent "a" needs a description', () => supervisor({ name: 's', supervisor: member('p'), agents: [nameless('a')] })],
    ['setSubAgents: it takes an agent', () => setSubAgents(untyped(undefined), [member('a')])],
    ['Agent "p": its agents must be an array of agents, not undefined.', () => setSubAgents(member('p'), untyped(undefined))],
    [
      'Agent "p": its sub-agent "a" hands over to "q", and can hand over to "p" only',
      () => setSubAgents(member('p'), [withDeterministicTransfer(member('a'), { to: ['p', 'q'] })]),
    ],
    [
      'The agent "a" hands over to others when it has ended, and in "s" nobody can take over',
      () => runnable(sequential({ name: 's', agents: [handsOver(), member('b')] })),
    ],
    ['and in "s" nobody can take over', () => runnable(parallel({ name: 's', agents: [handsOver(), member('b')] }))],
    ['and in "p" nobody can take over', () => runnable(member('p', { tools: [agentTool(handsOver('p'))] }))],
    ['withDeterministicTransfer: it takes an agent', () => withDeterministicTransfer(untyped(undefined), { to: ['b'] })],
    [
      'withDeterministicTransfer "a": to must be an array of at least one name of an agent: { to: ["…"] }. It is missing.',
      () => withDeterministicTransfer(member('a'), untyped(undefined)),
    ],
    ['there is no option "foo"; there is only to.', () => withDeterministicTransfer(member('a'), untyped({ to: ['b'], foo: 1 }))],
    [`agentTool("a"): name ${noName}`, () => agentTool(member('a'), untyped({ name: Object.create(null) }))],
    ['did you mean withoutWriteTodos?', () => deepAgent(untyped({ ...deep, withoutWriteTodo: true }))],
    ['did you mean middleware?', () => deepAgent(untyped({ ...deep, middlewares: [] }))],
    ['deepAgent "d": middleware must be an array', () => deepAgent(untyped({ ...deep, middleware: todo() }))],
    ['Agent "d": description must be a string. It is missing.', () => deepAgent(untyped({ name: 'd', model: 'm' }))],
    [`deepAgent "{}": name ${noName}`, () => deepAgent(untyped({ ...deep, name: Object.create(null) }))],
    ['budget: give it tokens, money or both', () => budget(untyped(undefined))],
    ['pii: say what to look for', () => pii(untyped(undefined))],
    ['modelCallLimit: give it perRun or perAgent', () => modelCallLimit(untyped(undefined))],
    ['toolCallLimit: give it perRun or perAgent', () => toolCallLimit(untyped(undefined))],
    [noOptions, () => callbacks(untyped(null))],
    [noOptions, () => callbacks(untyped('x'))],
    ['there is no option "tools"; did you mean tool?', () => callbacks(untyped({ tools: toolCallbacks() }))],
    ['callbacks: model must be a set of callbacks, made with modelCallbacks. It is {}.', () => callbacks(untyped({ model: {} }))],
    ['callbacks: plugins must be an array of plugins, each made with plugin. It is {}.', () => callbacks(untyped({ plugins: {} }))],
    [
      'summarization: there is no option "settings.temprature"; did you mean temperature?',
      () => summarization(untyped({ model: 'm', settings: { temprature: 1 } })),
    ],
    [
      'planner of planExecute "p": settings must be an object such as { temperature: 0 }. It is a Map.',
      () => planExecute(plan({ planner: { model: 'm', settings: new Map() } })),
    ],
    ['deepAgent: the options must be an object with name, description and model, not undefined.', () => deepAgent(untyped(undefined))],
    ['deepAgent "undefined": name must be a name. It is missing.', () => deepAgent(untyped({}))],
    ['forwardEvents ', () => deepAgent(untyped({ name: 'd', model: 'm', forwardEvents: 'no' }))],
    ['taskDescription of deepAgent returned no text', () => deepAgent(untyped({ ...deep, taskDescription: () => undefined }))],
    ['deepAgent "d": its sub-agent "a" needs a description', () => deepAgent({ ...deep, subAgents: [nameless('a')] })],
    ['planExecute: name must be a string that is not blank. It is missing.', () => planExecute(untyped(undefined))],
    ['planner of planExecute "p": there is no option "tools"', () => planExecute(plan({ planner: { model: 'm', tools: [] } }))],
    ['replanner of planExecute "p": model must be the name of a model. It is missing.', () => planExecute(plan({ replanner: {} }))],
  ])('is refused by name: %s', (message, define) => {
    expect(define).toThrow(errorSaying('agent-invalid', message));
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
        byHand('c', async function* () {
          yield { ...says, action: { transferTo: 'nobody' } };
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
    const boss = byHand(
      'boss',
      async function* (_, ctx) {
        return (await ctx.runAgent('clerk')).action ?? null;
      },
      [clerk],
    );
    const run = await testRun(boss, { input: 'Go.', model: scripts({ clerk: [{ text: 'Stamped.' }] }), tools });
    expect(await run.outcome()).toMatchObject({ output: { transferTo: 'desk' } });
  });
});

const team = sequential({ name: 'team', agents: [member('a'), byHand('c', async function* () {})] });

it.each([
  ['that are not in the run', { b: {} }, 'there is no agent "b" in "team". There are: team, a, c.'],
  ['that have no model', { team: { model: 'test/a' } }, 'agents.team.model would change nothing: only one that talks to a model'],
  ['that call no tools', { c: { tools: ['echo'] } }, 'agents.c.tools would change nothing'],
  ['that are not made by hand', { a: { custom: { x: 1 } } }, 'agents.a.custom would change nothing: only one that is made by hand'],
])('options of a start for agents %s are refused', async (_, agents, message) => {
  const run = await testRun(team, { input: 'Go.', model: scripts({}), tools, options: { agents } });
  expect(await run.outcome()).toMatchObject(failureSaying('options-invalid', message));
});
