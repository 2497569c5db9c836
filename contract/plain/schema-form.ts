import type { Json } from './messages';
import type { Schema } from './schema-parts';
import { first, isRecord, listOf, own } from './schema-parts';

interface Part {
  readonly schema: Json;
  /** Where it stands, as in the schema itself. */
  readonly path: string;
}

type Check = (value: Json) => string | undefined;

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const withSchema = [
  ...['additionalProperties', 'additionalItems', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames', 'contains'],
  ...['not', 'if', 'then', 'else'],
];
const withSchemas = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];
const withNamedSchemas = ['properties', 'patternProperties'];

/**
 * Why a value is no JSON Schema that could check anything, or nothing. Keywords that it does not know are allowed, as JSON Schema says, and so
 * is a `$ref` to somewhere else. Patterns are compiled and never run.
 */
export function problemOfSchema(schema: Json): string | undefined {
  const parts: Part[] = [{ schema, path: '' }];
  const seen = new Set<Json>();
  let lost: string | undefined;
  let hasOther = false;
  for (const { schema: part, path } of parts) {
    const at = path === '' ? 'it' : path;
    if (typeof part === 'boolean' || seen.has(part)) continue;
    if (!isRecord(part)) return `${at} is ${said(part)}; a schema is an object, true or false`;
    seen.add(part);
    hasOther ||= path !== '' && typeof part['$id'] === 'string';
    const problem = problemOfKeywords(part);
    if (problem !== undefined) return `${at} has ${problem}`;
    parts.push(...partsOf(part, path));
    const { $ref } = part;
    if (typeof $ref !== 'string' || !isPointer($ref)) continue;
    const found = placeOf(schema, $ref);
    if (found === undefined) lost ??= `${at} has a $ref to "${$ref}", and nothing stands there`;
    else parts.push({ schema: found, path: $ref });
  }
  // Below an `$id` a pointer begins there.
  return hasOther ? undefined : lost;
}

const checks: Readonly<Record<string, Check>> = {
  $ref: (value) => (typeof value === 'string' ? undefined : 'that is no text'),
  type: (value) => {
    const wrong = (Array.isArray(value) ? (value as readonly Json[]) : [value]).find((type) => !types.includes(type as string));
    return wrong === undefined ? undefined : `${said(wrong)}; there are ${types.join(', ')}`;
  },
  enum: (value) => (Array.isArray(value) ? undefined : 'that is no list of values'),
  required: (value) => (isTexts(value) ? undefined : 'that is no list of names'),
  pattern: (value) => (typeof value === 'string' ? problemOfPattern(value) : 'that is no text'),
  patternProperties: (value) => (isRecord(value) ? first(Object.keys(value), problemOfPattern) : 'that is no object with schemas'),
  ...checksOf(withSchemas, (value) => (Array.isArray(value) ? undefined : 'that is no list of schemas')),
  ...checksOf(['properties'], (value) => (isRecord(value) ? undefined : 'that is no object with schemas')),
  ...checksOf(['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], (value) =>
    typeof value === 'number' ? undefined : 'that is no number',
  ),
};

function checksOf(keywords: readonly string[], check: Check): Record<string, Check> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, check]));
}

function problemOfKeywords(schema: Schema): string | undefined {
  return first(Object.entries(checks), ([keyword, check]) => {
    const value = own(schema, keyword);
    const problem = value === undefined ? undefined : check(value);
    return problem === undefined ? undefined : `${/^[aeiou]/.test(keyword) ? 'an' : 'a'} ${keyword} ${problem}`;
  });
}

function problemOfPattern(pattern: string): string | undefined {
  return ['', 'u'].some((flags) => compiles(pattern, flags)) ? undefined : `"${pattern}" that is no regular expression`;
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** The schemas that stand directly in a schema. Definitions count where something refers to them. */
function partsOf(schema: Schema, path: string): readonly Part[] {
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const listed = (keyword: string): readonly Part[] =>
    listOf(own(schema, keyword)).map((part, position) => ({ schema: part, path: inside(`${keyword}.${position}`) }));
  const named = (keyword: string): readonly Part[] => {
    const parts = own(schema, keyword);
    return Object.entries(isRecord(parts) ? parts : {}).flatMap(([key, part]) =>
      part === undefined ? [] : [{ schema: part, path: inside(`${keyword}.${key}`) }],
    );
  };
  const single = (keyword: string): readonly Part[] => {
    const part = own(schema, keyword);
    return part === undefined ? [] : [{ schema: part, path: inside(keyword) }];
  };
  return [
    ...[...withSchema, ...(Array.isArray(schema['items']) ? [] : ['items'])].flatMap(single),
    ...[...withSchemas, ...(Array.isArray(schema['items']) ? ['items'] : [])].flatMap(listed),
    ...withNamedSchemas.flatMap(named),
  ];
}

function isPointer(reference: string): boolean {
  return reference === '#' || reference.startsWith('#/');
}

function placeOf(root: Json, pointer: string): Json | undefined {
  let found: Json | undefined = root;
  for (const segment of pointer.split('/').slice(1)) {
    const keys = [segment, decoded(segment)].map((text) => text.replace(/~1/g, '/').replace(/~0/g, '~'));
    const holder: object = typeof found === 'object' && found !== null ? found : {};
    const key = keys.find((one) => Object.hasOwn(holder, one));
    found = key === undefined ? undefined : (holder as Schema)[key];
  }
  return found;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function said(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value !== 'object') return String(value);
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
