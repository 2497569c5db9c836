import type { Json } from './messages';
import { canonicalJson } from './messages';
import type { Schema } from './schema-parts';
import { first, isRecord, listOf, own } from './schema-parts';

const deepest = 64;

/**
 * Where a value does not fit a JSON Schema, or nothing. It knows the keywords that say what a value is made of, and lets pass what it does
 * not know; so it needs nothing but itself, always ends soon, and says the same wherever it runs. Patterns are left to others: they can
 * take for ever.
 */
export function misfitOfSchema(schema: Json | undefined, value: Json, path = '', root = schema, depth = 0): string | undefined {
  if (schema === false) return `${path || 'it'} is not wanted`;
  if (!isRecord(schema) || depth > deepest) return undefined;
  const inside = (part: Json | undefined, item: Json, key: string | number): string | undefined =>
    misfitOfSchema(part, item, path === '' ? String(key) : `${path}.${key}`, root, depth + 1);
  const same = (part: Json | undefined): string | undefined => misfitOfSchema(part, value, path, root, depth + 1);
  return (
    (typeof schema['$ref'] === 'string' ? same(referred(root, schema['$ref'])) : undefined) ??
    misfitOfKind(schema, value, path || 'it') ??
    (typeof value === 'string' ? misfitOfSize(schema, 'Length', [...value].length, 'characters', path || 'it') : undefined) ??
    (typeof value === 'number' ? misfitOfNumber(schema, value, path || 'it') : undefined) ??
    (Array.isArray(value) ? misfitOfList(schema, value as readonly Json[], path || 'it', inside) : undefined) ??
    (isRecord(value) ? misfitOfObject(schema, value, path, inside) : undefined) ??
    first(listOf(schema['allOf']), same) ??
    misfitOfAny(schema, same, path || 'it')
  );
}

function misfitOfKind({ type, enum: allowed, const: only }: Schema, value: Json, path: string): string | undefined {
  const types = typeof type === 'string' ? [type] : listOf(type);
  if (types.length > 0 && !types.some((name) => isOfType(name, value)))
    return `${path} is no ${types.map((name) => (typeof name === 'string' ? name : '?')).join(' or ')}`;
  const known = canonicalJson(value);
  if (Array.isArray(allowed) && !allowed.some((one) => canonicalJson(one) === known))
    return `${path} is none of ${JSON.stringify(allowed)}`;
  if (only !== undefined && canonicalJson(only) !== known) return `${path} is not ${JSON.stringify(only)}`;
  return undefined;
}

function isOfType(type: Json, value: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

function misfitOfNumber(schema: Schema, value: number, path: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number' && value < minimum) return `${path} is less than ${minimum}`;
  if (typeof maximum === 'number' && value > maximum) return `${path} is more than ${maximum}`;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `${path} is not more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `${path} is not less than ${exclusiveMaximum}`;
  return undefined;
}

function misfitOfSize(schema: Schema, what: 'Length' | 'Items' | 'Properties', size: number, of: string, path: string): string | undefined {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]];
  if (typeof least === 'number' && size < least) return `${path} has ${size} ${of}, at least ${least} are wanted`;
  if (typeof most === 'number' && size > most) return `${path} has ${size} ${of}, at most ${most} are wanted`;
  return undefined;
}

type Inside = (part: Json | undefined, item: Json, key: string | number) => string | undefined;

function misfitOfList(schema: Schema, value: readonly Json[], path: string, inside: Inside): string | undefined {
  const places = listOf(schema['prefixItems']);
  return (
    misfitOfSize(schema, 'Items', value.length, 'items', path) ??
    first(value, (item, position) => inside(position < places.length ? places[position] : schema['items'], item, position))
  );
}

function misfitOfObject(schema: Schema, value: Schema, path: string, inside: Inside): string | undefined {
  const known = isRecord(schema['properties']) ? schema['properties'] : {};
  const missing = listOf(schema['required']).find((key): key is string => typeof key === 'string' && own(value, key) === undefined);
  if (missing !== undefined) return `${path === '' ? '' : `${path}.`}${missing} is missing`;
  return (
    misfitOfSize(schema, 'Properties', Object.keys(value).length, 'fields', path || 'it') ??
    first(Object.keys(value), (key) => {
      const item = own(value, key);
      if (item === undefined) return undefined;
      const part = own(known, key) ?? (schema['patternProperties'] === undefined ? schema['additionalProperties'] : undefined);
      const misfit = inside(part, item, key);
      const names = Object.keys(known).filter((name) => own(known, name) !== false);
      return misfit === undefined || part !== false || names.length === 0 ? misfit : `${misfit}; there is ${names.join(', ')}`;
    })
  );
}

function misfitOfAny(schema: Schema, same: (part: Json | undefined) => string | undefined, path: string): string | undefined {
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts = listOf(schema[keyword]);
    if (parts.length === 0) continue;
    const misfits = parts.map(same);
    if (misfits.includes(undefined)) continue;
    return parts.length === 1 ? misfits[0] : `${path} is nothing of what is wanted (${misfits.join('; ')})`;
  }
  return undefined;
}

/** Only what stands in the schema itself; anything else lets the value pass. */
function referred(root: Json | undefined, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: Json | undefined = root;
  for (const segment of reference.split('/').slice(1))
    found = isRecord(found) ? own(found, segment.replace(/~1/g, '/').replace(/~0/g, '~')) : undefined;
  return found;
}
