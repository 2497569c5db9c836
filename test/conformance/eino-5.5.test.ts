import type { LanguageModel } from '../../activities/models';
import type { Interrupt } from '../../contract/plain/interrupts';
import { scriptedModel, testRun } from '../../testing/index';
import type { Json, Part } from '../../workflows/index';
import { agenticMiddleware, messagesOf } from '../../workflows/index';
import { gate } from '../support/gate';
import { agentWith, logOf, only, transcriptOf } from '../support/memory-bed';
import * as agents from './agents';
import type { Engine } from './engines';
import { closeEngines, onEngines, serverClient } from './engines';
import { holder, tools } from './tools';

/*
 * Eino, interrupt and resume (5.5 of the table). A resume with targets is an answer to each of them, and one without data has null.
 */

afterAll(closeEngines);

const infoOf = (interrupt: Interrupt): Json | undefined => ('info' in interrupt ? interrupt.info : undefined);
const says = (name: string, ...texts: readonly string[]) => texts.map((text) => ({ name, input: { text } }));
const asks = (...texts: readonly string[]) => says('asks', ...texts);

it('[eino 118] an interrupt is described whole as soon as it is raised, and its address names what stands around it', async () => {
  const run = await testRun(agents.asksForHistory, {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: asks('first', 'second') }]),
    tools,
  });
  const log = await logOf(run);
  const raised = log.flatMap((event) => (event.type === 'interrupt-start' ? [event.interrupt] : []));
  expect(raised).toHaveLength(4);
  expect(await run.interrupts()).toEqual(raised);
  expect(new Set(raised.map(({ id }) => id)).size).toBe(4);
  for (const [position, text] of ['first', 'second'].entries()) {
    const wrap = ['asksForHistory', 't1', `asks.${position}`, 'history'];
    const ofTool = only(raised.filter((interrupt) => JSON.stringify(infoOf(interrupt)) === JSON.stringify({ question: text })));
    const ofWrap = only(raised.filter(({ address }) => JSON.stringify(address) === JSON.stringify(wrap)));
    // Each is a cause of its own. The wrap around the tool is the parent: its address is the beginning of the tool's.
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
  // The tool was entered again: it was interrupted, is the one that is answered, has no data and has kept no state.
  expect(results).toEqual(['{"answer":null}']);
  expect(modes).toEqual(['stream', 'stream']);
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

it('[eino 131] an answer to a run that is not there is an error with a code', async () => {
  const client = await serverClient();
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
  // What stood there before the answer stands there unchanged, under the same ids.
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

/** What a model may say, of each kind. */
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
