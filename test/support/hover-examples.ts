import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { tsconfigOfGuide } from '../product/package-bed';

const root = resolve(__dirname, '..', '..');
const folder = join(root, 'test', 'support');
const given = join(folder, 'hover-names.ts');
const doorsFile = join(folder, 'hover-doors.ts');
const agentsModule = [join(folder, 'agents.ts'), `export { critic, support, writer } from './hover-names';\n`] as const;
/** Packages whose large types no example shows. */
const unused = /\/node_modules\/(?:@temporalio\/proto|typescript\/lib\/typescript\.|webpack|rxjs)/;
/** `await` at the top level needs an ES module. */
const topAwait = 1309;

export interface Hover {
  readonly door: string;
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly example: string;
}

/** The hover texts of all functions and classes that the doors export, and what is wrong with the code of their examples. */
export function hoversOf(doors: readonly string[]): { readonly hovers: readonly Hover[]; readonly complaints: () => readonly string[] } {
  const files = new Map([[doorsFile, doors.map((door) => `import '${door}';\n`).join('')], agentsModule]);
  const { options, host } = hostOf(files);
  const program = ts.createProgram([doorsFile, given], options, host);
  const checker = program.getTypeChecker();
  const exportsOf = (name: string, from: string): readonly ts.Symbol[] => {
    const { resolvedModule } = ts.resolveModuleName(name, from, options, host, undefined, undefined, ts.ModuleKind.CommonJS);
    const module = checker.getSymbolAtLocation(program.getSourceFile(resolvedModule?.resolvedFileName ?? '')!);
    return checker.getExportsOfModule(module!);
  };
  const known = new Map(exportsOf('./hover-names', given).map(({ name }) => [name, './hover-names']));
  known.set('z', 'zod');
  const found = new Map<ts.Symbol, Hover>();
  for (const door of doors)
    for (const exported of exportsOf(door, doorsFile)) {
      if (!known.has(exported.name)) known.set(exported.name, door);
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const [declaration] = symbol.declarations ?? [];
      if (declaration === undefined || found.has(symbol) || !isCallable(checker, symbol)) continue;
      const file = relative(join(root, 'dist'), declaration.getSourceFile().fileName).replace(/\.d\.ts$/, '.ts');
      found.set(symbol, { door, name: exported.name, file, ...commentOf(join(root, file), symbol.name) });
    }
  const hovers = [...found.values()];
  const complaints = (): readonly string[] => {
    const examples = hovers.map(({ name, example }) => [join(folder, `hover of ${name}.ts`), moduleOf(example, known)] as const);
    for (const [file, code] of examples) files.set(file, code);
    const all = ts.createProgram([...files.keys()], options, host, program);
    return examples.flatMap(([file]) => {
      const source = all.getSourceFile(file);
      return [...all.getSyntacticDiagnostics(source), ...all.getSemanticDiagnostics(source)]
        .filter(({ code }) => code !== topAwait)
        .map(({ messageText }) => `${relative(folder, file)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    });
  };
  return { hovers, complaints };
}

function hostOf(files: ReadonlyMap<string, string>): { readonly options: ts.CompilerOptions; readonly host: ts.CompilerHost } {
  const { compilerOptions } = tsconfigOfGuide() as { readonly compilerOptions: object };
  const more = { moduleDetection: 'force', skipLibCheck: true, types: ['node', 'jest'], typeRoots: [join(root, 'node_modules/@types')] };
  const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, ...more }, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  host.getSourceFile = (name, version, ...rest) => {
    const code = files.get(name) ?? (unused.test(name) ? 'export {};\n' : undefined);
    return code === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, code, version);
  };
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  return { options, host };
}

function isCallable(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  if ((symbol.flags & ts.SymbolFlags.Value) === 0) return false;
  const type = checker.getTypeOfSymbol(symbol);
  return (symbol.flags & ts.SymbolFlags.Class) !== 0 || type.getCallSignatures().length > 0;
}

/** From the source: declarations of the last build may be old. */
function commentOf(file: string, name: string): { readonly text: string; readonly example: string } {
  if (!existsSync(file)) return { text: '', example: '' };
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  const declarations = source.statements.filter((each) => namesOf(each).includes(name));
  const documents = declarations.flatMap((each) => ts.getJSDocCommentsAndTags(each)).filter(ts.isJSDoc);
  const example = documents.flatMap(({ tags = [] }) => tags).find(({ tagName }) => tagName.text === 'example');
  return { text: textOf(documents[0]?.comment), example: textOf(example?.comment) };
}

const textOf = (comment: Parameters<typeof ts.getTextOfJSDocComment>[0]): string => ts.getTextOfJSDocComment(comment)?.trim() ?? '';

/** An example with imports of the names that it leaves to the doors and to hover-names.ts. */
function moduleOf(example: string, known: ReadonlyMap<string, string>): string {
  const source = ts.createSourceFile('example.ts', example, ts.ScriptTarget.ES2022, true);
  const own = new Set(source.statements.flatMap(namesOf));
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) used.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const imported = [...used].flatMap((name) =>
    known.has(name) && !own.has(name) ? [`import { ${name} } from '${known.get(name)}';\n`] : [],
  );
  return `${imported.join('')}${example}\n`;
}

function namesOf(statement: ts.Statement): readonly string[] {
  const ofBinding = (name: ts.BindingName): readonly string[] =>
    ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((each) => (ts.isOmittedExpression(each) ? [] : ofBinding(each.name)));
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => ofBinding(name));
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name === undefined ? [] : [statement.name.text];
  const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
  if (bindings === undefined) return [];
  return ts.isNamespaceImport(bindings) ? [bindings.name.text] : bindings.elements.map(({ name }) => name.text);
}
