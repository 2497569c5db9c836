import { z } from 'zod';
import type { ScriptedModel } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import { defineTool } from '../../activities/tools/tools';
import { toolSearchTool } from '../../middleware/tool-search/worker';
import type { AgentMiddleware, AgentState, Json, Message } from '../../workflows/index';
import type { ToolSearchOptions } from '../../middleware/index';
import { messagesIn } from '../../middleware/forms/index';
import { textOf } from '../../workflows/index';
import { toolSearch } from '../../middleware/index';
import { agentWith, echo, tools as others } from '../support/memory-bed';
import { execute } from '../support/tool-bed';

const does = (description: string) =>
  defineTool({ description, inputSchema: z.object({ x: z.string().optional() }), execute: () => 'done' });
const dynamic = { dynamic_tool_a: does('Does a.'), dynamic_tool_b: does('Does b.') };
const search = (query: string, more: object = {}) => ({ toolCalls: [{ name: 'tool_search', input: { query, ...more } }] });

interface Given extends Partial<ToolSearchOptions> {
  readonly input?: Json;
  readonly agentTools?: readonly string[];
  readonly around?: readonly AgentMiddleware[];
}

async function play(model: ScriptedModel, { input = 'Hi', agentTools = ['echo'], around = [], ...options }: Given = {}) {
  const agent = agentWith({ tools: agentTools, middleware: [...around, toolSearch({ tools: Object.keys(dynamic), ...options })] });
  const run = await testRun(agent, { input, model, tools: { ...others, ...dynamic, tool_search: toolSearchTool(dynamic) } });
  const outcome = await run.outcome();
  return { run, outcome, offered: model.requests.map(({ tools }) => tools.map(({ name }) => name)) };
}

async function found(tools: Readonly<Record<string, string>>, query: string, more: object = {}): Promise<unknown> {
  const tool = toolSearchTool(Object.fromEntries(Object.entries(tools).map(([name, description]) => [name, does(description)])));
  const { outcome } = await execute(tool, { input: { query, ...more } });
  if (outcome.type === 'done') return (outcome.output as { selectedTools: unknown }).selectedTools;
  return outcome.type === 'failed' ? `error: ${outcome.error.message}` : outcome;
}

const many = {
  send_message: 'Sends a text to a person.',
  list_messages: 'Lists what was said.',
  createIssue: 'Files a defect.',
  mcp__slack__send: 'Posts to a channel.',
  mcp__github__open_issue: 'Reports a defect.',
};

const searchedBefore = (...outputs: readonly Json[]): Json =>
  [
    { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
    ...outputs.flatMap((output, position): Message[] => [
      { role: 'assistant', parts: [{ type: 'tool-call', id: `call-${position}`, name: 'tool_search', input: { query: 'x' } }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: `call-${position}`, name: 'tool_search', output }] },
    ]),
    { role: 'user', parts: [{ type: 'text', text: 'Go on' }] },
  ] as unknown as Json;

it('[eino 219] what a search found is offered from the next call on, other tools never', async () => {
  const model = scriptedModel([search('select:dynamic_tool_a'), { toolCalls: [{ name: 'dynamic_tool_a', input: {} }] }, { text: 'Done.' }]);
  const { outcome, offered, run } = await play(model);
  expect(outcome).toMatchObject({ status: 'completed' });
  expect(offered).toEqual([
    ['echo', 'tool_search'],
    ['echo', 'tool_search', 'dynamic_tool_a'],
    ['echo', 'tool_search', 'dynamic_tool_a'],
  ]);
  expect((await run.transcript()).map(textOf)[0]).toBe(
    '<available-deferred-tools>\ndynamic_tool_a\ndynamic_tool_b\n</available-deferred-tools>',
  );
});

it('[eino 219] a hidden tool runs all the same when the model calls it', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'dynamic_tool_b', input: {} }] }, { text: 'Done.' }]);
  const { run } = await play(model);
  expect((await run.transcript())[3]?.parts[0]).toMatchObject({ output: 'done' });
});

it('[eino 221] the reminder stands once behind the system messages, and comes back when it was removed', async () => {
  const forgetful: AgentMiddleware = {
    name: 'forgetful',
    beforeModelRewriteState: ({ messages }) => ({ messages: messages.filter(({ extra }) => extra === undefined) }),
  };
  const input = [
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
  ] as Json;
  const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
  await play(model, { input, around: [forgetful] });
  for (const { messages } of model.requests) {
    expect(messages.map(({ role }) => role).slice(0, 3)).toEqual(['system', 'user', 'user']);
    expect(messages.filter((message) => textOf(message).includes('<available-deferred-tools>'))).toHaveLength(1);
  }
});

it('[eino 301] words are looked for in parts of names, in names and in descriptions', async () => {
  expect(await found(many, 'message')).toEqual(['send_message', 'list_messages']);
  expect(await found(many, 'issue')).toEqual(['createIssue', 'mcp__github__open_issue']);
  expect(await found(many, 'slack')).toEqual(['mcp__slack__send']);
  expect(await found(many, 'create list')).toEqual(['list_messages', 'createIssue']);
  expect(await found(many, 'defect')).toEqual(['createIssue', 'mcp__github__open_issue']);
  expect(await found(many, 'unheard')).toEqual([]);
});

it('[eino 302] the best comes first, and there are no more than were asked for', async () => {
  expect(((await found(many, 'send message')) as string[])[0]).toBe('send_message');
  expect(await found(many, 'send message', { max_results: 1 })).toEqual(['send_message']);
  const lots = Object.fromEntries(Array.from({ length: 9 }, (_, number) => [`tool_${number}`, '']));
  expect(await found(lots, 'tool')).toHaveLength(5);
});

it('[eino 303] a word with a plus has to be there', async () => {
  expect(await found(many, '+slack send')).toEqual(['mcp__slack__send']);
  expect(await found({ send_message: '', mcp__slack__send: '' }, '+github send')).toEqual([]);
});

it('[eino 304] tools are taken by name, unknown ones are nothing, and an empty query is an error', async () => {
  expect(await found(many, 'select:createIssue')).toEqual(['createIssue']);
  expect(await found(many, 'select:createIssue, send_message', { max_results: 1 })).toEqual(['createIssue', 'send_message']);
  expect(await found(many, 'select:absent')).toEqual([]);
  expect(await found(many, '  ')).toMatch(/^error: .*The query is empty/);
});

it('[eino 308] results that are broken or name unknown tools are ignored', async () => {
  const input = searchedBefore('{"selectedTools":', { selectedTools: 'dynamic_tool_a' }, { selectedTools: ['absent', 7] }, 'nothing');
  const { offered, outcome } = await play(scriptedModel([{ text: 'Done.' }]), { input });
  expect(outcome).toMatchObject({ status: 'completed' });
  expect(offered).toEqual([['echo', 'tool_search']]);
});

it('[eino 309] for a model that searches by itself the tools are deferred', async () => {
  const model = scriptedModel([search('select:dynamic_tool_b'), { text: 'Done.' }]);
  const { offered } = await play(model, { modelSearch: true });
  expect(offered).toEqual([['echo'], ['echo']]);
  for (const { deferred } of model.requests) {
    expect(deferred?.tools.map(({ name }) => name)).toEqual(['dynamic_tool_a', 'dynamic_tool_b']);
    expect(deferred?.search).toMatchObject({ name: 'tool_search' });
  }
});

it('[eino 309] where there are no tools, none are deferred', async () => {
  const none: AgentMiddleware = { name: 'none', beforeModelRewriteState: () => ({ tools: [] }) };
  const model = scriptedModel([{ text: 'Done.' }]);
  await play(model, { modelSearch: true, around: [none] });
  expect(model.requests[0]?.tools).toEqual([]);
  expect(model.requests[0]).not.toHaveProperty('deferred');
});

it('[eino 311] what others see of the tools is not changed under their hands', async () => {
  const seen: (readonly string[])[] = [];
  const watching: AgentMiddleware = { name: 'watching', beforeModelRewriteState: ({ tools }: AgentState) => void seen.push(tools) };
  await play(scriptedModel([search('select:dynamic_tool_a'), { text: 'Done.' }]), { around: [watching] });
  expect(seen).toEqual([
    ['echo', 'tool_search', 'dynamic_tool_a', 'dynamic_tool_b'],
    ['echo', 'tool_search'],
  ]);
  expect(seen.every(Object.isFrozen)).toBe(true);
});

it("[eino 312] the model's own search gets whole descriptions, as a list of found tools", async () => {
  const model = scriptedModel([search('select:dynamic_tool_b'), search(' '), { text: 'Done.' }]);
  const { run } = await play(model, { modelSearch: true });
  const result = (await run.transcript())[3];
  expect(result?.parts[0]).toMatchObject({
    search: true,
    output: [{ name: 'dynamic_tool_b', description: 'Does b.', inputSchema: { type: 'object', properties: { x: { type: 'string' } } } }],
  });
  expect(messagesIn('agentic', [result!])[0]).toMatchObject({
    blocks: [{ type: 'tool-search-result', tools: [{ name: 'dynamic_tool_b' }] }],
  });
  expect((await run.transcript())[5]?.parts[0]).toMatchObject({ isError: true, output: expect.stringContaining('The query is empty') });
});

it('[eino 312] wrong options are refused', () => {
  const refused = (options: unknown): void => void toolSearch(options as never);
  expect(() => refused(undefined)).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
  expect(() => refused({ tools: [] })).toThrow('toolSearch: tools must be an array of at least one name, each once. It is [].');
  expect(() => refused({ tools: ['tool_search'] })).toThrow(/leave it out/);
  expect(() => refused({ tools: ['a', 'a'] })).toThrow(
    'toolSearch: tools must be an array of at least one name, each once. It is ["a","a"].',
  );
  expect(() => toolSearchTool({})).toThrow(expect.objectContaining({ code: 'config-invalid' }));
});
