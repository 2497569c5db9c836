import { agentsMdTool } from 'holdfast/worker';
import { agentsMd } from 'holdfast/middleware';
import { importsOf, loadFiles } from '../../middleware/agents-md/worker/load-files';
import { scriptedModel, testRun } from '../../testing/index';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { textOf } from '../../workflows/index';
import { middlewareExamples, runExamples } from '../support/document-examples';
import { agentUnder, echo, tools } from '../support/memory-bed';

const { builder, instructionTools } = runExamples(middlewareExamples('agents-md'), require);

describe('docs/reference/middleware/agents-md.md', () => {
  it('shows code that does what the page says', async () => {
    const run = await testRun(builder, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools: instructionTools });
    expect(await run.result()).toBe('Done.');
  });
});

describe('agentsMd', () => {
  it('keeps its text over a continue-as-new, and puts it in again from there', async () => {
    let left = { '/AGENTS.md': 'Be kind.' };
    const backend = { read: (path: string) => memoryBackend(left).read(path) };
    const forgetful = agentUnder(
      {
        name: 'forgetful',
        async beforeModelRewriteState({ messages }, ctx) {
          if (ctx.iteration === 2) await ctx.interrupt('Go on?');
          return { messages: messages.filter(({ extra }) => extra === undefined) };
        },
      },
      agentsMd({ files: ['/AGENTS.md'] }),
    );
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const run = await testRun(forgetful, { input: 'Hi', model, tools: { ...tools, agents_md: agentsMdTool({ backend }) } });
    const outcome = await run.outcome();
    if (outcome.status !== 'waiting') throw new Error(outcome.status);
    left = { '/AGENTS.md': 'Be rude.' };
    await run.goOnAsNew();
    await run.resume(outcome.interrupts[0]!.id, true);
    expect(await run.result()).toBe('Done.');
    expect(model.requests[1]?.messages.map(textOf).filter((text) => text.includes('Be kind.'))).toHaveLength(1);
  });

  it('puts nothing in for files without words', async () => {
    const agent = agentUnder(agentsMd({ files: ['/AGENTS.md'] }));
    const model = scriptedModel([{ text: 'Done.' }]);
    const reader = agentsMdTool({ backend: memoryBackend({ '/AGENTS.md': '\n' }) });
    await (await testRun(agent, { input: 'Hi', model, tools: { ...tools, agents_md: reader } })).result();
    expect(model.requests[0]?.messages.map(textOf)).toEqual(['Hi']);
  });

  it('hands warnings to a function where there is one', async () => {
    const warnings: string[] = [];
    const agent = agentUnder(agentsMd({ files: ['/gone.md'], onWarning: (warning) => void warnings.push(warning) }));
    const reader = agentsMdTool({ backend: memoryBackend() });
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools: { ...tools, agents_md: reader } });
    expect(await run.result()).toBe('Done.');
    expect(warnings).toEqual(['/gone.md not found']);
  });

  it('says which tool is missing on the worker', async () => {
    const run = await testRun(agentUnder(agentsMd({ files: ['/AGENTS.md'] })), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject({
      error: { code: 'tool-unknown', message: 'ctx.call("agents_md"): no worker has this tool.' },
    });
  });

  it.each([
    [{}, /agentsMd: files must be an array of at least one path, each once, such as \['\/AGENTS\.md'\]\./],
    [{ files: [] }, /agentsMd: files must be an array of at least one path, each once, such as \['\/AGENTS\.md'\]\./],
    [{ files: ['/a.md'], maxBytes: -1 }, 'agentsMd: maxBytes must be a whole number; 0, or nothing, is no limit. It is -1.'],
    [{ files: ['/a.md'], max: 1 }, 'agentsMd: there is no option "max"; there are files, maxBytes, onWarning, tool.'],
    [{ files: ['/a.md'], tool: 'two words' }, /agentsMd: tool must be a name/],
  ])('refuses the options %j', (options, message) => {
    expect(() => agentsMd(options as never)).toThrow(
      expect.objectContaining({ code: 'agent-invalid', message: expect.stringMatching(message) }),
    );
  });
});

describe('imports', () => {
  it('are paths, without the marks behind them', () => {
    expect(importsOf('See @a.md, (@b/c) and "@d.json". @e.TOML! @f.md @f.md x@g.md\n@./h')).toEqual([
      'a.md',
      'b/c',
      'd.json',
      'e.TOML',
      'f.md',
      './h',
    ]);
  });

  it('that lead out are left out with a warning', async () => {
    const loaded = await loadFiles(memoryBackend({ '/a.md': '@../../b.md' }), ['/a.md'], 0);
    expect(loaded.files.map(({ path }) => path)).toEqual(['/a.md']);
    expect(loaded.warnings).toEqual([expect.stringContaining('leads out of the files')]);
  });
});
