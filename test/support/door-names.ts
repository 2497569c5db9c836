import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(__dirname, '..', '..');
const doors = {
  'holdfast/workflow': 'workflows',
  'holdfast/middleware': 'middleware',
  'holdfast/callbacks': 'middleware/callbacks',
  'holdfast/eino': 'middleware/forms',
  'holdfast/worker': 'worker',
  'holdfast/client': 'client',
  'holdfast/service': 'service',
  'holdfast/http': 'client/http',
  'holdfast/testing': 'testing',
};

export const doorNames = Object.keys(doors);

export function exportsOf(door: string): ReadonlySet<string> {
  const folder = doors[door as keyof typeof doors];
  if (folder === undefined) throw new Error(`There is no door "${door}".`);
  const source = parsed(join(root, folder, 'index.ts'));
  return new Set(
    source.statements.flatMap((statement) =>
      ts.isExportDeclaration(statement) && statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : [],
    ),
  );
}

export function fieldsOf(type: string): ReadonlySet<string> {
  if (!doorNames.some((door) => exportsOf(door).has(type))) throw new Error(`No door exports the type "${type}".`);
  return new Set(ownFields(type));
}

function ownFields(type: string): readonly string[] {
  const declaration = declarations().get(type);
  if (declaration === undefined) throw new Error(`There is no interface or class "${type}".`);
  const inherited = (declaration.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap(({ expression }) => ownFields(expression.getText())),
  );
  return [...declaration.members.flatMap(({ name }) => (name === undefined ? [] : [name.getText()])), ...inherited];
}

type Declaration = ts.InterfaceDeclaration | ts.ClassDeclaration;
let known: ReadonlyMap<string, Declaration> | undefined;

function declarations(): ReadonlyMap<string, Declaration> {
  if (known !== undefined) return known;
  const found = new Map<string, Declaration>();
  for (const folder of ['contract', 'kernel', 'middleware', 'activities', 'client', 'worker']) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      for (const statement of parsed(join(root, folder, file)).statements)
        if (
          (ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement)) &&
          isExported(statement) &&
          statement.name !== undefined
        )
          found.set(statement.name.text, statement);
    }
  }
  return (known = found);
}

function isExported({ modifiers }: Declaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
}
