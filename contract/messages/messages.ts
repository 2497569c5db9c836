export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

export type Part =
  | { readonly type: 'text'; readonly text: string; readonly extra?: JsonObject }
  | { readonly type: 'reasoning'; readonly text: string; readonly extra?: JsonObject }
  /** `data`: base64, or the provider's address of the file. */
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string | { readonly url: string }; readonly extra?: JsonObject }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: Json; readonly extra?: JsonObject }
  | {
      readonly type: 'tool-result';
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
      /** The output is a list of texts and files for the model. */
      readonly multipart?: true;
      /** The output is a list of found tools. */
      readonly search?: true;
    }
  | ProviderPart;

/** Work of a provider's own tools and MCP servers, which Holdfast only stores and shows. */
export type ProviderPart = { readonly extra?: JsonObject } & (
  | { readonly type: 'server-tool-call'; readonly id: string; readonly name: string; readonly input: Json }
  | {
      readonly type: 'server-tool-result';
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
    }
  | {
      readonly type: 'mcp-tool-call';
      readonly server: string;
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      /** The request that approved this call. */
      readonly approvalRequestId?: string;
    }
  | {
      readonly type: 'mcp-tool-result';
      readonly server: string;
      readonly callId: string;
      readonly name: string;
      readonly output: Json;
      readonly isError?: boolean;
    }
  | { readonly type: 'mcp-tool-list'; readonly server: string; readonly tools: Json }
  | { readonly type: 'mcp-approval-request'; readonly server: string; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: 'mcp-approval-response'; readonly requestId: string; readonly approved: boolean; readonly reason?: string }
);

export interface Message {
  readonly id?: string;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly Part[];
  readonly extra?: JsonObject;
}

/** A message of a transcript. The content of an id never changes. */
export interface StoredMessage extends Message {
  readonly id: string;
  /** Cut off by a cancel: shown to readers, hidden from models. */
  readonly partial?: true;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Set where a policy may read the input. */
  readonly inputHash?: string;
  /** Options of the run for the tool. Absent: none. */
  readonly options?: JsonObject;
}

export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly toolChoice?: Json;
  readonly providerOptions?: Json;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

/**
 * Returns the text of a message, without files, reasoning and calls.
 * @example
 * const transcript = await run.transcript();
 * const texts = transcript.map(textOf);
 * console.log(texts.at(-1));
 */
export function textOf(message: Message): string {
  let text = '';
  for (const part of message.parts) if (part.type === 'text') text += part.text;
  return text;
}

export function textOfJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the tool calls of a message.
 * @example
 * const transcript = await run.transcript();
 * const calls = transcript.flatMap((message) => toolCallsOf(message));
 * console.log(calls.map(({ name, input }) => [name, input]));
 */
export function toolCallsOf(message: Message): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of message.parts) if (part.type === 'tool-call') calls.push({ id: part.id, name: part.name, input: part.input });
  return calls;
}

/** Kernel, worker and fold must build the same message of a tool result. */
export function toolMessage(
  id: string,
  call: { readonly id: string; readonly name: string },
  output: Json,
  how: { readonly isError?: boolean; readonly multipart?: boolean } = {},
): StoredMessage {
  return {
    id,
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId: call.id,
        name: call.name,
        output,
        ...(how.isError === true ? { isError: true } : {}),
        ...(how.multipart === true ? { multipart: true } : {}),
      },
    ],
  };
}

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'cancelled' | 'other';

/** Undefined: a prompt has to make the messages. */
export function messagesOfInput(input: Json): readonly StoredMessage[] | undefined {
  if (typeof input === 'string') return [{ id: inputId(0), role: 'user', parts: [{ type: 'text', text: input }] }];
  if (!Array.isArray(input) || input.length === 0 || !input.every(isMessage)) return undefined;
  return (input as readonly Message[]).map((message, position) => ({ ...message, id: inputId(position) }));
}

export function inputId(position: number): string {
  return `input.${position}`;
}

const roles = ['system', 'user', 'assistant', 'tool'];
export function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const { role, parts } = value as { role?: unknown; parts?: unknown };
  return roles.includes(role as string) && Array.isArray(parts) && parts.every(isPart);
}

/** Texts and files, the result of an enhanced tool. */
export function isPartList(value: unknown): value is readonly Part[] {
  return Array.isArray(value) && value.every((item) => isPart(item) && (item.type === 'text' || item.type === 'file'));
}

export function isPart(value: unknown): value is Part {
  if (typeof value !== 'object' || value === null) return false;
  const part = value as Record<string, unknown>;
  switch (part['type']) {
    case 'text':
    case 'reasoning':
      return typeof part['text'] === 'string';
    case 'file':
      return typeof part['mediaType'] === 'string' && part['data'] !== undefined;
    case 'tool-call':
      return typeof part['id'] === 'string' && typeof part['name'] === 'string' && part['input'] !== undefined;
    case 'tool-result':
      return typeof part['callId'] === 'string' && typeof part['name'] === 'string' && part['output'] !== undefined;
    default:
      return isProviderPart(value);
  }
}

/** Required texts, and required values. */
const providerFields: Readonly<Record<ProviderPart['type'], readonly [texts: readonly string[], values: readonly string[]]>> = {
  'server-tool-call': [['id', 'name'], ['input']],
  'server-tool-result': [['callId', 'name'], ['output']],
  'mcp-tool-call': [['server', 'id', 'name'], ['input']],
  'mcp-tool-result': [['server', 'callId', 'name'], ['output']],
  'mcp-tool-list': [['server'], ['tools']],
  'mcp-approval-request': [['server', 'id', 'name'], ['input']],
  'mcp-approval-response': [['requestId'], ['approved']],
};

export function isProviderPart(value: object): value is ProviderPart {
  const part = value as Readonly<Record<string, unknown>>;
  const { type } = part;
  if (typeof type !== 'string' || !Object.hasOwn(providerFields, type)) return false;
  const [texts, values] = providerFields[type as ProviderPart['type']];
  return texts.every((field) => typeof part[field] === 'string') && values.every((field) => part[field] !== undefined);
}

/** JSON with sorted keys, for hashes and comparisons. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    const keys = Object.keys(record)
      .filter((key) => record[key] !== undefined)
      .sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

const deepest = 1000;

/** The path to the first value that JSON, or a copy, would lose. */
export function notJson(value: unknown, path = '', depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path || 'the value'} is ${value}`;
  if (typeof value !== 'object') return `${path || 'the value'} is a ${typeof value}`;
  if (depth > deepest) return `${path.slice(0, 60)}… contains itself or is more than ${deepest} levels deep`;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = notJson(value[index], `${path}[${index}]`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const kind = Object.prototype.toString.call(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (
    kind !== '[object Object]' ||
    (prototype !== null && (prototype as { constructor?: { name?: string } }).constructor?.name !== 'Object')
  ) {
    return `${path || 'the value'} is a ${(prototype as { constructor?: { name?: string } } | null)?.constructor?.name ?? kind}`;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return `${path || 'the value'} has the key "__proto__", which no object here can keep`;
    if (item === undefined) continue;
    const found = notJson(item, path === '' ? key : `${path}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
