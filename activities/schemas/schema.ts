import type { Refuse } from '../../contract/check';
import { z } from 'zod';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import type { Issue } from '../../host/json-schema';
import { compiledJsonSchema, issueList } from '../../host/json-schema';

/** A schema of the AI SDK, from `jsonSchema(…)` or `zodSchema(…)`. */
interface AiSdkSchema<Value = unknown> {
  readonly _type: Value;
  readonly jsonSchema: unknown;
}

/** A JSON Schema, draft 2020-12 or 7. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly _zod?: undefined;
  readonly jsonSchema?: undefined;
}

export type Schema<Value = unknown> = z.ZodType<Value> | AiSdkSchema<Value> | JsonSchema;

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

export interface SchemaReader {
  readonly json: Json;
  /** Present for asynchronous schemas: `json` is missing before `ready`. */
  readonly ready?: Promise<void>;
  /** The message names each misfit, such as `order.id: must be string`. `value` does not change. */
  parse(value: unknown): Promise<Parsed>;
}

type ValueCheck = (value: unknown) => Promise<Parsed>;

const way = 'use a zod 4 schema, a schema of the AI SDK (jsonSchema, zodSchema) or a JSON Schema';

export function readSchema(candidate: unknown, root: string, refuse: Refuse): SchemaReader {
  if (candidate === undefined || candidate === null) return refuse(`there is none; ${way}.`);
  if (isZod(candidate)) return ofZod(candidate, root, refuse);
  if (isAiSdkSchema(candidate)) return new AiSdkReader(candidate, root, refuse);
  const standard = standardOf(candidate);
  if (standard !== undefined) return ofStandard(standard, root, refuse);
  // The AI SDK also takes a function that makes the schema.
  if (typeof candidate === 'function') return readSchema(called(candidate as () => unknown, refuse), root, refuse);
  return ofJsonSchema(candidate, root, refuse);
}

export function isZod(candidate: unknown): candidate is z.ZodType {
  return typeof candidate === 'object' && candidate !== null && '_zod' in candidate;
}

function ofZod(schema: z.ZodType, root: string, refuse: Refuse): SchemaReader {
  return {
    json: zodJson(schema, refuse),
    parse: guarded(async (value) => {
      const parsed = await z.safeParseAsync(schema, value);
      return parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: issueList(parsed.error.issues, root) };
    }),
  };
}

function zodJson(schema: z.ZodType, refuse: Refuse): Json {
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return rest as Json;
  } catch (error) {
    return refuse(`it cannot be told to a model: ${messageOf(error)}`);
  }
}

interface AiSdkSchemaObject {
  readonly jsonSchema: unknown;
  readonly validate?: (value: unknown) => unknown;
}

function isAiSdkSchema(candidate: unknown): candidate is AiSdkSchemaObject {
  if (typeof candidate !== 'object' || candidate === null) return false;
  return Symbol.for('vercel.ai.schema') in candidate || ('jsonSchema' in candidate && 'validate' in candidate);
}

/** Without `validate` the JSON Schema decides, where the AI SDK would accept every value. */
class AiSdkReader implements SchemaReader {
  readonly ready?: Promise<void>;
  private told: Json | undefined;
  private check: ValueCheck | undefined;

  constructor(
    private readonly schema: AiSdkSchemaObject,
    private readonly root: string,
    private readonly refuse: Refuse,
  ) {
    const json = called(() => schema.jsonSchema, refuse);
    if (!isThenable(json)) {
      this.take(json);
      return;
    }
    this.ready = Promise.resolve(json).then(
      (made) => this.take(made),
      (error: unknown) => refuse(`its JSON Schema cannot be made: ${messageOf(error)}`),
    );
    this.ready.catch(() => undefined);
  }

  get json(): Json {
    if (this.told === undefined) throw new HoldfastError('internal', 'A schema was asked for before it was made.');
    return this.told;
  }

  async parse(value: unknown): Promise<Parsed> {
    await this.ready;
    return (this.check as ValueCheck)(value);
  }

  private take(json: unknown): void {
    const { schema, root, refuse } = this;
    const validate = schema.validate?.bind(schema);
    const reader = validate === undefined ? ofJsonSchema(json, root, refuse) : undefined;
    this.told = reader?.json ?? plainJson(json, refuse);
    this.check = reader?.parse ?? guarded(async (value) => validated(await validate?.(value), root));
  }
}

function validated(result: unknown, root: string): Parsed {
  const { success, value, error } = (result ?? {}) as { success?: boolean; value?: unknown; error?: unknown };
  if (success === true) return { ok: true, value };
  const issues = (error as { issues?: unknown } | undefined)?.issues;
  return { ok: false, message: Array.isArray(issues) ? issueList(issues as Issue[], root) : `${root}: ${messageOf(error)}` };
}

interface Standard {
  readonly vendor: string;
  validate(value: unknown): unknown;
  readonly jsonSchema?: { input(options: { target: string }): unknown };
}

function standardOf(candidate: unknown): Standard | undefined {
  if ((typeof candidate !== 'object' && typeof candidate !== 'function') || candidate === null) return undefined;
  return (candidate as { '~standard'?: Standard })['~standard'];
}

function ofStandard(standard: Standard, root: string, refuse: Refuse): SchemaReader {
  const { vendor, jsonSchema } = standard;
  if (vendor === 'zod') return refuse('it is a schema of zod 3; use zod 4.');
  if (jsonSchema === undefined) return refuse(`schemas of ${vendor} do not tell their JSON Schema, which a model needs; ${way}.`);
  return {
    json: plainJson(
      called(() => jsonSchema.input({ target: 'draft-07' }), refuse),
      refuse,
    ),
    parse: guarded(async (value) => {
      const { value: parsed, issues } = (await standard.validate(value)) as { value?: unknown; issues?: readonly Issue[] };
      return issues === undefined ? { ok: true, value: parsed } : { ok: false, message: issueList(issues, root) };
    }),
  };
}

function ofJsonSchema(candidate: unknown, root: string, refuse: Refuse): SchemaReader {
  const json = plainJson(candidate, refuse);
  const validate = compiledJsonSchema(json, refuse);
  return {
    json,
    parse: guarded(async (value) => {
      // Defaults must not change the given value.
      const copy: unknown = structuredClone(value);
      const issues = validate(copy);
      return issues.length === 0 ? { ok: true, value: copy } : { ok: false, message: issueList(issues, root) };
    }),
  };
}

/** Drops `$schema`, which some providers refuse. */
function plainJson(candidate: unknown, refuse: Refuse): Json {
  if (typeof candidate !== 'object' || candidate === null || Array.isArray(candidate)) return refuse(`it is no schema; ${way}.`);
  if (Object.values(candidate).some(isZod)) return refuse('it is an object of zod schemas; put it into z.object(…).');
  const problem = notJson(candidate);
  if (problem !== undefined) return refuse(`it is no JSON Schema (${problem}); ${way}.`);
  const { $schema: _, ...json } = JSON.parse(JSON.stringify(candidate)) as Record<string, Json>;
  if (!Object.keys(json).some((keyword) => keywords.has(keyword)))
    return refuse(`it has no keyword of a JSON Schema, such as "type" or "properties"; ${way}.`);
  return json;
}

const keywords = new Set(['type', 'properties', 'items', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']);

function guarded(check: ValueCheck): ValueCheck {
  return async (value) => {
    try {
      return await check(value);
    } catch (error) {
      return { ok: false, message: `the schema failed: ${messageOf(error)}` };
    }
  };
}

function called(make: () => unknown, refuse: Refuse): unknown {
  try {
    return make();
  } catch (error) {
    return refuse(`it cannot be made: ${messageOf(error)}`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
