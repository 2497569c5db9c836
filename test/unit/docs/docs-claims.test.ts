import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { actionsOf, allActions } from '../../../contract/access';
import { ProjectConfigSchema } from '../../../service/project/project-config';
import { operations } from '../../support/service-app';

const root = resolve(__dirname, '..', '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

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
  expect([...told].sort()).toEqual([...methodsOf('client/http/service-client.ts', 'ServiceClient')].sort());
});

it('docs/reference/http.md has every route with the action that it needs, except those of protocols', () => {
  const named = { anybody: 'none', identified: 'a name' } as const;
  const plain = (route: string): string => route.replace(/:\w+/g, ':');
  const needed = Object.entries(operations).flatMap(([route, { group, may }]) =>
    group === 'Protocols' ? [] : [`${plain(route)} ${named[may as keyof typeof named] ?? `\`${may}\``}`],
  );
  const told = [...textOf('docs/reference/http.md').matchAll(/^\| (`[A-Z]+ \/[^|]*)\| ([^|]*?) *\|/gm)].flatMap(
    ([, cell = '', action = '']) => {
      let [method, folder] = ['', ''];
      return [...cell.matchAll(/`(?:([A-Z]+) )?([^`?]*)[^`]*`/g)].map(([, own = method, path = '']) => {
        const whole = path.replace('…', folder);
        [method, folder] = [own, whole.replace(/\/[^/]*$/, '')];
        return `${own} ${plain(whole)} ${action}`;
      });
    },
  );
  expect(told.filter((row) => !row.endsWith('see below')).sort()).toEqual(needed.sort());
});

it('docs/guides/who-may-do-what.md has the actions of every role', () => {
  const rows = [...textOf('docs/guides/who-may-do-what.md').matchAll(/^\| (`\w+:\w+` .*)\|$/gm)].map(([, row = '']) => row.split('|'));
  const told = rows.map(([action = '', , ...cells]) => [action.trim(), cells.map((cell) => cell.trim() === 'yes')]);
  const roles = ['reader', 'operator', 'approver', 'admin'] as const;
  const may = allActions.map((action) => [`\`${action}\``, roles.map((role) => actionsOf([role]).has(action))]);
  expect(told).toEqual(may);
});

it('docs/reference/client.md names options of an approval that there are', () => {
  const [, cell = ''] = /\| `approve\(id, options\)` +\|([^|]*)\|/.exec(textOf('docs/reference/client.md')) ?? [];
  const [, options = ''] = /type ApproveOptions[^{]*\{([^}]*)\}/.exec(textOf('client/runs/answers.ts')) ?? [];
  const known = [...options.matchAll(/readonly (\w+)\?/g)].map(([, name]) => name);
  const named = [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.includes(name) && name !== 'by')).toEqual([]);
});

function namesIn(heading: string): readonly string[] {
  const [, section = ''] = textOf('docs/reference/configuration.md').split(`\n## ${heading}\n`);
  const cells = (section.split('\n## ')[0] ?? '').split('\n').map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name));
}

function fieldsOf(file: string, ...interfaces: readonly string[]): readonly string[] {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const found = source.statements.filter(ts.isInterfaceDeclaration).filter(({ name }) => interfaces.includes(name.text));
  expect(found).toHaveLength(interfaces.length);
  return [...new Set(found.flatMap(({ members }) => members.map(({ name }) => name?.getText() ?? '')))];
}

describe('docs/reference/configuration.md has every field, and no other,', () => {
  it('of a configuration', () => {
    const { models, http, ...others } = ProjectConfigSchema.shape;
    const within = (name: string, { shape }: { readonly shape: object }): readonly string[] =>
      Object.keys(shape).map((key) => `${name}.${key}`);
    const fields = [...Object.keys(others), ...within('models', models.unwrap()), ...within('http', http.unwrap())];
    const told = namesIn('holdfast.config.ts').map((name) => (/^(models|http)\./.test(name) ? name : (name.split('.')[0] ?? '')));
    expect([...told].sort()).toEqual([...fields].sort());
  });

  it('of access', () => {
    expect([...namesIn('Access')].sort()).toEqual([...fieldsOf('service/access/parts.ts', 'AccessOptions')].sort());
  });

  it('of a tool, and of what a call gets', () => {
    const file = 'activities/tools/define-tool.ts';
    const fields = fieldsOf(file, 'ToolBasics', 'Tool', 'StreamableTool', 'EnhancedTool', 'ExternalTool');
    expect([...namesIn('A tool')].sort()).toEqual([...fields].sort());
    const [, cell = ''] = /`call` has ([^.]*)\./.exec(textOf('docs/reference/configuration.md')) ?? [];
    const call = [...fieldsOf(file, 'ToolCallContext'), ...fieldsOf('activities/worker-middleware/worker-middleware.ts', 'RunAccess')];
    expect([...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).sort()).toEqual([...call].sort());
  });

  it('of a worker', () => {
    const fields = [...fieldsOf('worker/create-worker.ts', 'WorkerOptions'), ...fieldsOf('worker/worker-parts.ts', 'PartsOptions')];
    expect([...namesIn('A worker of your own')].sort()).toEqual(fields.sort());
  });
});
