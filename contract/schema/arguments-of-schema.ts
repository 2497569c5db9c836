import { isRecord } from '../check';
/** Keywords that allow keys outside of `properties`. */
const elsewhere = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas', 'unevaluatedProperties'];

/** Undefined: the schema allows other arguments. */
export function argumentsOfSchema(schema: unknown): readonly string[] | undefined {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return undefined;
  const { additionalProperties = false } = schema;
  if (additionalProperties !== false || elsewhere.some((word) => Object.hasOwn(schema, word))) return undefined;
  return Object.keys(schema['properties']);
}

/** Without a schema, any alias fits. */
export function misfitOfAlias(tool: string, argument: string, schema: unknown): string | undefined {
  const known = argumentsOfSchema(schema);
  if (known === undefined || known.includes(argument)) return undefined;
  return `tool "${tool}" has no argument "${argument}", for which toolAliases has aliases. It has: ${known.join(', ') || 'none'}.`;
}
