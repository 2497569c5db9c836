import type { Json } from './messages/messages';

export type Effect = 'none' | 'idempotent' | 'once';
export type ToolKind = 'invokable' | 'streamable' | 'enhanced' | 'enhanced-streamable';
export type Language = 'en' | 'zh';

export interface ToolFacts {
  readonly kind: ToolKind;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  /** Attempts after a crash or timeout. For a `once` tool, only `reconcile` is repeated. */
  readonly attempts: number;
  readonly resultLimit: number;
  readonly schemaHash: string;
  /** The most worker calls while the tool throws, by the tool's `retry`. Absent: once. */
  readonly ownAttempts?: number;
  /** The most concurrent calls. Absent: unlimited, and the server makes a lost call `attempts` times. */
  readonly concurrency?: number;
  /** A run ends with the calls, for the caller to make. */
  readonly external?: true;
}

export interface ModelFacts {
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly attempts: number;
  readonly patienceMs: number;
}

/** A tool of an MCP server, as the server told it when the run was prepared. */
export interface McpTool {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: Json;
}

/** Recorded at the start of a run, as the only source for scheduling decisions, without default facts. */
export interface Manifest {
  readonly version: 1;
  readonly language: Language;
  readonly defaults: { readonly tool: ToolFacts; readonly model: ModelFacts };
  readonly tools: Readonly<Record<string, Partial<ToolFacts>>>;
  readonly models: Readonly<Record<string, string>>;
  readonly workerMiddleware: readonly string[];
  readonly outputs?: readonly string[];
  readonly policies?: Readonly<Record<string, readonly string[]>>;
  readonly schemas?: Readonly<Record<string, Json>>;
  /** Tools of MCP servers that the run may call. Absent: none. */
  readonly mcp?: Readonly<Record<string, McpTool>>;
}

export function toolFactsOf(manifest: Manifest, tool: string): ToolFacts {
  return { ...manifest.defaults.tool, ...manifest.tools[tool] };
}

export function mcpToolOf({ mcp }: Pick<Manifest, 'mcp'>, tool: string): McpTool | undefined {
  return mcp !== undefined && Object.hasOwn(mcp, tool) ? mcp[tool] : undefined;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
}

/** Tools that the model sees only after a search. */
export interface DeferredTools {
  readonly tools: readonly string[];
  readonly search: string;
}

export interface WorkerMiddlewareRef {
  readonly name: string;
  readonly options?: Json;
}

/** Names that the reachable agents use. */
export interface ManifestRequest {
  readonly tenant: string;
  readonly agent: string;
  readonly tools: readonly string[];
  readonly otherTools?: readonly string[];
  readonly models: readonly string[];
  readonly workerMiddleware: readonly string[];
  readonly outputs?: readonly string[];
  readonly policies?: readonly string[];
  /** Tools whose calls people decide. Absent: none. */
  readonly askedAbout?: readonly string[];
  /** Other keys of arguments, by tool; none may be a property of the schema. */
  readonly argumentAliases: Readonly<Record<string, readonly string[]>>;
  readonly aliasedArguments?: Readonly<Record<string, readonly string[]>>;
  readonly aliasesOfStart?: readonly string[];
  /** From the start of the run. */
  readonly mcp?: Readonly<Record<string, McpTool & Pick<ToolFacts, 'effect'>>>;
  readonly language?: Language;
}
