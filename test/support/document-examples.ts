import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from '@swc/core';

const docs = resolve(__dirname, '..', '..', 'docs');
const given = (name: string): string => `../test/fixtures/documents/${name}`;
const nameOf = /^\/\/ example: .*\n/;
const importOf = /^import (?:type )?\{ ([^}]*) \} from '([^']*)';\n/gm;
const factoryOf = /^const \{ \w+ \} = agentsFor<typeof tools>\(\);\n/gm;

/** Pages whose examples form one module, in order. test/fixtures/documents has code that readers already have. */
type Examples = readonly string[];

export const shopExamples: Examples = [
  ...['guides/tools', 'guides/agents', 'guides/teams', 'coming-from/eino', 'coming-from/trpc', 'reference/messages', 'guides/middleware'],
  ...['guides/approvals', 'guides/trying-again', 'guides/streaming', 'guides/testing', 'reference/middleware-forms', 'concepts'],
  ...['coming-from/ai-sdk', 'coming-from/langgraph', 'guides/custom-agents', 'guides/isolated-agents', 'reference/hooks'],
  ...['reference/middleware/README', 'reference/middleware/approval', given('shop')],
];
export const conversationExamples: Examples = [given('chat'), 'guides/conversations'];
export const middlewareExamples = (name: string): Examples => [given('built-ins'), `reference/middleware/${name}`];
export const middlewareNames = readdirSync(join(docs, 'reference/middleware')).flatMap((name) =>
  name.endsWith('.md') && name !== 'README.md' ? [name.slice(0, -3)] : [],
);
export const allExamples: readonly Examples[] = [
  ...[shopExamples, conversationExamples, ['operations/own-service'], ['reference/events']],
  ['guides/behind-a-login'],
  ['guides/mcp-tools'],
  ...middlewareNames.map(middlewareExamples),
];

/** Runs examples as a module. A test among the examples becomes a test of the calling file. */
export function runExamples(examples: Examples, load: NodeJS.Require): ReturnType<typeof JSON.parse> {
  const { code } = transformSync(moduleOf(examples), {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  const exported = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  new Function('require', 'exports', code)(load, exported);
  return exported;
}

export function moduleOf(examples: Examples): string {
  const blocks = examples.flatMap(namedExamplesOn);
  const code = blocks.join('\n');
  const factories = new Set(code.match(factoryOf));
  const names = new Map([...code.matchAll(importOf)].flatMap(([, all = '', from = '']) => all.split(', ').map((name) => [name, from])));
  if (factories.size > 0) names.delete('defineAgent');
  const imports = [...names].flatMap(([name, from]) => (from.startsWith('.') ? [] : [`import { ${name} } from '${from}';\n`]));
  const bodies = new Set(blocks.map((block) => [nameOf, importOf, factoryOf].reduce((rest, part) => rest.replace(part, ''), block)));
  return [...imports, ...factories, ...bodies].join('\n');
}

export function examplesOn(page: string): readonly string[] {
  return [...readFileSync(join(docs, `${page}.md`), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}

/** On a page where examples have names, blocks without a name are parts of files. */
function namedExamplesOn(page: string): readonly string[] {
  const all = examplesOn(page);
  const named = all.filter((code) => nameOf.test(code));
  return named.length === 0 ? all : named;
}

/** Returns examples missing from the files, because an example for a bundle has to be a file. */
export function missingExamples(page: string, files: readonly string[]): readonly string[] {
  const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();
  const here = flat(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  return examplesOn(page).filter((code) => !here.includes(flat(code.replace(nameOf, '').replace(importOf, ''))));
}
