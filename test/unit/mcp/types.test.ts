import { mcpTypes } from '../../../cli/mcp-types';

it('writes the arguments of each tool as a type', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      to: { enum: ['a', 'b'] },
      'a-b': { type: ['string', 'null'] },
      lines: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
      any: {},
    },
    required: ['amount'],
  };
  const tools = [
    { name: 'shop_pay', inputSchema },
    { name: 'shop-find', inputSchema: { type: 'object' } },
  ];
  expect(mcpTypes(tools)).toBe(
    [
      '// Written by `holdfast mcp types`.',
      'export type McpTools = {',
      '  "shop-find": { execute(input: Readonly<Record<string, unknown>>): unknown };',
      '  shop_pay: { execute(input: { readonly amount: number; readonly to?: "a" | "b"; readonly "a-b"?: string | null; readonly lines?: readonly ({ readonly id: number })[]; readonly any?: unknown }): unknown };',
      '};',
      '',
    ].join('\n'),
  );
});
