import type { Json } from '../messages/messages';
import { canonicalJson } from '../messages/messages';
import { References, baseOf } from './schema-references';
import type { SchemaObject } from './schema-parts';
import { first, isRecord, listOf, own } from './schema-parts';

/** Bounds recursion, above any real schema or value. */
const deepest = 500;
const longestMisfit = 1000;
const mostMisfits = 20;
/** Ten million checks take seconds, and a gigabyte. Texts of misfits count as well. */
const mostChecks = 1_000_000;

/**
 * Checks structural keywords, equally in workflow and worker, and ends soon: each part of the schema checks each place once, and checks are
 * counted. Patterns are skipped, because a pattern may take forever.
 */
export function misfitOfSchema(schema: Json | undefined, value: Json): string | undefined {
  if (schema === undefined) return undefined;
  const misfit = new SchemaCheck(schema).misfit(schema, new ValuePlace(value, ''), schema, 0);
  return misfit === undefined || misfit.length <= longestMisfit ? misfit : `${misfit.slice(0, longestMisfit)}…`;
}

export function misfitsOfSchema(schema: Json | undefined, value: Json): readonly string[] {
  if (schema === undefined) return [];
  const told = new Set<string>();
  for (const misfit of new SchemaCheck(schema).misfits(schema, new ValuePlace(value, ''), schema, 0)) {
    if (told.size === mostMisfits && !told.has(misfit)) return [...told, 'and more'];
    told.add(misfit.length <= longestMisfit ? misfit : `${misfit.slice(0, longestMisfit)}…`);
  }
  return [...told];
}

class ValuePlace {
  readonly seen = new Map<SchemaObject, string | undefined>();
  readonly told = new Set<SchemaObject>();
  private inside: Map<string | number, ValuePlace> | undefined;
  private text: string | undefined;

  constructor(
    readonly value: Json,
    private readonly path: string,
  ) {}

  get name(): string {
    return this.path === '' ? 'it' : this.path;
  }

  get before(): string {
    return this.path === '' ? '' : `${this.path}.`;
  }

  get canonical(): string {
    return (this.text ??= canonicalJson(this.value));
  }

  at(key: string | number, item: Json): ValuePlace {
    this.inside ??= new Map();
    const known = this.inside.get(key);
    if (known !== undefined) return known;
    const place = new ValuePlace(item, `${this.before}${key}`);
    this.inside.set(key, place);
    return place;
  }
}

class SchemaCheck {
  private readonly references: References;
  private left = mostChecks;
  private readonly allowed = new Map<readonly Json[], ReadonlySet<string>>();

  constructor(root: Json) {
    this.references = new References(root);
  }

  misfit(schema: Json | undefined, place: ValuePlace, around: Json, depth: number): string | undefined {
    if (schema === false) return `${place.name} is not wanted`;
    if (!isRecord(schema) || depth > deepest) return undefined;
    if (place.seen.has(schema)) return place.seen.get(schema);
    this.left -= 1;
    if (this.left < 0) return `${place.name} is too large to be checked by this schema`;
    // A schema that refers to itself at this place asks nothing more.
    place.seen.set(schema, undefined);
    const misfit = this.found(schema, place, baseOf(schema, around), depth + 1);
    this.left -= (misfit?.length ?? 0) / 100;
    place.seen.set(schema, misfit);
    return misfit;
  }

  *misfits(schema: Json | undefined, place: ValuePlace, around: Json, depth: number): Generator<string> {
    const whole = this.misfit(schema, place, around, depth);
    if (whole === undefined) return;
    yield whole;
    if (!isRecord(schema) || place.told.has(schema)) return;
    place.told.add(schema);
    const { value } = place;
    const base = baseOf(schema, around);
    const referred = typeof schema['$ref'] === 'string' ? this.references.find(schema['$ref'], base) : undefined;
    if (referred !== undefined) yield* this.misfits(referred.schema, place, referred.base, depth + 1);
    for (const part of listOf(schema['allOf'])) yield* this.misfits(part, place, base, depth + 1);
    if (Array.isArray(value))
      for (const [at, item] of value.entries()) yield* this.misfits(itemOf(schema, at), place.at(at, item as Json), base, depth + 1);
    else if (isRecord(value)) yield* this.misfitsOfFields(schema, place, base, depth);
  }

  private *misfitsOfFields(schema: SchemaObject, place: ValuePlace, base: Json, depth: number): Generator<string> {
    const value = place.value as SchemaObject;
    for (const key of missingIn(schema, value)) yield `${place.before}${key} is missing`;
    for (const key of Object.keys(value)) {
      const part = partOf(schema, key);
      const field = place.at(key, own(value, key) ?? null);
      if (part === false) yield unwantedIn(schema, field);
      else yield* this.misfits(part, field, base, depth + 1);
    }
  }

  private found(schema: SchemaObject, place: ValuePlace, base: Json, depth: number): string | undefined {
    const { value, name } = place;
    const inside: InsideValue = (part, item, key) =>
      isRecord(part) || part === false ? this.misfit(part, place.at(key, item), base, depth) : undefined;
    const same = (part: Json | undefined): string | undefined => this.misfit(part, place, base, depth);
    return (
      this.misfitOfReference(schema, place, base, depth) ??
      this.misfitOfKind(schema, place) ??
      (typeof value === 'string' ? misfitOfLength(schema, value, name) : undefined) ??
      (typeof value === 'number' ? misfitOfNumber(schema, value, name) : undefined) ??
      (Array.isArray(value) ? misfitOfList(schema, value as readonly Json[], name, inside) : undefined) ??
      (isRecord(value) ? misfitOfObject(schema, value, place, inside) : undefined) ??
      first(listOf(schema['allOf']), same) ??
      misfitOfAny(schema, same, name)
    );
  }

  private misfitOfReference({ $ref }: SchemaObject, place: ValuePlace, base: Json, depth: number): string | undefined {
    if (typeof $ref !== 'string') return undefined;
    const referred = this.references.find($ref, base);
    return referred === undefined ? undefined : this.misfit(referred.schema, place, referred.base, depth);
  }

  private misfitOfKind({ type, enum: allowed, const: only }: SchemaObject, place: ValuePlace): string | undefined {
    const { value, name } = place;
    const types = typeof type === 'string' ? [type] : listOf(type);
    if (types.length > 0 && !types.some((one) => isOfType(one, value)))
      return `${name} is no ${types.map((one) => (typeof one === 'string' ? one : '?')).join(' or ')}`;
    if (Array.isArray(allowed) && !this.textsOf(allowed as readonly Json[]).has(place.canonical))
      return `${name} is none of ${JSON.stringify(allowed)}`;
    if (only !== undefined && canonicalJson(only) !== place.canonical) return `${name} is not ${JSON.stringify(only)}`;
    return undefined;
  }

  private textsOf(allowed: readonly Json[]): ReadonlySet<string> {
    const known = this.allowed.get(allowed);
    if (known !== undefined) return known;
    const texts = new Set(allowed.map(canonicalJson));
    this.allowed.set(allowed, texts);
    return texts;
  }
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

function misfitOfNumber(schema: SchemaObject, value: number, path: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number' && value < minimum) return `${path} is less than ${minimum}`;
  if (typeof maximum === 'number' && value > maximum) return `${path} is more than ${maximum}`;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `${path} is not more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `${path} is not less than ${exclusiveMaximum}`;
  return undefined;
}

function misfitOfLength(schema: SchemaObject, value: string, path: string): string | undefined {
  if (schema['minLength'] === undefined && schema['maxLength'] === undefined) return undefined;
  return misfitOfSize(schema, 'Length', [...value].length, path);
}

const counted = { Length: 'characters', Items: 'items', Properties: 'fields' } as const;

function misfitOfSize(schema: SchemaObject, what: keyof typeof counted, size: number, path: string): string | undefined {
  const of = counted[what];
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]];
  if (typeof least === 'number' && size < least) return `${path} has ${size} ${of}, at least ${least} are wanted`;
  if (typeof most === 'number' && size > most) return `${path} has ${size} ${of}, at most ${most} are wanted`;
  return undefined;
}

type InsideValue = (part: Json | undefined, item: Json, key: string | number) => string | undefined;

function misfitOfList(schema: SchemaObject, value: readonly Json[], path: string, inside: InsideValue): string | undefined {
  return (
    misfitOfSize(schema, 'Items', value.length, path) ?? first(value, (item, position) => inside(itemOf(schema, position), item, position))
  );
}

function itemOf(schema: SchemaObject, position: number): Json | undefined {
  const places = listOf(schema['prefixItems']);
  return position < places.length ? places[position] : schema['items'];
}

function knownIn(schema: SchemaObject): SchemaObject {
  return isRecord(schema['properties']) ? schema['properties'] : {};
}

function missingIn(schema: SchemaObject, value: SchemaObject): readonly string[] {
  return listOf(schema['required']).filter((key): key is string => typeof key === 'string' && own(value, key) === undefined);
}

function partOf(schema: SchemaObject, key: string): Json | undefined {
  return own(knownIn(schema), key) ?? (schema['patternProperties'] === undefined ? schema['additionalProperties'] : undefined);
}

function unwantedIn(schema: SchemaObject, field: ValuePlace): string {
  const known = knownIn(schema);
  const names = Object.keys(known).filter((name) => own(known, name) !== false);
  return `${field.name} is not wanted${names.length === 0 ? '' : `; there is ${names.join(', ')}`}`;
}

function misfitOfObject(schema: SchemaObject, value: SchemaObject, place: ValuePlace, inside: InsideValue): string | undefined {
  const [missing] = missingIn(schema, value);
  if (missing !== undefined) return `${place.before}${missing} is missing`;
  return (
    misfitOfSize(schema, 'Properties', Object.keys(value).length, place.name) ??
    first(Object.keys(value), (key) => {
      const item = own(value, key);
      if (item === undefined) return undefined;
      const part = partOf(schema, key);
      return part === false ? unwantedIn(schema, place.at(key, item)) : inside(part, item, key);
    })
  );
}

function misfitOfAny(schema: SchemaObject, same: (part: Json | undefined) => string | undefined, path: string): string | undefined {
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts = listOf(schema[keyword]);
    if (parts.length === 0) continue;
    const misfits = parts.map(same);
    if (misfits.includes(undefined)) continue;
    return parts.length === 1 ? misfits[0] : `${path} is nothing of what is wanted (${listed(misfits)})`;
  }
  return undefined;
}

/** Bounded, because an entry may be a list as well. */
function listed(misfits: readonly (string | undefined)[]): string {
  const text = [...new Set(misfits)].join('; ');
  return text.length <= longestMisfit ? text : `${text.slice(0, longestMisfit)}…`;
}
