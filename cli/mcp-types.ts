import type { McpTool } from '../contract/manifest';
import { isRecord } from '../contract/check';
import type { Json } from '../contract/messages/messages';

type NamedTool = Pick<McpTool, 'inputSchema'> & { readonly name: string };

/** A module with a type, so that agents can name the tools. */
export function mcpTypes(tools: readonly NamedTool[]): string {
  const lines = [...tools]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, inputSchema }) => `  ${keyOf(name)}: { execute(input: ${typeOf(inputSchema, 0)}): unknown };\n`);
  return `// Written by \`holdfast mcp types\`.\nexport type McpTools = {\n${lines.join('')}};\n`;
}

const deepest = 8;

function typeOf(schema: Json | undefined, depth: number): string {
  if (!isRecord(schema) || depth > deepest) return 'unknown';
  const { type, properties, items, additionalProperties } = schema as Readonly<Record<string, Json>>;
  const choices = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (Array.isArray(choices)) return union(choices.map((value) => JSON.stringify(value)));
  const either = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(either)) return union(either.map((one) => typeOf(one as Json, depth + 1)));
  if (Array.isArray(type)) return union(type.map((one: Json) => typeOf({ ...schema, type: one }, depth + 1)));
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeOf(items, depth + 1)})[]`;
    default:
  }
  if (type !== 'object' && !isRecord(properties)) return 'unknown';
  if (!isRecord(properties) || Object.keys(properties).length === 0)
    return `Readonly<Record<string, ${additionalProperties === false ? 'never' : typeOf(additionalProperties, depth + 1)}>>`;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(
    ([name, one]) => `readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(one as Json, depth + 1)}`,
  );
  return `{ ${fields.join('; ')} }`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never';
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
