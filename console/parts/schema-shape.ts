import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { FormChoice, FormField } from '../../contract/form-fields';
import { fieldsOf } from '../../contract/form-fields';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { References } from '../../contract/schema/schema-references';

export interface SchemaShape {
  readonly kind: FormField['type'] | 'object' | 'list';
  readonly label: string;
  readonly help?: string;
  readonly choices?: readonly FormChoice[];
  readonly examples?: readonly string[];
  readonly isLong: boolean;
  readonly isWhole: boolean;
  readonly fields: readonly { readonly name: string; readonly schema: Json; readonly isRequired: boolean }[];
  readonly items?: Json;
  readonly usual?: Json;
}

export function shapeOf(given: Json | undefined, name: string, root: Json): SchemaShape {
  const schema = resolved(given, root);
  const [field] = fieldsOf({ properties: { [name]: schema }, required: [name] });
  const { type = 'json', label = name, help, choices, format, default: usual } = field ?? {};
  const properties = isRecord(schema['properties']) ? schema['properties'] : undefined;
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly Json[]) : [];
  const isObject = type === 'json' && properties !== undefined && schema['type'] === 'object';
  const isList = type === 'json' && schema['type'] === 'array' && schema['items'] !== undefined && schema['prefixItems'] === undefined;
  const examples = Array.isArray(schema['examples']) ? schema['examples'].filter((one): one is string => typeof one === 'string') : [];
  return {
    kind: isObject ? 'object' : isList ? 'list' : type,
    label,
    isLong: format === 'multiline' || (typeof schema['maxLength'] === 'number' && schema['maxLength'] > 300),
    isWhole: schema['type'] === 'integer',
    fields: isObject
      ? Object.entries(properties).map(([key, part = true]) => ({ name: key, schema: part, isRequired: required.includes(key) }))
      : [],
    ...defined({
      help,
      choices,
      usual,
      examples: examples.length === 0 ? undefined : examples,
      items: isList ? schema['items'] : undefined,
    }),
  };
}

/** Defaults, and `false` for an unchecked box. */
export function initialValue(schema: Json | undefined, root: Json, isRequired = true): Json | undefined {
  const shape = shapeOf(schema, '', root);
  if (shape.usual !== undefined) return shape.usual;
  if (!isRequired) return undefined;
  if (shape.kind === 'boolean') return false;
  if (shape.kind === 'list' || shape.kind === 'choices') return [];
  if (shape.kind !== 'object') return undefined;
  const entries = shape.fields.flatMap(({ name, schema: part, isRequired: isNeeded }) => {
    const value = initialValue(part, root, isNeeded);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Drops the alternative `null`. */
function resolved(given: Json | undefined, root: Json, depth = 0): JsonObject {
  if (!isRecord(given)) return {};
  const schema = given;
  const { $ref, anyOf } = schema;
  if (typeof $ref === 'string' && depth < 8) {
    const found = new References(root).find($ref, root)?.schema;
    return { ...resolved(found, root, depth + 1), ...Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$ref')) };
  }
  const others = Array.isArray(anyOf) ? (anyOf as readonly Json[]).filter((one) => !(isRecord(one) && one['type'] === 'null')) : [];
  if (others.length === 1 && depth < 8) {
    const { anyOf: _, ...rest } = schema;
    return { ...resolved(others[0], root, depth + 1), ...rest };
  }
  return schema;
}
