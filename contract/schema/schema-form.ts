import { notJson } from '../messages/messages';
import { both, form, isRecord as isObject } from '../check';
import type { Json } from '../messages/messages';
import { jsonSize, limits } from '../limits';
import { References, baseOf } from './schema-references';
import type { SchemaObject } from './schema-parts';
import { first, isRecord } from './schema-parts';

interface SchemaPart {
  readonly schema: Json;
  readonly path: string;
  /** Where pointers begin. */
  readonly base: Json;
}

type FormCheck = (value: Json) => string | undefined;

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const withSchema = [
  ...['additionalProperties', 'additionalItems', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames', 'contains'],
  ...['not', 'if', 'then', 'else'],
];
const withSchemas = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];
const withNamedSchemas = ['properties', 'patternProperties'];

/** Unknown keywords are allowed, a `$ref` stays inside the schema, and patterns are compiled but never run. */
export function problemOfSchema(schema: Json): string | undefined {
  const references = new References(schema);
  const parts: SchemaPart[] = [{ schema, path: '', base: schema }];
  const seen = new Set<Json>();
  for (const { schema: part, path, base: around } of parts) {
    const at = path === '' ? 'it' : path;
    if (typeof part === 'boolean' || seen.has(part)) continue;
    if (!isRecord(part)) return `${at} is ${said(part)}; a schema is an object, true or false`;
    seen.add(part);
    const problem = problemOfKeywords(part);
    if (problem !== undefined) return `${at} has ${problem}`;
    const base = baseOf(part, around);
    for (const inner of partsOf(part, path, base)) parts.push(inner);
    const { $ref } = part;
    if (typeof $ref !== 'string') continue;
    const found = references.find($ref, base);
    if (found === undefined) return `${at} has a $ref to ${said($ref)}, ${lost($ref)}`;
    parts.push({ ...found, path: $ref });
  }
  return undefined;
}

function lost(reference: string): string {
  return reference.startsWith('#')
    ? 'and nothing stands there'
    : 'which is no part of it; put that schema into $defs, and point to it there';
}

const checks: Readonly<Record<string, FormCheck>> = {
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

function checksOf(keywords: readonly string[], check: FormCheck): Record<string, FormCheck> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, check]));
}

function problemOfKeywords(schema: SchemaObject): string | undefined {
  return first(Object.keys(schema), (keyword) => {
    const [value, check] = [schema[keyword], Object.hasOwn(checks, keyword) ? checks[keyword] : undefined];
    const problem = value === undefined ? undefined : check?.(value);
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

/** Unreferenced definitions do not count. */
function partsOf(schema: SchemaObject, path: string, base: Json): readonly SchemaPart[] {
  const before = path === '' ? '' : `${path}.`;
  const parts: SchemaPart[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const isList = keyword === 'items' ? Array.isArray(value) : withSchemas.includes(keyword);
    if (value === undefined) continue;
    if (isList || withNamedSchemas.includes(keyword)) {
      for (const [key, part] of Object.entries(isList || isRecord(value) ? (value as SchemaObject) : {}))
        if (part !== undefined) parts.push({ schema: part, path: `${before}${keyword}.${key}`, base });
    } else if (keyword === 'items' || withSchema.includes(keyword)) parts.push({ schema: value, path: `${before}${keyword}`, base });
  }
  return parts;
}

function said(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value !== 'object') return String(value);
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Of an MCP server. */
export function problemOfForeignSchema(schema: Json): string | undefined {
  const problem = notJson(schema);
  if (problem !== undefined) return problem;
  return jsonSize(schema) > limits.foreignSchema ? `it has more than ${limits.foreignSchema / 1024} KB` : problemOfSchema(schema);
}

/** Zod schemas are objects with functions. */
export const jsonSchema = both(
  form(
    (value) => isObject(value) && notJson(value) === undefined,
    'a JSON Schema of an object, such as { type: "object", properties: { … } }',
  ),
  {
    wanted: 'a JSON Schema',
    problem: (value, option) => {
      const problem = problemOfSchema(value as Json);
      return problem === undefined ? undefined : `${option} must be a JSON Schema: ${problem}`;
    },
  },
);
