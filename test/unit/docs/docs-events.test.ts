import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import { scriptedModel, testRun } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import { approval } from 'holdfast/middleware';
import { runExamples } from '../../support/document-examples';
import { member } from '../../support/team-bed';

const root = resolve(__dirname, '..', '..', '..');
const { audit } = runExamples(['reference/events'], require);

describe('docs/reference/events.md', () => {
  it.each([
    ['Durable events', 'contract/events.ts', 'EventBody'],
    ['Deltas', 'contract/deltas.ts', 'DeltaBody'],
  ])('has under "%s" exactly the types of the code with their fields', (heading, file, type) => {
    expect(fieldsOnPage(heading)).toEqual(fieldsInCode(file, type));
  });

  it('shows who decided and which tools ran', async () => {
    const tools = { refund: defineTool({ description: 'Refunds.', inputSchema: z.object({ orderId: z.string() }), execute: () => 'ok' }) };
    const agent = member('audited', { tools: ['refund'], middleware: [approval({ tools: { refund: true } })] });
    const model = scriptedModel([{ toolCalls: [{ name: 'refund', input: { orderId: '42' } }] }, { text: 'Paid.' }]);
    const run = await testRun(agent, { input: 'Refund it.', model, tools });
    const [interrupt] = await run.interrupts();
    await run.approve(interrupt!.id, { by: 'ada' });
    await run.result();
    expect(await audit(run)).toEqual([`${interrupt!.id}: answer by ada`, 'refund: done']);
  });
});

function fieldsOnPage(heading: string): Readonly<Record<string, readonly string[]>> {
  const page = readFileSync(join(root, 'docs', 'reference', 'events.md'), 'utf8');
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const codeIn = (cell = ''): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  const rows = section.split('\n').flatMap((line) => {
    const [, event, , fields] = line.split('|');
    const [name] = codeIn(event);
    return name === undefined ? [] : [[name, codeIn(fields)] as const];
  });
  return Object.fromEntries(rows);
}

function fieldsInCode(file: string, type: string): Readonly<Record<string, readonly string[]>> {
  const sourceOf = (path: string) => ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const source = sourceOf(file);
  const known = [...source.statements, ...sourceOf('contract/access.ts').statements];
  const membersOf = (node: ts.Node): readonly ts.TypeElement[] => {
    if (ts.isParenthesizedTypeNode(node)) return membersOf(node.type);
    if (ts.isTypeLiteralNode(node)) return [...node.members];
    if (ts.isIntersectionTypeNode(node)) return node.types.flatMap(membersOf);
    if (ts.isTypeReferenceNode(node)) {
      const declared = known.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === node.typeName.getText());
      if (declared !== undefined && ts.isInterfaceDeclaration(declared)) return [...declared.members];
    }
    throw new Error(`${file} has a part of ${type} that this test does not know: ${node.getText()}`);
  };
  const union = source.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === type);
  if (union === undefined || !ts.isTypeAliasDeclaration(union) || !ts.isUnionTypeNode(union.type))
    throw new Error(`${file} has no union ${type}.`);
  return Object.fromEntries(
    union.type.types.map((variant) => {
      const members = membersOf(variant).filter(ts.isPropertySignature);
      const name =
        members
          .find((member) => member.name.getText() === 'type')
          ?.type?.getText()
          .slice(1, -1) ?? '';
      const fields = members.filter((member) => member.name.getText() !== 'type');
      return [name, fields.map((field) => `${field.name.getText()}${field.questionToken === undefined ? '' : '?'}`)];
    }),
  );
}
