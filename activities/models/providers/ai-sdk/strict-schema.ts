import type { Json } from '../../../../contract/messages/messages';

type SchemaNode = Readonly<Record<string, Json | undefined>>;

/** Closes objects that are silent about other fields, whose values would be lost anyway. */
export function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => closed(item));
  if (!isNode(schema)) return schema;
  const copy: Record<string, Json | undefined> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = value === undefined || literal.has(key) ? value : closed(value);
  return isNode(schema['properties']) && schema['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** A provider can enforce a schema whose objects are all closed and require all fields. */
export function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every((item: Json) => isStrict(item));
  if (!isNode(schema)) return true;
  const { properties, required, additionalProperties, type } = schema;
  if (isNode(properties)) {
    const wanted: readonly Json[] = Array.isArray(required) ? (required as readonly Json[]) : [];
    if (additionalProperties !== false || !Object.keys(properties).every((name) => wanted.includes(name))) return false;
  } else if (type === 'object') return false;
  return Object.entries(schema).every(([key, value]) => literal.has(key) || isStrict(value));
}

const literal = new Set(['enum', 'const', 'default', 'examples', 'required']);

function isNode(value: Json | undefined): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
