import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAgents } from '../../worker/bundle';
import { WarmBundler } from '../../worker/warm-bundler';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-warm-')));
const bundler = new WarmBundler();
afterAll(() => {
  bundler.close();
  rmSync(folder, { recursive: true, force: true });
});

const at = (name: string): string => join(folder, name);
const agent = (words: string, more = ''): string =>
  `import { defineAgent } from 'holdfast/workflow';\n${more}\nexport const helper = defineAgent({ name: 'helper', description: '', instructions: ${words}, model: 'default' });\n`;

const withoutMap = (code: string): string => code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');

describe('a bundler that compiles only what has changed', () => {
  it('gives the same code as one that begins with nothing', async () => {
    const states: readonly Readonly<Record<string, string>>[] = [
      { 'agents.ts': agent(`'one'`) },
      { 'agents.ts': agent(`'two'`) },
      { 'words.ts': `export const words = 'three';`, 'agents.ts': agent('words', `import { words } from './words';`) },
      { 'words.ts': `export const words = 'four';` },
      { 'agents.ts': agent(`'one'`) },
    ];
    const builds: string[] = [];
    for (const files of states) {
      for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
      const bundle = await bundler.bundle(at('agents.ts'));
      const cold = await bundleAgents(at('agents.ts'));
      expect(bundle.buildId).toBe(cold.buildId);
      expect(withoutMap(bundle.code)).toBe(withoutMap(cold.code));
      builds.push(bundle.buildId);
    }
    expect(new Set(builds).size).toBe(4);
    expect(builds[4]).toBe(builds[0]);
  });

  it.each([
    ['does not compile', 'export const = ;', 'agents.ts'],
    ['needs Node', agent(`'x'`, `import { readFileSync } from 'node:fs';\nexport const text = readFileSync('x');`), "'node:fs' of Node"],
    ['waits for a module', `await Promise.resolve();\n${agent(`'x'`)}`, 'await'],
  ])('refuses what %s as the other does, and goes on when that is corrected', async (_, text, said) => {
    writeFileSync(at('agents.ts'), agent(`'before'`));
    const before = await bundler.bundle(at('agents.ts'));
    writeFileSync(at('agents.ts'), text);
    await expect(bundler.bundle(at('agents.ts'))).rejects.toMatchObject({ code: 'agents-invalid', message: expect.stringContaining(said) });
    writeFileSync(at('agents.ts'), agent(`'before'`));
    expect((await bundler.bundle(at('agents.ts'))).buildId).toBe(before.buildId);
  });
});
