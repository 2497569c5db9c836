import { refusing } from '../../contract/check';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { nameProblem } from '../../contract/names';
import type { ParseOutputResult } from '../../contract/record/wire';
import { jsonValuesIn } from './json-values';
import type { Parsed, SchemaReader } from './schema';
import { readSchema } from './schema';

export class OutputRegistry {
  private readonly schemas = new Map<string, SchemaReader>();

  constructor(outputs: Readonly<Record<string, unknown>>) {
    for (const [name, schema] of Object.entries(outputs)) {
      const refuse = refusing(`Output "${name}"`, 'config-invalid');
      const problem = nameProblem(name);
      if (problem !== undefined) refuse(`${problem}.`);
      this.schemas.set(name, readSchema(schema, 'answer', refuse));
    }
  }

  async ready(): Promise<void> {
    for (const { ready } of this.schemas.values()) await ready;
  }

  get names(): readonly string[] {
    return [...this.schemas.keys()];
  }

  /** Undefined: the answer is a text, without JSON. */
  specOf(name: string): { readonly name: string; readonly schema: Json } | undefined {
    const { json } = this.find(name);
    return isText(json) ? undefined : { name, schema: json };
  }

  /** The first JSON value that fits counts. The message is about the most likely value. */
  async parse(name: string, text: string): Promise<ParseOutputResult> {
    const schema = this.find(name);
    let problem: string | undefined;
    for (const candidate of candidatesOf(text, schema.json)) {
      const parsed = await schema.parse(candidate);
      if (parsed.ok) return checked(name, parsed);
      problem ??= parsed.message;
    }
    return { ok: false, message: problem === undefined ? 'there is no JSON in it.' : `${problem}.` };
  }

  private find(name: string): SchemaReader {
    const schema = this.schemas.get(name);
    if (schema === undefined)
      throw new HoldfastError('output-unknown', `This worker has no output "${name}". It has: ${this.names.join(', ') || 'none'}.`);
    return schema;
  }
}

function* candidatesOf(text: string, schema: Json): Generator<unknown> {
  if (isText(schema)) {
    yield text;
    yield text.trim();
  }
  yield* jsonValuesIn(text);
}

function isText(schema: Json): boolean {
  return (schema as { type?: unknown }).type === 'string';
}

function checked(name: string, { value }: Parsed & { readonly ok: true }): ParseOutputResult {
  const output = value === undefined ? null : value;
  const problem = notJson(output);
  if (problem !== undefined)
    throw new HoldfastError('output-invalid', `The schema "${name}" makes something of the answer that is not JSON: ${problem}.`);
  const bytes = jsonSize(output);
  if (bytes > limits.payload)
    throw new HoldfastError('payload-too-large', `The output "${name}" has ${bytes} bytes; at most ${limits.payload} are allowed.`);
  return { ok: true, value: output as Json };
}
