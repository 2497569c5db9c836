import type { Refuse } from '../check';
import { isRecord } from '../check';
import { messageOf } from '../errors';
import type { Json } from '../messages/messages';
import { shown } from '../shown';
import { misfitOfSchema } from './schema-fit';
import { jsonSchema } from './schema-form';

/** A schema that gives its JSON Schema by Standard Schema, such as a zod schema. */
export interface SelfTellingSchema<Value> {
  readonly '~standard': {
    readonly types?: { readonly input: Value } | undefined;
    readonly jsonSchema: { readonly input: (options: { target: 'draft-2020-12' }) => object };
  };
}

export interface JobJsonSchema {
  readonly [keyword: string]: Json | undefined;
  readonly '~standard'?: undefined;
}

export type JobSchema<Job> = SelfTellingSchema<Job> | JobJsonSchema;

/** Converts a schema once, so that later checks need only JSON. */
export function jsonSchemaOfJob(given: unknown, refuse: Refuse): Json {
  const told = toldSchema(given, refuse);
  const problem = jsonSchema.problem(told, 'inputSchema');
  if (problem !== undefined) return refuse(`${problem}.`);
  const { $schema: _, ...schema } = told as Readonly<Record<string, Json>>;
  return schema;
}

function toldSchema(given: unknown, refuse: Refuse): unknown {
  const standard = (given as { readonly '~standard'?: unknown } | null | undefined)?.['~standard'];
  if (standard === undefined) return given;
  const tell = isRecord(standard) && isRecord(standard['jsonSchema']) ? standard['jsonSchema']['input'] : undefined;
  if (typeof tell !== 'function')
    return refuse('inputSchema must be a JSON Schema, or a schema that tells its own, such as one of zod 4.2 or newer. This one does not.');
  try {
    return (tell as (options: object) => unknown)({ target: 'draft-2020-12' });
  } catch (error) {
    return refuse(`inputSchema must be a schema of JSON. This one cannot be told as a JSON Schema: ${messageOf(error)}`);
  }
}

/** `misfitOf` may give more details. */
export function problemOfJob(agent: string, schema: Json, job: Json, misfitOf = misfitOfSchema): string | undefined {
  const misfit = misfitOf(schema, job);
  return misfit === undefined ? undefined : `The input of agent "${agent}" does not fit its inputSchema: ${misfit}. It is ${shown(job)}.`;
}
