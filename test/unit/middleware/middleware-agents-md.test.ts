import { agentsMdTool } from 'holdfast/worker';
import { agentsMd } from 'holdfast/middleware';
import { importsOf, loadFiles } from '../../../middleware/agents-md/worker/load-files';
import { scriptedModel, testRun } from '../../../testing/index';
import { memoryBackend } from '../../../middleware/filesystem/worker/memory-backend';
import { textOf } from '../../../workflows/index';
import { middlewareExamples, runExamples } from '../../support/document-examples';
import { agentUnder, answerAnew, echo, tools, withHook } from '../../support/memory-bed';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryBackend } from '../../../middleware/filesystem/worker/directory-backend';
import { failure, errorOf } from '../../support/failures';

const { builder, instructionTools } = runExamples(middlewareExamples('agents-md'), require);

it('docs/reference/middleware/agents-md.md shows code that does what the page says', async () => {
  const run = await testRun(builder, { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools: instructionTools });
  expect(await run.result()).toBe('Done.');
});

async function play(options: Parameters<typeof agentsMd>[0], backend: Parameters<typeof agentsMdTool>[0]['backend']) {
  const model = scriptedModel([{ text: 'Done.' }]);
  const reader = agentsMdTool({ backend });
  const run = await testRun(agentUnder(agentsMd(options)), { input: 'Hi', model, tools: { ...tools, agents_md: reader } });
  expect(await run.result()).toBe('Done.');
  return model.requests[0]?.messages.map(textOf);
}

describe('agentsMd', () => {
  it('keeps its text over a continue-as-new, and puts it in again from there', async () => {
    let left = { '/AGENTS.md': 'Be kind.' };
    const backend = { read: (path: string) => memoryBackend(left).read(path) };
    const forgetful = agentUnder(
      withHook('forgetful', 'beforeModelRewriteState', async ({ messages }, ctx) => {
        if (ctx.iteration === 2) await ctx.interrupt('Go on?');
        return { messages: messages.filter(({ extra }) => extra === undefined) };
      }),
      agentsMd({ files: ['/AGENTS.md'] }),
    );
    const model = scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);
    const run = await testRun(forgetful, { input: 'Hi', model, tools: { ...tools, agents_md: agentsMdTool({ backend }) } });
    await run.outcome();
    left = { '/AGENTS.md': 'Be rude.' };
    await answerAnew(run);
    expect(await run.result()).toBe('Done.');
    expect(model.requests[1]?.messages.map(textOf).filter((text) => text.includes('Be kind.'))).toHaveLength(1);
  });

  it('puts nothing in for files without words', async () => {
    expect(await play({ files: ['/AGENTS.md'] }, memoryBackend({ '/AGENTS.md': '\n' }))).toEqual(['Hi']);
  });

  it('hands warnings to a function where there is one', async () => {
    const warnings: string[] = [];
    await play({ files: ['/gone.md'], onWarning: (warning) => void warnings.push(warning) }, memoryBackend());
    expect(warnings).toEqual(['/gone.md not found']);
  });

  it('says which tool is missing on the worker', async () => {
    const run = await testRun(agentUnder(agentsMd({ files: ['/AGENTS.md'] })), { input: 'Hi', model: scriptedModel([]), tools });
    expect(await run.outcome()).toMatchObject(failure('tool-unknown', 'ctx.call("agents_md"): no worker has this tool.'));
  });

  it.each([
    [{}, /agentsMd: files must be an array of at least one path, each once, such as \['\/AGENTS\.md'\]\./],
    [{ files: [] }, /agentsMd: files must be an array of at least one path, each once, such as \['\/AGENTS\.md'\]\./],
    [{ files: ['/a.md'], maxBytes: -1 }, 'agentsMd: maxBytes must be a whole number; 0, or nothing, is no limit. It is -1.'],
    [{ files: ['/a.md'], max: 1 }, 'agentsMd: there is no option "max"; there are files, maxBytes, onWarning, tool.'],
    [{ files: ['/a.md'], tool: 'two words' }, /agentsMd: tool must be a name/],
  ])('refuses the options %j', (options, message) => {
    expect(() => agentsMd(options as never)).toThrow(errorOf('agent-invalid', expect.stringMatching(message)));
  });
});

describe('imports of agentsMd', () => {
  it.each([
    [
      'front of marks',
      'See @a.md, (@b/c) and "@d.json". @e.TOML! @f.md @f.md x@g.md\n@./h',
      ['a.md', 'b/c', 'd.json', 'e.TOML', 'f.md', './h'],
    ],
    ['brackets', '(@a.md) [@b.md] {@c/d} (see @e.md), <@f.md>', ['a.md', 'b.md', 'c/d', 'e.md', 'f.md']],
    [
      'links',
      '[style](@docs/a.md) [@docs/b.md](docs/b.md) [c](@docs/c.md "title") [d](@docs/d.md#part)',
      ['docs/a.md', 'docs/b.md', 'docs/c.md', 'docs/d.md'],
    ],
    [
      'emphasis',
      '**@a.md** *@b.md* _@c.md_ __@d/e__. ***@f.md***, ~~@g.md~~ **See @h.md**',
      ['a.md', 'b.md', 'c.md', 'd/e', 'f.md', 'g.md', 'h.md'],
    ],
    ['emphasis with more behind it', '**@a.md**:one **@b.md**,**@c.md**', ['a.md', 'b.md', 'c.md']],
    ['emphasis around brackets', '**(@a.md)** (**@b.md**) _[x](@c.md)_', ['a.md', 'b.md', 'c.md']],
    [
      'quotes, lists and tables',
      '"@a.md" “@b.md” \'@c.md\' -@d.md\n- @e.md\n|@f.md|@g.md|\n>@h.md',
      ['a.md', 'b.md', 'c.md', 'e.md', 'f.md', 'g.md', 'h.md'],
    ],
    ['paths that have brackets', '@app/[id]/a.md (@app/(shop)/b.md)', ['app/[id]/a.md', 'app/(shop)/b.md']],
    ['paths that have underscores', '@pkg/__init__ @a_b.md', ['pkg/__init__', 'a_b.md']],
  ])('stand in %s', (_, content, paths) => {
    expect(importsOf(content)).toEqual(paths);
  });

  it.each([
    'user@example.com first_@example.md mail.me@example.org/x',
    '@ @name @company.org (@name) **@name** [@name](x)',
    'https://example.com/@scope/a.md \\@docs/a.md',
    '`@docs/a.md` @docs/ **@docs/*.md**',
  ])('are none in %j', (content) => {
    expect(importsOf(content)).toEqual([]);
  });

  it('that lead out are left out with a warning', async () => {
    const loaded = await loadFiles(memoryBackend({ '/a.md': '@../../b.md' }), ['/a.md'], 0);
    expect(loaded.files.map(({ path }) => path)).toEqual(['/a.md']);
    expect(loaded.warnings).toEqual([expect.stringContaining('leads out of the files')]);
  });

  it('that lead to a folder or a picture are left out with a warning, and the others are read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agents-md-'));
    await mkdir(join(folder, 'src', 'lib'), { recursive: true });
    await writeFile(join(folder, 'src', 'logo.png'), Buffer.from([0x89, 0x50, 0, 1]));
    await writeFile(join(folder, 'AGENTS.md'), 'Code is in @src/lib, the logo is (@src/logo.png). See [more](@more.md).');
    await writeFile(join(folder, 'more.md'), 'More.');
    const { files, warnings } = await loadFiles(directoryBackend(folder), ['/AGENTS.md'], 0);
    await rm(folder, { recursive: true });
    expect(files.map(({ path }) => path)).toEqual(['/AGENTS.md', '/more.md']);
    expect(warnings).toEqual([
      'import of /src/lib skipped: "/src/lib" is no file.',
      'import of /src/logo.png skipped: The file "/src/logo.png" is no text.',
    ]);
  });

  it('that cannot be read for another reason still end the run, and so does a folder that is named as a file of instructions', async () => {
    const broken = { read: (path: string) => (path === '/a.md' ? Promise.resolve('(@b.md)') : Promise.reject(new Error('disk gone'))) };
    await expect(loadFiles(broken, ['/a.md'], 0)).rejects.toThrow('failed to load agent files: /b.md: disk gone');
    await expect(loadFiles(directoryBackend('test'), ['/unit'], 0)).rejects.toThrow(
      'failed to load agent files: /unit: "/unit" is no file.',
    );
  });
});
