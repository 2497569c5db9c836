import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { tsconfigOfGuide } from '../product/package-bed';
import { allExamples, moduleOf } from './document-examples';

const root = resolve(__dirname, '..', '..');
/** TypeScript errors about names that an example does not declare again. */
const missingNames = [2304, 2307, 2552, 18004];
const untyped = [7005, 7006, 7031, 7034];
/** `await` at the top level needs an ES module. */
const topAwait = 1309;
const fields = /^(?:\/\/.*\n)*\w+: /;
const asConfiguration = (code: string): string =>
  `import type { defineConfig } from 'holdfast';\nexport const part: Partial<Parameters<typeof defineConfig>[0]> = {\n${code}\n};\n`;

/** Compiles document code under the users' tsconfig. Names declared elsewhere may be missing. */
export function complaintsOfDocuments(documents: readonly string[]): { readonly count: number; readonly complaints: readonly string[] } {
  const files = filesOf(documents);
  const whole = new Set(
    allExamples.map((examples, position) => join(root, 'docs', `examples-${position}-${examples.at(-1)?.replaceAll('/', '-')}.ts`)),
  );
  [...whole].forEach((name, position) => files.set(name, moduleOf(allExamples[position] ?? [])));
  const { compilerOptions } = tsconfigOfGuide() as { readonly compilerOptions: object };
  const more = { moduleDetection: 'force', jsx: 'react-jsx', types: ['node', 'jest'], typeRoots: [join(root, 'node_modules/@types')] };
  const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, ...more }, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, version, ...rest) => {
    const code = files.get(name);
    return code === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, code, version);
  };
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  const complaints = [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((each) => ({
      code: each.code,
      text: ts.flattenDiagnosticMessageText(each.messageText, ' '),
    }));
    const isMissing = ({ code, text }: (typeof found)[number]): boolean =>
      missingNames.includes(code) && (code !== 2307 || /^Cannot find module '\./.test(text));
    const isPart = !whole.has(name) && found.some(isMissing);
    const wrong = found.filter(
      (each) => each.code !== topAwait && (!isMissing(each) || whole.has(name)) && !(isPart && untyped.includes(each.code)),
    );
    return wrong.map(({ text }) => `${name.slice(root.length + 1)}: ${text}`);
  });
  return { count: files.size, complaints };
}

function filesOf(documents: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const document of documents) {
    const blocks = readFileSync(join(root, document), 'utf8').matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm);
    for (const [, extension = '', code = ''] of blocks) {
      const [, name = ''] = /^\/\/ ([\w-]+\.tsx?)\n/.exec(code) ?? [];
      const file = join(root, `${document}.code`, name === '' ? `${files.size}.${extension}` : name);
      files.set(files.has(file) ? join(file, '..', `${files.size}.${extension}`) : file, fields.test(code) ? asConfiguration(code) : code);
    }
  }
  return files;
}
