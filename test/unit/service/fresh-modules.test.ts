import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FreshModules } from '../../../service/project/load-module';

const made: string[] = [];
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

function folderWith(files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-fresh-')));
  made.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return (name) => join(folder, name);
}

const load = (path: string): Promise<Record<string, unknown>> => new FreshModules().load(path);

describe('modules that are loaded anew', () => {
  it.each([
    ['TypeScript', 'a.ts', 'b.ts', './b', 'export const word ='],
    ['ES modules', 'a.mjs', 'b.mjs', './b.mjs', 'export const word ='],
    ['CommonJS behind an ES module', 'a.mjs', 'b.cjs', './b.cjs', 'exports.word ='],
    ['plain JavaScript', 'a.js', 'b.js', './b.js', 'exports.word ='],
  ])('have what the files behind them have now: %s', async (_, entry, behind, request, declared) => {
    const at = folderWith({
      [entry]: `import * as inner from '${request}';\nexport const word = inner.word ?? inner.default.word;`,
      [behind]: `${declared} 'one';`,
    });
    expect(await load(at(entry))).toMatchObject({ word: 'one' });
    writeFileSync(at(behind), `${declared} 'two';`);
    expect(await load(at(entry))).toMatchObject({ word: 'two' });
  });

  it('read JSON anew', async () => {
    const at = folderWith({ 'a.ts': `import data from './data.json';\nexport const word = data.word;`, 'data.json': '{"word":"one"}' });
    expect(await load(at('a.ts'))).toMatchObject({ word: 'one' });
    writeFileSync(at('data.json'), '{"word":"two"}');
    expect(await load(at('a.ts'))).toMatchObject({ word: 'two' });
  });

  it('are one instance within a load', async () => {
    const at = folderWith({
      'a.ts': `import { list } from './b';\nimport './c';\nexport const size = list.length;`,
      'b.ts': 'export const list: number[] = [];',
      'c.ts': `import { list } from './b';\nlist.push(1);`,
    });
    expect(await load(at('a.ts'))).toMatchObject({ size: 1 });
  });

  it('know every file that was read, also the one that did not load', async () => {
    const at = folderWith({ 'a.ts': `import './b';`, 'b.ts': `import './c';`, 'c.ts': 'export const = ;' });
    const modules = new FreshModules();
    await expect(modules.load(at('a.ts'))).rejects.toThrow('c.ts');
    expect([...modules.files].sort()).toEqual([at('a.ts'), at('b.ts'), at('c.ts')]);
  });
});
