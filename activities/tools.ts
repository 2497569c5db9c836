import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseDuration } from '../contract/plain/duration';
import { HoldfastError } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import type { Effect, ToolFacts } from '../contract/plain/manifest';
import type { Json } from '../contract/plain/messages';
import { isName } from '../contract/plain/names';
import { canonicalJson } from '../contract/plain/messages';

type MaybePromise<T> = T | Promise<T>;

export interface ToolCallContext {
  readonly callId: string;
  /** The same for every execution of this call, also after crashes; unique in the workflow. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Present when the tool is entered again after its interrupt was answered. */
  readonly resumed?: { readonly answer: unknown; readonly state: Json | undefined };
  /** Asks a human. Ends this execution; the tool is entered again with `resumed`. */
  interrupt(info: Json, options?: { state?: Json; answerSchema?: z.ZodType; deadline?: string }): never;
}

export type Reconciled<Output> = { readonly happened: true; readonly result: Output } | { readonly happened: false } | 'unknown';

export interface Tool<Input = never, Output = unknown> {
  readonly description: string;
  readonly inputSchema: z.ZodType<Input>;
  /** `none` and `idempotent` calls are made again after a crash; `once` calls never, without asking `reconcile` or a human. */
  readonly effect?: Effect;
  /** How long one execution may take. Default 60s. */
  readonly timeout?: string;
  /** How soon a dead worker is noticed. Default 10s. */
  readonly heartbeat?: string;
  /** How often a call that throws is made in all. Default 1. */
  readonly retry?: { readonly attempts: number };
  /** Bytes that a result may have. Default 256 KB, at most 1 MB. */
  readonly resultLimit?: number;
  readonly reconcile?: (input: Input, call: ToolCallContext) => MaybePromise<Reconciled<Output>>;
  execute(input: Input, call: ToolCallContext): MaybePromise<Output>;
}

export function defineTool<Input, Output>(tool: Tool<Input, Output>): Tool<Input, Output> {
  return tool;
}

/** Thrown by `call.interrupt`. It is no error: code that catches errors should let it pass. */
export class ToolInterrupt extends Error {
  constructor(
    readonly info: Json,
    readonly options: { state?: Json; answerSchema?: z.ZodType; deadline?: string } = {},
  ) {
    super('The tool asks a human.');
    this.name = 'ToolInterrupt';
  }
}

/** What a model is told of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
}

export type ParsedInput =
  | { readonly ok: true; readonly value: unknown; readonly json: Json; readonly hash: string }
  | { readonly ok: false; readonly message: string };

interface Entry {
  readonly tool: Tool<unknown, unknown>;
  readonly spec: ToolSpec;
  readonly facts: ToolFacts;
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

/** The tools of a worker, checked once when it starts. */
export class ToolRegistry {
  private readonly entries = new Map<string, Entry>();

  constructor(tools: Readonly<Record<string, unknown>>, defaults: Partial<ToolFacts> = {}) {
    for (const [name, tool] of Object.entries(tools)) this.entries.set(name, entryOf(name, tool, { ...defaultToolFacts, ...defaults }));
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  find(name: string): Tool<unknown, unknown> | undefined {
    return this.entries.get(name)?.tool;
  }

  factsOf(name: string): ToolFacts | undefined {
    return this.entries.get(name)?.facts;
  }

  specOf(name: string): ToolSpec | undefined {
    return this.entries.get(name)?.spec;
  }

  /** Keys of a tool's arguments, for the check of aliases. */
  propertiesOf(name: string): readonly string[] {
    const properties = (this.entries.get(name)?.spec.inputSchema as { properties?: object } | undefined)?.properties;
    return properties === undefined ? [] : Object.keys(properties);
  }

  /** Parses arguments: what comes out is what policy, human and tool see. */
  async parse(name: string, input: Json): Promise<ParsedInput> {
    const entry = this.entries.get(name);
    if (entry === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${name}".`);
    const parsed = await entry.tool.inputSchema.safeParseAsync(input);
    if (!parsed.success) {
      const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`).join('; ');
      return { ok: false, message: `The arguments of '${name}' do not fit: ${issues}.` };
    }
    const json = (JSON.parse(JSON.stringify(parsed.data ?? null)) ?? null) as Json;
    return { ok: true, value: parsed.data, json, hash: hashOf(json) };
  }
}

export function hashOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32);
}

function entryOf(name: string, candidate: unknown, defaults: ToolFacts): Entry {
  const refuse = (problem: string): never => {
    throw new HoldfastError('config-invalid', `Tool "${name}": ${problem}`);
  };
  if (!isName(name)) refuse('a name is 1 to 64 letters, digits, _ or -, starting with a letter.');
  const tool = candidate as Tool<unknown, unknown>;
  if (typeof tool !== 'object' || tool === null || typeof tool.execute !== 'function') refuse('it has no execute function.');
  if (typeof (tool.inputSchema as { safeParseAsync?: unknown } | undefined)?.safeParseAsync !== 'function')
    refuse('inputSchema is no zod schema.');
  const effect = tool.effect ?? defaults.effect;
  if (!['none', 'idempotent', 'once'].includes(effect)) refuse(`effect "${effect}" is unknown; use none, idempotent or once.`);
  if (tool.reconcile !== undefined && effect !== 'once') refuse('reconcile is for tools with effect "once".');
  const resultLimit = tool.resultLimit ?? defaults.resultLimit;
  if (resultLimit < 1 || resultLimit > limits.payload) refuse(`resultLimit is between 1 and ${limits.payload} bytes.`);
  const retries = tool.retry?.attempts ?? 1;
  if (!Number.isInteger(retries) || retries < 1) refuse('retry.attempts is a whole number of at least 1.');
  const inputSchema = jsonSchemaOf(tool.inputSchema, refuse);
  return {
    tool,
    spec: { name, description: tool.description ?? '', inputSchema },
    facts: {
      kind: 'invokable',
      effect,
      timeoutMs: duration(tool.timeout, defaults.timeoutMs, refuse),
      heartbeatMs: duration(tool.heartbeat, defaults.heartbeatMs, refuse),
      attempts: effect === 'once' ? 1 : Math.max(defaults.attempts, retries),
      resultLimit,
      schemaHash: hashOf(inputSchema).slice(0, 8),
    },
  };
}

function jsonSchemaOf(schema: z.ZodType, refuse: (problem: string) => never): Json {
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return rest as Json;
  } catch (error) {
    return refuse(`inputSchema cannot be told to a model: ${(error as Error).message}`);
  }
}

function duration(text: string | undefined, fallback: number, refuse: (problem: string) => never): number {
  if (text === undefined) return fallback;
  const parsed = parseDuration(text);
  return parsed === undefined || parsed <= 0 ? refuse(`"${text}" is no duration; write for example "30s".`) : parsed;
}
