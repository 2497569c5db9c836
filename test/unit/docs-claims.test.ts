import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(__dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Public methods of a class, as a page writes them. */
function methodsOf(file: string, name: string): readonly string[] {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const found = source.statements.find((one): one is ts.ClassDeclaration => ts.isClassDeclaration(one) && one.name?.text === name);
  const methods = found?.members.filter(ts.isMethodDeclaration) ?? [];
  const isHidden = ({ kind }: ts.ModifierLike): boolean => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword;
  return methods
    .filter(({ modifiers = [] }) => ![...modifiers].some(isHidden))
    .map((method) => {
      const given = method.parameters.map((one) => `${one.name.getText()}${one.questionToken || one.initializer ? '?' : ''}`);
      return `${method.name.getText()}(${given.join(', ')})`;
    });
}

it('docs/guides/http-client.md has every method of the client, with what it takes', () => {
  const rows = textOf('docs/guides/http-client.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const told = rows.flatMap((row) => [...row.matchAll(/`(\w+\([^`]*\))`/g)].map(([, call = '']) => call));
  expect([...told].sort()).toEqual([...methodsOf('http/service-client.ts', 'ServiceClient')].sort());
});

it('docs/reference/client.md names options of an approval that there are', () => {
  const [, cell = ''] = /\| `approve\(id, options\)` +\|([^|]*)\|/.exec(textOf('docs/reference/client.md')) ?? [];
  const [, options = ''] = /type ApproveOptions[^{]*\{([^}]*)\}/.exec(textOf('client/answers.ts')) ?? [];
  const known = [...options.matchAll(/readonly (\w+)\?/g)].map(([, name]) => name);
  const named = [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.includes(name) && name !== 'by')).toEqual([]);
});

it.each(['docs/reference/middleware/pii.md', 'docs/reference/limits.md'])('%s promises no page that says nothing of it', (file) => {
  expect(textOf(file)).not.toMatch(/\[codec\]\(/);
});
