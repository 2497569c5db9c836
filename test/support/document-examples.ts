import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');
const importOf = /^import (?:type )?\{ (.*) \} from '(.*)';\n/gm;
const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();

/** Compares the examples of documents with a file of tests that has them word for word; imports stand above there. */
export function describeExamples(documents: readonly string[], file: string, least: number): void {
  describe.each(documents)('docs/%s.md', (name) => {
    const here = readFileSync(file, 'utf8');
    const blocks = [...readFileSync(join(root, 'docs', `${name}.md`), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
      ([, code = '']) => code,
    );

    it('has examples, each with a name', () => {
      expect(blocks.length).toBeGreaterThanOrEqual(least);
      expect(blocks.filter((code) => !/^\/\/ example: \S+\n/.test(code))).toEqual([]);
    });

    it('shows code that is compiled and run here', () => {
      const missing = blocks.filter((code) => !flat(here).includes(flat(code.replace(/^\/\/ example: .*\n/, '').replace(importOf, ''))));
      expect(missing).toEqual([]);
    });

    it('imports what this file imports', () => {
      const imported = (code: string): string[] =>
        [...code.matchAll(importOf)].flatMap(([, names = '', from = '']) =>
          from.startsWith('.') ? [] : names.split(', ').map((each) => `${from} ${each}`),
        );
      const known = imported(here);
      expect(blocks.flatMap(imported).filter((each) => !known.includes(each))).toEqual([]);
    });
  });
}
