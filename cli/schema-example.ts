import type { Json, JsonObject } from '../contract/messages/messages';

const deepest = 4;

/** `words`: for texts. Undefined: no value was found. */
export function exampleOf(schema: Json | undefined, words: string, depth = 0): Json | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > deepest) return undefined;
  const parts = schema as SchemaParts;
  const { type, enum: choices, const: only, default: usual, properties, required, items, minItems } = parts;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0] as Json;
  const [either] = parts.anyOf ?? parts.oneOf ?? [];
  if (type === undefined && either !== undefined) return exampleOf(either, words, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textFor(parts, words);
    case 'integer':
    case 'number':
      return numberFor(parts);
    case 'boolean':
      return true;
    case 'array': {
      const count = typeof minItems === 'number' ? Math.min(minItems, mostItems) : 0;
      return Array.from({ length: count }, () => exampleOf(items, words, depth + 1) ?? words);
    }
    case 'object': {
      const wanted = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
      const names = wanted.length > 0 ? wanted : Object.keys(properties ?? {});
      return Object.fromEntries(names.map((name) => [name, exampleOf(properties?.[name], words, depth + 1) ?? words]));
    }
    default:
      return undefined;
  }
}

function numberFor({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf, type }: SchemaParts): number {
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : -Infinity;
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum : Infinity;
  const least = typeof minimum === 'number' ? minimum : -Infinity;
  const most = typeof maximum === 'number' ? maximum : Infinity;
  const fits = (value: number): boolean => value > above && value < below && value >= least && value <= most;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const low = Math.max(above, least);
  const high = Math.min(below, most);
  const upwards = Math.ceil(low / step) * step;
  const downwards = Math.floor(high / step) * step;
  const candidates = [
    0,
    upwards,
    upwards + step,
    downwards,
    downwards - step,
    ...(type === 'integer' ? [] : [low, high, (low + high) / 2]),
  ];
  return candidates.find((value) => Number.isFinite(value) && fits(value)) ?? 0;
}

function textFor({ format, minLength, maxLength }: SchemaParts, words: string): string {
  const ofFormat = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (ofFormat !== undefined) return ofFormat;
  const least = typeof minLength === 'number' ? Math.min(minLength, longestText) : 0;
  const most = typeof maxLength === 'number' ? maxLength : Infinity;
  const text =
    words.length >= least
      ? words
      : `${words} `
          .repeat(Math.ceil(least / words.length))
          .slice(0, least)
          .replace(/ $/, '.');
  return text.length <= most ? text : text.slice(0, most);
}

const mostItems = 5;
const longestText = 200;

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:00:00Z',
  date: '2026-01-31',
  time: '09:00:00Z',
  duration: 'P1D',
  email: 'ann@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com',
  uuid: '6f1c6a2e-3a52-4b1c-9d0e-0123456789ab',
};

type SchemaParts = JsonObject & {
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly properties?: Readonly<Record<string, Json>>;
};
