import type { Json } from '../contract/messages/messages';

type JsonSchema = { readonly [keyword: string]: Json };

/** The JSON Schema of an object without other properties. */
export function objectSchema(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
