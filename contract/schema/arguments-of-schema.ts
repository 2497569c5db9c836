import { isRecord } from '../check';
/** Words with which a schema may allow keys that do not stand in its `properties`. */
const elsewhere = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas', 'unevaluatedProperties'];

/** The arguments that a tool with this schema has; undefined when it may have others. */
export function argumentsOfSchema(schema: unknown): readonly string[] | undefined {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return undefined;
  const { additionalProperties = false } = schema;
  if (additionalProperties !== false || elsewhere.some((word) => Object.hasOwn(schema, word))) return undefined;
  return Object.keys(schema['properties']);
}

/** What is wrong with aliases for an argument of a tool, or nothing. Without schema nothing is known. */
export function misfitOfAlias(tool: string, argument: string, schema: unknown): string | undefined {
  const known = argumentsOfSchema(schema);
  if (known === undefined || known.includes(argument)) return undefined;
  return `tool "${tool}" has no argument "${argument}", for which toolAliases has aliases. It has: ${known.join(', ') || 'none'}.`;
}
