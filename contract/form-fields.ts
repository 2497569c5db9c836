import { isRecord } from './check';
import { defined } from './defined';
import type { Json, JsonObject } from './messages/messages';
import { textOfJson } from './messages/messages';

/** A field of a form. The schema of the answer checks values. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'number' | 'boolean' | 'choice' | 'choices' | 'date' | 'time' | 'file' | 'json';
  readonly required: boolean;
  readonly help?: string;
  readonly default?: Json;
  /** Set for `choice` and `choices`. */
  readonly choices?: readonly FormChoice[];
  /** The format of a text, such as "email", "uri" or "multiline". */
  readonly format?: string;
  readonly min?: number;
  readonly max?: number;
}

export interface FormChoice {
  readonly value: Json;
  readonly label: string;
}

/** The address of a file. Holdfast keeps no files. */
export const fileSchema: JsonObject = {
  type: 'object',
  format: 'file',
  properties: {
    name: { type: 'string', minLength: 1 },
    mediaType: { type: 'string', minLength: 1 },
    url: { type: 'string', minLength: 1 },
  },
  required: ['name', 'mediaType', 'url'],
  additionalProperties: false,
};

export function fieldsOf(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema;
  const needed = Array.isArray(required) ? (required as readonly Json[]) : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, part = true]) => fieldOf(name, part, needed.includes(name)));
}

function fieldOf(name: string, part: Json, required: boolean): FormField {
  const schema = isRecord(part) ? part : {};
  const { title, description, default: usual, format, minimum, maximum, items } = schema;
  const ofItems = schema['type'] === 'array' && isRecord(items) ? choicesOf(items) : undefined;
  const choices = ofItems ?? choicesOf(schema);
  return {
    name,
    label: typeof title === 'string' ? title : name,
    type: ofItems !== undefined ? 'choices' : choices !== undefined ? 'choice' : typeOf(schema),
    required: required && usual === undefined,
    ...defined({
      help: typeof description === 'string' ? description : undefined,
      default: usual,
      choices,
      format: typeof format === 'string' && schema['type'] === 'string' ? format : undefined,
      min: typeof minimum === 'number' ? minimum : undefined,
      max: typeof maximum === 'number' ? maximum : undefined,
    }),
  };
}

/** Reads `enum`, or `oneOf` with constants and titles. */
function choicesOf(schema: JsonObject): readonly FormChoice[] | undefined {
  const { enum: values, oneOf } = schema;
  if (Array.isArray(values)) return (values as readonly Json[]).map((value) => ({ value, label: textOfJson(value) }));
  if (!Array.isArray(oneOf) || oneOf.length === 0) return undefined;
  const parts = (oneOf as readonly Json[]).map((one) => (isRecord(one) ? one : {}));
  if (!parts.every((one) => one['const'] !== undefined)) return undefined;
  return parts.map(({ const: value = null, title }) => ({ value, label: typeof title === 'string' ? title : textOfJson(value) }));
}

function typeOf({ type, format }: JsonObject): FormField['type'] {
  if (type === 'object' && format === 'file') return 'file';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type !== 'string') return 'json';
  if (format === 'date') return 'date';
  return format === 'date-time' || format === 'time' ? 'time' : 'text';
}

/** Fields with a default become optional, at any depth. */
export function withoutDefaulted(schema: JsonObject): JsonObject {
  const { properties, required, items } = schema;
  const parts = isRecord(properties) ? properties : {};
  const inside = (part: Json | undefined): Json | undefined => (isRecord(part) ? withoutDefaulted(part) : part);
  return {
    ...schema,
    ...(isRecord(properties) ? { properties: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, inside(part)])) } : {}),
    ...(isRecord(items) ? { items: withoutDefaulted(items) } : {}),
    ...(Array.isArray(required)
      ? { required: (required as readonly Json[]).filter((name) => typeof name !== 'string' || defaultOf(parts, name) === undefined) }
      : {}),
  };
}

export function withDefaults(schema: JsonObject, answer: Json): Json {
  const { properties, items } = schema;
  if (Array.isArray(answer))
    return isRecord(items) ? (answer as readonly Json[]).map((one): Json => withDefaults(items, one)) : (answer as readonly Json[]);
  if (!isRecord(answer) || !isRecord(properties)) return answer;
  const whole = Object.entries(answer).map(([name, value]) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, isRecord(part) && value !== undefined ? withDefaults(part, value) : value] as const;
  });
  const usual = Object.keys(properties).flatMap((name) => {
    const value = Object.hasOwn(answer, name) ? undefined : defaultOf(properties, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...whole, ...usual]);
}

function defaultOf(properties: JsonObject, name: string): Json | undefined {
  const part = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(part) ? part['default'] : undefined;
}
