import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { toolSearch } from 'holdfast/middleware';
import { scriptedModel, testRun } from '../../../testing/index';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentUnder, answerAnew, startRun, tools } from '../../support/memory-bed';
import { failure } from '../../support/failures';

const does = (description: string) => defineTool({ description, inputSchema: z.object({}), execute: () => 'done' });
const officeTools = {
  sendLetter: does('Sends a letter by post.'),
  bookRoom: does('Books a room for a meeting.'),
  orderPens: does('Orders pens.'),
};

const { office, toolsOfOffice } = runExamples(middlewareExamples('tool-search'), require);

const namesOf = (specs: readonly { readonly name: string }[] | undefined): readonly string[] | undefined => specs?.map(({ name }) => name);

it('docs/reference/middleware/tool-search.md shows code that does what the page says', async () => {
  const search = { toolCalls: [{ name: 'tool_search', input: { query: 'meeting' } }] };
  const model = scriptedModel([search, { toolCalls: [{ name: 'bookRoom', input: {} }] }, { text: 'Done.' }]);
  const run = await testRun(office, { input: 'Book a room', model, tools: toolsOfOffice });
  expect(await run.result()).toBe('Done.');
  expect(model.requests.map((request) => namesOf(request.tools))).toEqual([
    ['tool_search'],
    ['tool_search', 'bookRoom'],
    ['tool_search', 'bookRoom'],
  ]);
});

describe('toolSearch', () => {
  it('searches only among its own tools, whatever the worker has', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'tool_search', input: { query: 'send order' } }] }, { text: 'Done.' }]);
    const run = await startRun(agentUnder(toolSearch({ tools: ['orderPens'] })), model, { tools: { ...tools, ...toolsOfOffice } });
    expect(await run.result()).toBe('Done.');
    expect((await run.transcript())[3]?.parts[0]).toMatchObject({ output: { selectedTools: ['orderPens'] } });
  });

  it('refuses a run whose worker does not have its tools', async () => {
    const run = await startRun(agentUnder(toolSearch({ tools: ['absent'] })), [], { tools: { ...tools, ...toolsOfOffice } });
    expect(await run.outcome()).toMatchObject(failure('tool-unknown', /"absent"/));
  });

  it('keeps deferred tools over a continue-as-new', async () => {
    const agent = agentUnder(toolSearch({ tools: Object.keys(officeTools), modelSearch: true }), {
      name: 'asking',
      afterToolCalls: async (_, ctx) => void (await ctx.interrupt('Go on?')),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'orderPens', input: {} }] }, { text: 'Done.' }]);
    const run = await startRun(agent, model, { tools: { ...tools, ...toolsOfOffice } });
    await answerAnew(run);
    expect(await run.result()).toBe('Done.');
    for (const { deferred } of model.requests) expect(namesOf(deferred?.tools)).toEqual(Object.keys(officeTools));
  });

  it('has a hook that defers unknown tools end the run', async () => {
    const agent = agentUnder({ name: 'odd', beforeModelRewriteState: () => ({ deferred: { tools: ['absent'], search: 'echo' } }) });
    const run = await startRun(agent, []);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-unknown' } });
  });
});
