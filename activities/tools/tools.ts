import {
  anything,
  bound,
  duration,
  flag,
  func,
  numberIn,
  oneOf,
  problemOfKnown,
  refusing,
  required,
  sentence,
  shape,
  text,
} from '../../contract/check';
import type { Forms, Refuse } from '../../contract/check';
import { createHash } from 'node:crypto';
import { parseDuration } from '../../contract/duration';
import { HoldfastError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { ToolFacts, ToolKind, ToolSpec } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import { misfitOfArguments } from '../../contract/misfit-of-arguments';
import { canonicalJson, notJson } from '../../contract/messages/messages';
import { nameProblem } from '../../contract/names';
import { similarNames } from '../../contract/similar-names';
import type { ToolBasics, ToolCallContext } from './define-tool';
import type { ModelOutputInput } from './model-output';
import type { SchemaReader } from '../schemas/schema';
import { foreignSchema } from '../schemas/foreign-schema';
import { readSchema } from '../schemas/schema';

type ParsedInput =
  | { readonly ok: true; readonly value: unknown; readonly json: Json; readonly hash: string }
  | { readonly ok: false; readonly message: string };

export interface AnyTool extends Pick<ToolBasics<unknown, unknown>, 'effect' | 'retry' | 'reconcile'> {
  readonly enhanced?: boolean;
  readonly external?: boolean;
  execute?(input: unknown, call: ToolCallContext): unknown;
  stream?(input: unknown, call: ToolCallContext): unknown;
  /** Returns the parts that the model sees, for an AI SDK tool. */
  toModelOutput?(result: ModelOutputInput): unknown;
}

interface ToolEntry {
  readonly tool: AnyTool;
  readonly description: string;
  readonly schema: SchemaReader;
  readonly facts: Omit<ToolFacts, 'schemaHash'>;
  told?: { readonly spec: ToolSpec; readonly facts: ToolFacts };
}

export const defaultToolFacts: ToolFacts = {
  kind: 'invokable',
  effect: 'none',
  timeoutMs: 60_000,
  heartbeatMs: 10_000,
  attempts: 5,
  resultLimit: limits.toolResult,
  schemaHash: '',
};

export class ToolRegistry {
  private readonly entries = new Map<string, ToolEntry>();

  constructor(tools: Readonly<Record<string, unknown>>, defaults: Partial<ToolFacts> = {}) {
    for (const [name, tool] of Object.entries(tools)) this.entries.set(name, entryOf(name, tool, { ...defaultToolFacts, ...defaults }));
  }

  /** Waits for asynchronous schemas, and throws for a wrong schema. */
  async ready(): Promise<void> {
    for (const { schema } of this.entries.values()) await schema.ready;
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  find(name: string): AnyTool | undefined {
    return this.entries.get(name)?.tool;
  }

  factsOf(name: string): ToolFacts | undefined {
    return this.told(name)?.facts;
  }

  specOf(name: string): ToolSpec | undefined {
    return this.told(name)?.spec;
  }

  propertiesOf(name: string): readonly string[] {
    const properties = (this.specOf(name)?.inputSchema as { properties?: object } | undefined)?.properties;
    return properties === undefined ? [] : Object.keys(properties);
  }

  /** Policy, human and tool see the parsed arguments. */
  async parse(name: string, input: Json): Promise<ParsedInput> {
    const entry = this.entries.get(name);
    if (entry === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${name}".`);
    return parsedBy(name, entry.schema, input);
  }

  /** Other tools win. */
  with(others: ToolRegistry): ToolRegistry {
    const both = new ToolRegistry({});
    for (const [name, entry] of [...this.entries, ...others.entries]) both.entries.set(name, entry);
    return both;
  }

  private told(name: string): ToolEntry['told'] {
    const entry = this.entries.get(name);
    if (entry === undefined) return undefined;
    const { schema, description, facts } = entry;
    entry.told ??= {
      spec: { name, description, inputSchema: schema.json },
      facts: { ...facts, schemaHash: hashOf(schema.json).slice(0, 8) },
    };
    return entry.told;
  }
}

async function parsedBy(name: string, schema: SchemaReader, input: Json): Promise<ParsedInput> {
  const parsed = await schema.parse(input);
  if (!parsed.ok) return { ok: false, message: misfitOfArguments(name, input, parsed.message, messageOf) };
  const { value } = parsed;
  // Values outside JSON (a set, a bigint, Infinity) would all look the same, so people and policies see, and the hash covers, the given
  // arguments.
  const json = notJson(value ?? null) === undefined ? (JSON.parse(JSON.stringify(value ?? null)) as Json) : input;
  return { ok: true, value, json, hash: hashOf(json) };
}

/** By a schema that the run brings, for a tool of an MCP server. */
export function parsedAs(name: string, schema: Json, input: Json): Promise<ParsedInput> {
  return parsedBy(name, readSchema(foreignSchema(schema), 'input', refusing(`Tool "${name}"`, 'tool-input-invalid')), input);
}

export function hashOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32);
}

const fieldsOfOthers: ReadonlySet<string> = new Set(['outputSchema', 'inputExamples', 'strict', 'title', 'type', 'name', 'id', 'args']);

const forms: Forms = {
  description: text,
  inputSchema: anything,
  execute: func,
  stream: func,
  reconcile: func,
  retry: shape({ attempts: required(bound) }),
  timeout: duration,
  heartbeat: duration,
  concurrency: bound,
  enhanced: flag,
  toModelOutput: func,
  external: flag,
  effect: oneOf('none', 'idempotent', 'once'),
  resultLimit: numberIn(1, limits.payload),
};

function entryOf(name: string, candidate: unknown, defaults: ToolFacts): ToolEntry {
  const refuse = refusing(`Tool "${name}"`, 'config-invalid');
  const misnamed = nameProblem(name);
  if (misnamed !== undefined) refuse(`${misnamed}.`);
  if (typeof candidate !== 'object' || candidate === null) refuse('it is no tool; make it with defineTool.');
  checkForeign(candidate as Record<string, unknown>, refuse);
  const problem = misspelt(candidate as object) ?? problemOfKnown(candidate as object, forms, (field) => field);
  if (problem !== undefined) refuse(sentence(problem));
  const given = candidate as Partial<ToolBasics<unknown, unknown>> & AnyTool;
  const tool = given.toModelOutput === undefined ? given : { ...given, enhanced: true };
  const external = isExternal(candidate as Record<string, unknown>, refuse);
  const kind = external ? 'invokable' : kindOf(tool, refuse);
  const effect = tool.effect ?? defaults.effect;
  if (tool.reconcile !== undefined && effect !== 'once') refuse('reconcile is for tools with effect "once".');
  const resultLimit = tool.resultLimit ?? defaults.resultLimit;
  const retries = tool.retry?.attempts ?? 1;
  const concurrency = tool.concurrency ?? defaults.concurrency;
  const timeoutMs = milliseconds(tool.timeout, defaults.timeoutMs);
  return {
    tool,
    description: tool.description ?? '',
    schema: readSchema(tool.inputSchema, 'input', (problem) => refuse(`inputSchema: ${problem}`)),
    facts: {
      kind,
      effect,
      timeoutMs,
      heartbeatMs: milliseconds(tool.heartbeat, defaults.heartbeatMs),
      attempts: Math.max(defaults.attempts, retries),
      resultLimit,
      ...(retries > 1 && effect !== 'once' ? { ownAttempts: retries } : {}),
      ...(concurrency === undefined || external ? {} : { concurrency }),
      ...(external ? { external } : {}),
    },
  };
}

/** Foreign tools may have own fields, but a nearly known field is a typo. */
function misspelt(tool: object): string | undefined {
  const known = Object.keys(forms);
  for (const field of Object.keys(tool)) {
    if (known.includes(field) || fieldsOfOthers.has(field)) continue;
    const [meant] = similarNames(field, known);
    if (meant !== undefined) return `there is no field "${field}"; did you mean ${meant}?`;
  }
  return undefined;
}

function kindOf({ execute, stream, enhanced }: AnyTool, refuse: Refuse): ToolKind {
  if (execute === undefined && stream === undefined)
    return refuse(
      'it has no execute function, and no stream. With `external: true` the caller of a run makes its calls; tools that a provider runs are not taken.',
    );
  if (enhanced === true) return stream === undefined ? 'enhanced' : 'enhanced-streamable';
  return stream === undefined ? 'invokable' : 'streamable';
}

function isExternal(tool: Record<string, unknown>, refuse: Refuse): boolean {
  const { external = false } = tool;
  const ofOwnTools = Object.keys(forms).filter((field) => !['description', 'inputSchema', 'external'].includes(field));
  const wrong = external === true ? ofOwnTools.find((field) => tool[field] !== undefined) : undefined;
  if (wrong !== undefined) refuse(`${wrong} is for tools that a worker runs; an external one has a description and an inputSchema.`);
  return external === true;
}

function checkForeign(tool: Record<string, unknown>, refuse: Refuse): void {
  if (tool['type'] === 'provider' || tool['type'] === 'provider-defined')
    refuse('it is run by a model provider, not by a worker. Only tools with an execute function of their own are taken.');
  if (tool['needsApproval'] !== undefined && tool['needsApproval'] !== false)
    refuse('needsApproval is not read here, and nobody would be asked. Put approval({ tools: { … } }) into the middleware of the agent.');
}

function milliseconds(given: string | undefined, fallback: number): number {
  return given === undefined ? fallback : (parseDuration(given) ?? fallback);
}

export { ToolInterrupt, defineTool } from './define-tool';
