import type { LanguageModel } from '../../activities/models/language-model';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { scriptedModel, testRun } from '../../testing/index';
import type { HookContext, Json, Part } from '../../workflows/index';
import { agenticMiddleware, messagesOf, setSubAgents, withDeterministicTransfer } from '../../middleware/forms/index';
import { customAgent, sequential } from '../../workflows/index';
import { failure, failureSaying } from '../support/failures';
import { gate } from '../support/gate';
import { agentWith, logOf, only, startRun, transcriptOf } from '../support/memory-bed';
import { heard, member, placed, scripts, teamModel, transfer } from '../support/team-bed';
import * as agents from './agents';
import type { Engine } from './engines';
import { closeEngines, onEngines, onServer } from './engines';
import * as teams from './team-agents';
import { holder, tools } from './tools';

/* Eino, interrupt and resume (5.5). A resume with targets is one answer per target; a resume without data is null. */

afterAll(closeEngines);

const infoOf = (interrupt: Interrupt): Json | undefined => ('info' in interrupt ? interrupt.info : undefined);
const agentsAt = (interrupt: Interrupt, count: number): string => interrupt.address.slice(0, count).join('/');
const answersOf = (log: readonly RunEvent[]): readonly string[] =>
  log.flatMap((event) => (event.type === 'model-end' ? [event.runPath.join('/')] : []));
const says = (name: string, ...texts: readonly string[]) => texts.map((text) => ({ name, input: { text } }));
const asks = (...texts: readonly string[]) => says('asks', ...texts);

it('[eino 118] an interrupt is described whole as soon as it is raised, and its address names what stands around it', async () => {
  const run = await startRun(agents.asksForHistory, [{ toolCalls: asks('first', 'second') }], { tools });
  const log = await logOf(run);
  const raised = log.flatMap((event) => (event.type === 'interrupt-start' ? [event.interrupt] : []));
  expect(raised).toHaveLength(4);
  expect(await run.interrupts()).toEqual(raised);
  expect(new Set(raised.map(({ id }) => id)).size).toBe(4);
  for (const [position, text] of ['first', 'second'].entries()) {
    const wrap = ['asksForHistory', 't1', `asks.${position}`, 'history'];
    const ofTool = only(raised.filter((interrupt) => JSON.stringify(infoOf(interrupt)) === JSON.stringify({ question: text })));
    const ofWrap = only(raised.filter(({ address }) => JSON.stringify(address) === JSON.stringify(wrap)));
    // The wrap around the tool is the parent, so the tool's address begins with the wrap's address.
    expect(ofWrap).toMatchObject({ agent: 'asksForHistory', kind: 'question', info: 'history' });
    expect(ofTool).toMatchObject({ agent: 'asksForHistory', kind: 'question' });
    expect(ofTool.address.slice(0, wrap.length)).toEqual(wrap);
    expect(ofTool.address.length).toBeGreaterThan(wrap.length);
  }
});

onEngines('[eino 119] a run that streams waits, and its tool goes on after an answer without data', async (engine) => {
  const modes: string[] = [];
  const results: unknown[] = [];
  const model: LanguageModel = {
    async generate() {
      modes.push('generate');
      return { parts: [] };
    },
    async *stream({ messages }) {
      modes.push('stream');
      const result = messages.at(-1)?.parts[0];
      if (result?.type === 'tool-result') results.push(result.output);
      if (modes.length > 1) yield { type: 'text', text: 'Done.' };
      else yield { type: 'part', part: { type: 'tool-call', id: 'c1', name: 'asksPlainly', input: { text: 'Go on?' } } };
      yield { type: 'finish' };
    },
  };
  const run = await engine.play(agents.plain, { model, stream: true });
  const interrupt = only(await run.waiting(1));
  expect(infoOf(interrupt)).toBe('Go on?');
  await run.resume(interrupt.id, null);
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  // The tool is entered again as interrupted and answered, without data and state.
  expect(results).toEqual(['{"answer":null}']);
  expect(modes).toEqual(['stream', 'stream']);
});

onEngines('[eino 121] a sequence waits in one agent after the other, at their addresses, and the rest runs after', async (engine) => {
  const said = (text: string) => [{ text }];
  const model = teamModel({ first: said('1.'), second: said('2.'), third: said('3.'), fourth: said('4.') });
  const run = await engine.play(teams.inTurn, { model });
  for (const name of ['first', 'second']) {
    const interrupt = only(await run.waiting(1));
    expect([agentsAt(interrupt, 2), interrupt.agent, infoOf(interrupt)]).toEqual([`inTurn/${name}`, name, `${name}?`]);
    await run.resume(interrupt.id, `for ${name}`);
  }
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: '4.' });
  expect(await run.notes()).toEqual([
    ['first', 'for first'],
    ['second', 'for second'],
  ]);
  expect(answersOf(await run.log())).toEqual(['inTurn/first', 'inTurn/second', 'inTurn/third', 'inTurn/fourth']);
});

onEngines('[eino 122] a loop waits in every round, at an address of the round', async (engine) => {
  const twice = [{ text: 'A.' }, { text: 'B.' }];
  const model = teamModel({ writer: twice, critic: twice });
  const run = await engine.play(teams.inRounds, { model });
  const places = ['inRounds/writer', 'inRounds/critic', 'inRounds/writer#2', 'inRounds/critic#2'];
  for (const place of places) {
    const interrupt = only(await run.waiting(1));
    expect(agentsAt(interrupt, 2)).toBe(place);
    await run.resume(interrupt.id, 'yes');
  }
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'B.' });
  expect(answersOf(await run.log())).toEqual(places);
});

onEngines('[eino 123] parallel agents wait side by side, and one that has ended is not run again', async (engine) => {
  const model = teamModel({ left: [{ text: 'L.' }], middle: [{ text: 'M.' }], right: [{ text: 'R.' }] });
  const run = await engine.play(teams.besides, { model });
  const interrupts = await run.waiting(2);
  expect(interrupts.map((interrupt) => agentsAt(interrupt, 2)).sort()).toEqual(['besides/left', 'besides/right']);
  await run.goOnAsNew();
  for (const { id } of interrupts) await run.resume(id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: { left: 'L.', middle: 'M.', right: 'R.' } });
  expect([...answersOf(await run.log())].sort()).toEqual(['besides/left', 'besides/middle', 'besides/right']);
  expect(model.requests('middle')).toHaveLength(1);
});

onEngines('[eino 124] a tool gets its answer, and the agent other messages, in one resume', async (engine) => {
  const model = scriptedModel([{ toolCalls: asks('Which?') }, { text: 'Done.' }]);
  const run = await engine.play(agents.asksForHistory, { model });
  const interrupts = await run.waiting(2);
  const idOf = (isTool: boolean): string => only(interrupts.filter((interrupt) => (infoOf(interrupt) === 'history') !== isTool)).id;
  await run.resume(idOf(false), 'Changed.');
  await run.resume(idOf(true), 'data');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  const output = 'Which?: "data" with {"asked":"Which?"}';
  const ends = (await run.log()).flatMap((event) => (event.type === 'tool-end' ? [event.message.parts[0]] : []));
  expect(ends).toMatchObject([{ output }]);
  expect(model.requests[1]?.messages.map(({ parts }) => parts[0])).toMatchObject([{ text: 'Changed.' }, {}, { output }]);
  expect((await run.transcript())[0]).toBe('user: Changed.');
});

onEngines('[eino 126] agents that hand over in a circle stand in the address as often as they were entered', async (engine) => {
  const model = teamModel({
    circleA: [transfer('circleB'), transfer('circleC')],
    circleB: [transfer('circleA')],
    circleC: [{ text: 'Here.' }],
  });
  const run = await engine.play(teams.circleA, { model });
  const interrupt = only(await run.waiting(1));
  expect(agentsAt(interrupt, 4)).toBe('circleA/circleB/circleA/circleC');
  expect(interrupt.agent).toBe('circleC');
  await run.resume(interrupt.id, 'data');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Here.' });
  expect(await run.notes()).toEqual([['circleC', 'data']]);
  expect(answersOf(await run.log()).at(-1)).toBe('circleA/circleB/circleA/circleC');
});

onEngines('[eino 127] of two tools that wait one is answered, the other waits on, and later interrupts begin afresh', async (engine) => {
  const model = scriptedModel([{ toolCalls: asks('a1', 'b1') }, { toolCalls: asks('a2', 'b2') }, { text: 'Done.' }]);
  const run = await engine.play(agents.plain, { model });
  const answered: string[] = [];
  for (const turn of [1, 2]) {
    const both = await run.waiting(2);
    expect(both.map(infoOf)).toEqual(expect.arrayContaining([{ question: `a${turn}` }, { question: `b${turn}` }]));
    const [first, second] = both as [Interrupt, Interrupt];
    await run.resume(first.id, 'yes');
    const left = only(await run.waiting(1));
    expect(left).toEqual(second);
    await expect(run.resume(first.id, 'again')).rejects.toMatchObject({ code: 'interrupt-answered' });
    await run.resume(left.id, 'yes');
    answered.push(first.id, second.id);
  }
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(new Set(answered).size).toBe(4);
  expect((await run.transcript()).filter((line) => line.startsWith('tool'))).toEqual(
    ['a1', 'b1', 'a2', 'b2'].map((text) => `tool: ${text}: "yes" with {"asked":"${text}"}`),
  );
});

onEngines(
  '[eino 128] a tool of an agent that is a tool waits at an address through both, and both end after the answer',
  async (engine) => {
    const model = teamModel({
      outside: [{ toolCalls: [{ name: 'inside', input: { request: 'Ask.' } }] }, { text: 'All done.' }],
      inside: [{ toolCalls: asks('Well?') }, { text: 'Inner done.' }],
    });
    const run = await engine.play(teams.outside, { model });
    const interrupt = only(await run.waiting(1));
    expect(infoOf(interrupt)).toEqual({ question: 'Well?' });
    expect(interrupt.agent).toBe('inside');
    expect(interrupt.address.slice(0, 5)).toEqual(['outside', 't1', 'inside.0', 'inside', 'inside!1']);
    expect((await run.lines()).filter((line) => line === 'interrupt-start')).toHaveLength(1);
    await run.resume(interrupt.id, 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'All done.' });
    const output = model.requests('outside')[1]?.messages.at(-1)?.parts[0];
    expect(output).toMatchObject({ type: 'tool-result', name: 'inside', output: 'Inner done.' });
    expect(model.requests('inside')).toHaveLength(2);
  },
);

onEngines('[eino 129] a result that is returned directly is shown after the tool beside it was answered', async (engine) => {
  const model = scriptedModel([{ toolCalls: [...says('echo', 'Direct.'), ...asks('Well?')] }]);
  const run = await engine.play(agents.directAsks, { model });
  const interrupt = only(await run.waiting(1));
  const ends = async (): Promise<readonly string[]> =>
    (await run.log()).flatMap((event) => (event.type === 'tool-end' ? [event.tool] : []));
  expect(await ends()).toEqual([]);
  await run.resume(interrupt.id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Direct.' });
  expect(await ends()).toEqual(['asks', 'echo']);
});

onEngines('[eino 129] a tool that a hook added is still offered after an answer', async (engine) => {
  const model = scriptedModel([{ toolCalls: asks('Well?') }, { toolCalls: says('streams', 'x') }, { text: 'Done.' }]);
  const run = await engine.play(agents.directAsks, { model });
  await run.resume(only(await run.waiting(1)).id, 'yes');
  expect((await run.transcript()).slice(4)).toEqual(['tool: x end', 'assistant: Done.']);
  expect(model.requests.map(({ tools: offered }) => offered.map(({ name }) => name))).toEqual(
    Array.from({ length: 3 }, () => ['echo', 'asks', 'streams']),
  );
});

onServer('[eino 131] an answer to a run that is not there is an error with a code', async (client) => {
  const nobody = client.run('nobody');
  await expect(nobody.resume('agent.t1.asks-0', 'yes')).rejects.toMatchObject({ code: 'run-unknown' });
  await expect(nobody.approve('agent.t1.asks-0')).rejects.toMatchObject({ code: 'run-unknown' });
  await expect(nobody.outcome()).rejects.toMatchObject({ code: 'run-unknown' });
});

it('[eino 131] so is one to an interrupt that is not there, and one to a run that has ended', async () => {
  const model = scriptedModel([{ toolCalls: asks('Well?') }, { text: 'Done.' }]);
  const run = await testRun(agentWith({ tools: ['asks'] }), { input: 'Hi', model, tools });
  await expect(run.resume('agent.t9.asks-0', 'yes')).rejects.toMatchObject({ code: 'interrupt-unknown' });
  const { id } = only(await run.interrupts());
  await run.resume(id, 'yes');
  await run.outcome();
  await expect(run.resume(id, 'yes')).rejects.toMatchObject({ code: 'run-ended' });
});

it('[eino 132] an agent that is not the one that began cannot go on, and says so', async () => {
  const asking = (kind: string) =>
    customAgent({
      name: 'asking',
      async *run(_, ctx) {
        if (kind === 'first') await ctx.interrupt('Well?');
        else await ctx.sleep('1s');
        yield { output: null };
      },
    });
  const run = await testRun(asking('first'), { input: 'Hi', model: scriptedModel([]) });
  expect(await run.interrupts()).toHaveLength(1);
  await run.goOnAsNew(asking('other'));
  expect(await run.outcome()).toMatchObject(failureSaying('frame-changed', 'The code at asking'));
});

onEngines('[eino 133] after an answer each lane hears its own words, and what follows hears all', async (engine) => {
  const said = (text: string) => [{ text }];
  const names = ['opener', 'l1', 'l2', 'l3', 'r1', 'r2', 'closer'];
  const model = teamModel(Object.fromEntries(names.map((name) => [name, said(`Words of ${name}`)])));
  const run = await engine.play(teams.lanes, { model });
  for (const { id } of await run.waiting(2)) await run.resume(id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Words of closer' });
  const heardBy = (name: string): readonly string[] => heard(only(model.requests(name)));
  const context = (...agents: readonly string[]): readonly string[] =>
    agents.map((name) => `user: For context: [${name}] said: Words of ${name}.`);
  expect(heardBy('l2')).toEqual(['user: Hi', ...context('opener', 'l1')]);
  expect(heardBy('l3')).toEqual(['user: Hi', ...context('opener', 'l1')]);
  expect(heardBy('r2')).toEqual(['user: Hi', ...context('opener', 'r1')]);
  expect([...heardBy('closer')].sort()).toEqual([...context('l1', 'l2', 'l3', 'opener', 'r1', 'r2'), 'user: Hi']);
});

onEngines('[eino 134] a fixed transfer comes after the answer, and not at the interrupt', async (engine) => {
  const model = teamModel({ desk: [transfer('clerk'), { text: 'Thank you.' }], clerk: [{ text: 'Stamped.' }] });
  const run = await engine.play(teams.desk, { model });
  const interrupt = only(await run.waiting(1));
  expect(agentsAt(interrupt, 2)).toBe('desk/clerk');
  const shown = async (): Promise<readonly string[]> => (await run.log()).filter(({ type }) => type === 'agent-message').map(placed);
  expect(await shown()).toEqual([]);
  await run.resume(interrupt.id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Thank you.' });
  expect(await shown()).toEqual(['agent-message desk/clerk', 'agent-message desk/clerk']);
});

onEngines('[eino 134] nothing is transferred behind an exit', async (engine) => {
  const exit = { toolCalls: [{ name: 'exit', input: { final_result: 'Closed.' } }] };
  const model = teamModel({ desk: [transfer('clerk')], clerk: [exit] });
  const run = await engine.play(teams.desk, { model });
  await run.resume(only(await run.waiting(1)).id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Closed.' });
  expect((await run.log()).filter(({ type }) => type === 'agent-message')).toEqual([]);
});

it('[eino 134] a run that stands at an agent which is not there any more is an error', async () => {
  const asking = { name: 'asking', beforeAgent: async (_: unknown, ctx: HookContext) => void (await ctx.interrupt('Well?')) };
  const handing = (name: string) =>
    setSubAgents(member('desk'), [withDeterministicTransfer(member(name, { middleware: [asking] }), { to: ['desk'] })]);
  const run = await testRun(handing('clerk'), { input: 'Hi', model: scripts({ desk: [transfer('clerk')], clerk: [] }), tools });
  expect(await run.interrupts()).toHaveLength(1);
  await run.goOnAsNew(handing('notary'));
  expect(await run.outcome()).toMatchObject(
    failure('frame-changed', 'The agent "desk" changed: "clerk" was at work in it, and is not there any more.'),
  );
});

it('[eino 134] and so is one that stands in a sequence of other agents', async () => {
  const asking = { name: 'asking', beforeAgent: async (_: unknown, ctx: HookContext) => void (await ctx.interrupt('Well?')) };
  const steps = (name: string) => sequential({ name: 'steps', agents: [member(name, { middleware: [asking] })] });
  const run = await testRun(steps('one'), { input: 'Hi', model: scripts({ one: [], other: [] }), tools });
  expect(await run.interrupts()).toHaveLength(1);
  await run.goOnAsNew(steps('other'));
  expect(await run.outcome()).toMatchObject(failure('frame-changed'));
});

const hello: Json = [{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }];
const agenticRun = async (engine: Engine, model: Parameters<Engine['play']>[1]['model']) =>
  engine.play(agents.agentic, { input: hello, model });

onEngines('[eino 136] a run with agentic messages waits, is answered and goes on', async (engine) => {
  const model = scriptedModel([{ toolCalls: asks('One?'), text: 'Well.' }, { toolCalls: asks('Two?') }, { text: 'Done.' }]);
  const run = await agenticRun(engine, model);
  const first = only(await run.waiting(1));
  const before = await run.agentic();
  await run.resume(first.id, 'one');
  await run.resume(only(await run.waiting(1)).id, 'two');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  const after = await run.agentic();
  expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  expect(after.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  expect(after[2]?.blocks).toEqual([
    { type: 'function-tool-result', callId: 'call-1-1', name: 'asks', output: 'One?: "one" with {"asked":"One?"}' },
  ]);
  expect(await run.notes()).toEqual([
    ['user text'],
    ['user text', 'assistant text function-tool-call', 'user function-tool-result'],
    [
      ...['user text', 'assistant text function-tool-call', 'user function-tool-result'],
      ...['assistant function-tool-call', 'user function-tool-result'],
    ],
  ]);
});

onEngines('[eino 136] a run with agentic messages that is answered once and then cancelled ends as cancelled', async (engine) => {
  const model = scriptedModel([{ toolCalls: asks('One?') }, { toolCalls: asks('Two?') }]);
  const run = await agenticRun(engine, model);
  const first = only(await run.waiting(1));
  await run.resume(first.id, 'one');
  const second = only(await run.waiting(1));
  await run.cancel();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect((await run.agentic()).slice(0, 4)).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'user', blocks: [{ type: 'function-tool-result', output: 'One?: "one" with {"asked":"One?"}' }] },
    { role: 'assistant' },
  ]);
  await expect(run.resume(second.id, 'two')).rejects.toMatchObject({ code: 'run-ended' });
});

onEngines('[eino 136] a run with agentic messages that is cancelled behind an answer keeps the answer', async (engine) => {
  const key = `${engine.name} 136`;
  const held = gate();
  holder.hold(key, held);
  const run = await agenticRun(engine, scriptedModel([{ toolCalls: says('echo', key), text: 'Looking.' }]));
  await held.reached;
  await run.cancel();
  held.open();
  expect(await run.outcome()).toEqual({ status: 'cancelled' });
  expect((await run.agentic())[1]).toMatchObject({
    role: 'assistant',
    blocks: [
      { type: 'text', text: 'Looking.' },
      { type: 'function-tool-call', input: { text: key } },
    ],
  });
});

const parts: readonly Part[] = [
  { type: 'reasoning', text: 'Hm.', extra: { own: { signature: 's' } } },
  { type: 'text', text: 'Look.', extra: { own: { cited: [1] } } },
  { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  { type: 'file', mediaType: 'text/plain', data: { url: 'https://example.com/a.txt' } },
  { type: 'server-tool-call', id: 's1', name: 'web_search', input: { query: 'tea' } },
  { type: 'server-tool-result', callId: 's1', name: 'web_search', output: [{ title: 'Tea' }] },
  { type: 'mcp-tool-list', server: 'files', tools: [{ name: 'read', inputSchema: { type: 'object' } }] },
  { type: 'mcp-tool-call', server: 'files', id: 'm1', name: 'read', input: { path: 'a' }, approvalRequestId: 'r0' },
  { type: 'mcp-tool-result', server: 'files', callId: 'm1', name: 'read', output: 'No.', isError: true },
  { type: 'mcp-approval-request', server: 'files', id: 'r1', name: 'write', input: { path: 'b' } },
  { type: 'tool-call', id: 'c1', name: 'asks', input: { text: 'Write?' }, extra: { own: { thought: 't' } } },
];

const everything: Json = [
  {
    role: 'user',
    blocks: [
      { type: 'text', text: 'What is this?' },
      { type: 'file', mediaType: 'image/png', data: 'aGk=' },
      { type: 'mcp-approval-response', requestId: 'r0', approved: true, reason: 'Fine.' },
    ],
    extra: { from: 'ada' },
  },
];

function sayingAll(): LanguageModel & { readonly asked: (readonly { readonly parts: readonly Part[] }[])[] } {
  const asked: (readonly { readonly parts: readonly Part[] }[])[] = [];
  return {
    asked,
    async generate({ messages }) {
      return { parts: asked.push(messages) === 1 ? parts : [{ type: 'text', text: 'Done.' }] };
    },
  };
}

onEngines('[eino 137] messages with parts of all kinds survive an interrupt', async (engine) => {
  const model = sayingAll();
  const run = await engine.play(agents.agentic, { input: everything, model });
  const { id } = only(await run.waiting(1));
  const before = await run.agentic();
  expect(before[0]).toMatchObject((everything as readonly object[])[0] ?? {});
  expect(before[1]?.blocks.map(({ type }) => type)).toEqual([...parts.slice(0, -1).map(({ type }) => type), 'function-tool-call']);
  await run.resume(id, 'yes');
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect((await run.agentic()).slice(0, 2)).toEqual(before.slice(0, 2));
  expect((await run.messages())[1]?.parts).toEqual(parts);
  expect(model.asked[1]?.[1]?.parts).toEqual(parts);
  expect(model.asked[1]?.[0]).toMatchObject(messagesOf(everything as never)[0] ?? {});
});

it('[eino 137] and they survive a continue-as-new while somebody is waited for', async () => {
  const model = sayingAll();
  const seen: unknown[] = [];
  const seeing = agenticMiddleware({ name: 'seeing', beforeModelRewriteState: ({ messages }) => void seen.push(messages[1]?.blocks) });
  const agent = agentWith({ tools: ['asks'], middleware: [seeing] });
  const run = await testRun(agent, { input: everything, model, tools });
  const { id } = only(await run.interrupts());
  const before = await run.transcript({ shape: 'agentic' });
  await run.goOnAsNew();
  await run.resume(id, 'yes');
  expect((await transcriptOf(run)).at(-1)).toBe('assistant: Done.');
  expect((await run.transcript({ shape: 'agentic' })).slice(0, 2)).toEqual(before.slice(0, 2));
  expect(model.asked[1]?.[1]?.parts).toEqual(parts);
  expect(seen.at(-1)).toEqual(before[1]?.blocks);
});

onEngines('[eino 138] an approval in a supervisor of a supervisor is given, and the word goes back level by level', async (engine) => {
  const model = teamModel({
    chief: [transfer('crew'), { text: 'Company done.' }],
    foreman: [transfer('worker'), { text: 'Crew done.' }],
    worker: [{ toolCalls: says('echo', 'lift') }, { text: 'Lifted.' }],
  });
  const run = await engine.play(teams.chief, { model });
  const interrupt = only(await run.waiting(1));
  expect(interrupt).toMatchObject({ kind: 'approval', agent: 'worker', tool: 'echo', input: { text: 'lift' } });
  expect(agentsAt(interrupt, 5)).toBe('company/chief/crew/foreman/worker');
  await run.goOnAsNew();
  await run.resume(interrupt.id, { type: 'approve' });
  expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Company done.' });
  const actions = (await run.log()).flatMap((event) =>
    event.type === 'agent-message' && event.action !== undefined ? [[event.runPath.join('/'), event.action]] : [],
  );
  expect(actions).toEqual([
    ['company/chief/crew/foreman/worker', { transferTo: 'foreman' }],
    ['company/chief/crew', { transferTo: 'chief' }],
  ]);
});

onEngines(
  '[eino 138] an approval in a loop of a supervisor is given, the loop is broken, and the supervisor gets the word',
  async (engine) => {
    const model = teamModel({
      chief: [transfer('polish'), { text: 'Shiny.' }],
      polisher: [{ toolCalls: says('echo', 'rub') }, { text: 'Rubbed.' }],
    });
    const run = await engine.play(teams.chief, { model });
    const interrupt = only(await run.waiting(1));
    expect(agentsAt(interrupt, 4)).toBe('company/chief/polish/polisher');
    await run.resume(interrupt.id, { type: 'approve' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Shiny.' });
    const ended = (await run.log()).find((event) => event.type === 'agent-end' && event.agent === 'polisher');
    expect(ended).toMatchObject({ runPath: ['company', 'chief', 'polish', 'polisher'], action: { breakLoop: true } });
    expect(model.requests('polisher')).toHaveLength(2);
  },
);
