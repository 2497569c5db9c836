import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const importOf = /^import (?:type )?\{ (.*) \} from '(.*)';\n/gm;
const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();

/** What the examples of a document have that the test file beside them has not: code, word for word, and imports. */
export function missingExamples(document: string, testFile: string): { readonly count: number; readonly missing: readonly string[] } {
  const here = readFileSync(testFile, 'utf8');
  const markdown = readFileSync(join(resolve(__dirname, '..', '..'), 'docs', document), 'utf8');
  const blocks = [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
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
