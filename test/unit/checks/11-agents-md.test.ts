import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importsOf, loadFiles } from '../../../middleware/agents-md/worker/load-files';
import { directoryBackend } from '../../../middleware/filesystem/worker/directory-backend';

describe('[check 11] imports of agentsMd', () => {
  it.each([
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
