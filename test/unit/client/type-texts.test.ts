import { join } from 'node:path';
import ts from 'typescript';

const head = `
import { z } from 'zod';
import type { HoldfastClient } from 'holdfast/client';
import { scriptedModel, testRun } from 'holdfast/testing';
import { defineAgent, runAgentAsChild } from 'holdfast/workflow';
const basics = { description: '', instructions: '', model: 'default', tools: [] };
const support = defineAgent({ ...basics, name: 'support' });
const orders = defineAgent({ ...basics, name: 'orders', prompt: (job: { orderId: string }) => job.orderId });
const byZod = defineAgent({ ...basics, name: 'by-zod', inputSchema: z.object({ count: z.number() }), prompt: ({ count }) => count.toFixed() });
const byJson = defineAgent({ ...basics, name: 'by-json', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } });
declare const client: HoldfastClient<{ support: typeof support; orders: typeof orders; byZod: typeof byZod; byJson: typeof byJson }>;
declare const untyped: HoldfastClient;
const model = scriptedModel([]);
const chat = [{ role: 'user' as const, content: 'Hi' }];
const parts = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }];
`;

const lines: readonly (readonly [line: string, says?: RegExp])[] = [
  ["client.start('support', 'Hi')"],
  ["client.start('support', parts)"],
  ["client.start('support', chat)"],
  ["client.start('orders', { orderId: '42' })"],
  ["client.start('by-zod', { count: 1 })"],
  ["client.start('by-json', { a: 'b' })"],
  ["untyped.start('any', { any: ['job'] })"],
  ["untyped.start('any', parts)"],
  ['testRun(support, { input: chat, model })'],
  ["testRun(orders, { input: { orderId: '42' }, model })"],
  ["runAgentAsChild<typeof support>('support', parts)"],
  ['runAgentAsChild(byZod, { count: 1 })'],
  [
    "client.start('suport', 'Hi')",
    /^Argument of type '"suport"' is not assignable to parameter of type '"support" \| "orders" \| "by-zod" \| "by-json"'\.$/,
  ],
  [
    "client.start('support', { orderId: '42' })",
    /^(Object literal may only specify known properties, and 'orderId' does not exist in type 'readonly AnyMessage\[\]'|Argument of type '\{ orderId: string; \}' is not assignable to parameter of type 'TextOrMessages')\.$/,
  ],
  ["client.start('orders', 'Order 42')", /^Argument of type 'string' is not assignable to parameter of type '\{ orderId: string; \}'\.$/],
  ["client.start('orders', parts)", /^Argument of type '.*' is not assignable to parameter of type '\{ orderId: string; \}'\.$/],
  [
    "client.start('orders', { orderID: '42' })",
    /^Object literal may only specify known properties, but 'orderID' does not exist in type '\{ orderId: string; \}'\. Did you mean to write 'orderId'\?$/,
  ],
  ["client.start('by-zod', { count: 'one' })", /^Type 'string' is not assignable to type 'number'\.$/],
  ["client.start('support')", /^Expected 2-3 arguments, but got 1\.$/],
  [
    "client.start('support', 'Hi', { tag: ['a'] })",
    /^Object literal may only specify known properties, but 'tag' does not exist in type 'StartOptions'\. Did you mean to write 'tags'\?$/,
  ],
  ["testRun(orders, { input: 'Order 42', model })", /^Type 'string' is not assignable to type '(NoInfer<)?\{ orderId: string; \}>?'\.$/],
  [
    "testRun(support, { input: { orderId: '42' }, model })",
    /^(Object literal may only specify known properties, and 'orderId' does not exist in type '(readonly AnyMessage\[\]|TextOrMessages)'|Type '\{ orderId: string; \}' is not assignable to type 'TextOrMessages')\.$/,
  ],
  [
    "runAgentAsChild<typeof orders>('orders', 'Order 42')",
    /^Argument of type 'string' is not assignable to parameter of type '\{ orderId: string; \}'\.$/,
  ],
  [
    "defineAgent({ ...basics, name: 'x', inputSchema: z.object({ a: z.string() }), prompt: (job: { b: string }) => job.b })",
    /is missing in type|Property 'b'|not assignable/,
  ],
];

/** Compiles a module beside the tests, against the users' types. */
function texts(): readonly (string | undefined)[] {
  const file = join(__dirname, 'lines-of-types.ts');
  const source = `${head}export const all = () => [\n${lines.map(([line]) => `  ${line},`).join('\n')}\n];\n`;
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? source : readFile(name));
  const program = ts.createProgram([file], options, host);
  const first = `${head}export const all = () => [\n`.split('\n').length - 1;
  const said: (string | undefined)[] = lines.map(() => undefined);
  for (const diagnostic of [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()]) {
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n').split('\n')[0] ?? '';
    const at = diagnostic.file?.fileName === file ? diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line - first : -1;
    if (at < 0 || at >= lines.length) throw new Error(`${diagnostic.file?.fileName}: ${text}`);
    said[at] ??= text;
  }
  return said;
}

it('the compiler takes what a start takes, and says in one line what is wrong with the rest', () => {
  const said = texts();
  expect(
    lines.flatMap(([line, says], n) => ((says === undefined ? said[n] === undefined : says.test(said[n] ?? '')) ? [] : [[line, said[n]]])),
  ).toEqual([]);
});
