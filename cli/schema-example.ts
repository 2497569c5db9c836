import type { Json } from '../contract/messages/messages';

const deepest = 4;

/** A value of the form that a schema asks for, with these words where a text is to be written. Undefined where none is found. */
export function exampleOf(schema: Json | undefined, words: string, depth = 0): Json | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > deepest) return undefined;
  const { type, enum: choices, const: only, default: usual, properties, required, items, minimum, minItems } = schema as SchemaParts;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0] as Json;
  switch (type) {
    case 'string':
      return words;
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? Math.ceil(minimum) : 0;
    case 'boolean':
      return true;
    case 'array':
      return minItems === undefined || minItems === 0 ? [] : [exampleOf(items, words, depth + 1) ?? words];
    case 'object': {
      const wanted = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
      const names = wanted.length > 0 ? wanted : Object.keys(properties ?? {});
      return Object.fromEntries(names.map((name) => [name, exampleOf(properties?.[name], words, depth + 1) ?? words]));
    }
    default:
      return undefined;
  }
}

interface SchemaParts {
  readonly type?: Json;
  readonly enum?: Json;
  readonly const?: Json;
  readonly default?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: Json;
  readonly items?: Json;
  readonly minimum?: Json;
  readonly minItems?: Json;
}
