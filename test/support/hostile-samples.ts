import { join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(__dirname, '..', '..');

/** Steers a terminal, turns text, begins lines and writes to the clipboard. `FORGED` must never begin a line. */
export const hostile =
  'x\u001b[2J\u001b[8m\u001b]52;c;UFdORUQ=\u0007\u009b3J\u007f\u202e\u2066\u200f\u061c\r\u0000\u2028FORGED\u0085FORGED\nFORGED';

/** For texts shown with their lines. */
export const hostileText = hostile.replaceAll('\n', '');

/** Characters that must not reach a terminal. */
export const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|^FORGED/m;

const keepsLines: readonly string[] = ['text', 'output'];
const isTime = /(?:At|Since|^at|Until)$/;

/** All alternatives of a type, with hostile texts. */
type Sampler = (type: ts.Type) => readonly unknown[];

export function hostileAnswers(): Readonly<Record<string, readonly unknown[]>> {
  const file = join(root, 'client', 'http', 'service-client.ts');
  const program = ts.createProgram([file], {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    types: ['node'],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const client = source?.statements.find(
    (one): one is ts.ClassDeclaration => ts.isClassDeclaration(one) && one.name?.text === 'ServiceClient',
  );
  if (client === undefined) throw new Error('There is no class ServiceClient.');
  const sample = samplerOf(checker);
  const methods = client.members.filter(
    (one): one is ts.MethodDeclaration =>
      ts.isMethodDeclaration(one) && (one.modifiers ?? []).every(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword),
  );
  return Object.fromEntries(
    methods.map((method) => {
      const given = checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(method)!);
      const [inner] = checker.getTypeArguments(given as ts.TypeReference);
      return [method.name.getText(), sample(inner!)];
    }),
  );
}

function json(name: string): readonly unknown[] {
  return keepsLines.includes(name) ? [hostileText] : [hostile, { [hostile]: hostile }];
}

function samplerOf(checker: ts.TypeChecker): Sampler {
  const samples = (type: ts.Type, name: string, within: readonly ts.Type[]): readonly unknown[] => {
    const { flags } = type;
    if (type.isStringLiteral() || type.isNumberLiteral()) return [type.value];
    if (flags & ts.TypeFlags.BooleanLiteral) return [checker.typeToString(type) === 'true'];
    if (flags & ts.TypeFlags.Undefined) return [];
    if (flags & ts.TypeFlags.Null) return [null];
    if (flags & ts.TypeFlags.NumberLike) return [1];
    if (
      type.isUnion() &&
      type.types.some((one) => one.flags & ts.TypeFlags.Null) &&
      type.types.some((one) => one.flags & ts.TypeFlags.Number)
    )
      return json(name);
    if (type.isUnion()) return type.types.flatMap((one) => samples(one, name, within));
    if (flags & ts.TypeFlags.StringLike && isTime.test(name)) return [new Date(0).toISOString()];
    if (flags & (ts.TypeFlags.StringLike | ts.TypeFlags.Unknown) || within.includes(type))
      return [keepsLines.includes(name) ? hostileText : hostile];
    const around = [...within, type];
    if (checker.isArrayType(type) || checker.isTupleType(type))
      return [checker.getTypeArguments(type as ts.TypeReference).flatMap((one) => samples(one, name, around))];
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    const fields = checker
      .getPropertiesOfType(type)
      .map((field) => [field.name, samples(checker.getTypeOfSymbol(field), field.name, around)] as const);
    const all = [...fields, ...(index === undefined ? [] : [[hostile, samples(index, name, around)] as const])].filter(
      ([, values]) => values.length > 0,
    );
    const count = Math.max(1, ...all.map(([, values]) => values.length));
    return Array.from({ length: count }, (_, at) => Object.fromEntries(all.map(([field, values]) => [field, values[at % values.length]])));
  };
  return (type) => samples(type, '', []);
}
