import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');
const importOf = /^import (?:type )?\{ (.*) \} from '(.*)';\n/gm;
/** Stands once above the examples of a file, as its imports do. */
const factoryOf = /^const \{ \w+ \} = agentsFor<typeof tools>\(\);\n/m;
const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();

/** Compares the examples of documents with files of tests that have them word for word; imports, and what makes agents, stand above there. */
export function describeExamples(documents: readonly string[], files: string | readonly string[], least: number): void {
  describe.each(documents)('docs/%s.md', (name) => {
    const here = [files]
      .flat()
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const blocks = blocksOf(`${name}.md`);

    it('has examples, each with a name', () => {
      expect(blocks.length).toBeGreaterThanOrEqual(least);
      expect(blocks.filter((code) => !/^\/\/ example: \S+\n/.test(code))).toEqual([]);
    });

    it('shows code that is compiled and run here', () => {
      const [factory = ''] = factoryOf.exec(here) ?? [];
      const isHere = (code: string): boolean => flat(here).includes(flat(code));
      const bodies = blocks.map((code) => code.replace(/^\/\/ example: .*\n/, '').replace(importOf, ''));
      const missing = bodies.filter((code) => !isHere(code) && !isHere(code.replace(factory, '')));
      expect(missing).toEqual([]);
    });

    it('imports what this file imports', () => {
      const known = importsOf(here);
      expect(blocks.flatMap(importsOf).filter((each) => !known.includes(each))).toEqual([]);
    });
  });
}

/** What the examples of a document have that the test file beside them has not: code, word for word, and imports. */
export function missingExamples(document: string, testFile: string): { readonly count: number; readonly missing: readonly string[] } {
  const here = readFileSync(testFile, 'utf8');
  const blocks = blocksOf(document);
  const known = importsOf(here);
  return {
    count: blocks.length,
    missing: blocks.flatMap((code) => [
      ...(flat(here).includes(flat(code.replace(importOf, ''))) ? [] : [code]),
      ...importsOf(code).filter((each) => !known.includes(each)),
    ]),
  };
}

function importsOf(code: string): readonly string[] {
  return [...code.matchAll(importOf)].flatMap(([, names = '', from = '']) =>
    from.startsWith('.') ? [] : names.split(', ').map((name) => `${from} ${name}`),
  );
}

function blocksOf(document: string): readonly string[] {
  return [...readFileSync(join(root, 'docs', document), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}
